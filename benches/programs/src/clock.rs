//! The processor's counter and the clock of the kernel's log, as one time.

use core::ffi::CStr;

use linux_raw_sys::general::{O_NONBLOCK, O_RDWR};

use crate::{kernel, text};

const KMSG: &CStr = c"/dev/kmsg";

/// A record that the kernel writes just before it starts the first process.
const START: &[u8] = b"as init process";

/// Our own records, by which the clocks are compared.
const OURS: &[u8] = b"<7>bench: which time is it\n";
const MARK: &[u8] = b"bench: which time";

/// How often the clocks are compared. Each comparison narrows the difference
/// down within the microsecond that the log's times are rounded to. The kernel
/// drops what is beyond ten lines in five seconds, unless an init told it not to.
const COMPARISONS: usize = 10;

/// The difference between the two clocks.
#[derive(Debug)]
pub struct Clock {
    /// What is added to the counter to make it a time of the log, in nanoseconds.
    offset: i64,
    /// When the kernel started the first process, on the log's clock.
    start: i64,
}

impl Clock {
    /// Compares the clocks, and finds the start of the first process in the log.
    pub fn new() -> Self {
        let log = kernel::open(KMSG, O_RDWR | O_NONBLOCK);
        let mut clock = Self {
            offset: i64::MIN,
            start: 0,
        };
        // All that is there, so that what follows is our own.
        each_record(log, |record| {
            if text::behind(record, START).is_some() {
                // Rounded down by half a microsecond on average.
                clock.start = time(record) + 500;
            }
        });
        let mut counted = [0; COMPARISONS];
        for place in &mut counted {
            *place = kernel::ticks();
            kernel::write(log, OURS);
        }
        let mut counted = counted.into_iter();
        each_record(log, |record| {
            if text::behind(record, MARK).is_some()
                && let Some(counted) = counted.next()
            {
                let offset = time(record) - counted.cast_signed();
                clock.offset = clock.offset.max(offset);
            }
        });
        kernel::close(log);
        clock
    }

    /// How long after the start of the first process the counter was at `ticks`.
    pub fn since_start(&self, ticks: u64) -> i64 {
        self.log_time(ticks) - self.start
    }

    /// The log's time, in nanoseconds, when the counter is at `ticks`.
    pub fn log_time(&self, ticks: u64) -> i64 {
        ticks.cast_signed() + self.offset
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads the records that were not read yet.
fn each_record(log: isize, mut each: impl FnMut(&[u8])) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = usize::try_from(kernel::read(log, &mut buffer)) {
        each(buffer.get(..length).unwrap_or_default());
    }
}

/// The time of a record, `level,number,microseconds,…`, in nanoseconds.
fn time(record: &[u8]) -> i64 {
    let mut fields = record.split(|byte| *byte == b',');
    text::number(fields.nth(2).unwrap_or_default()) * 1000
}
