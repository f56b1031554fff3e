//! The kernel's log, and the console when the kernel takes none.

use core::ffi::CStr;
use core::time::Duration;

use rustix::event::{PollFd, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use super::{Result, reason};

/// Where messages go. Never blocks on a reader.
pub struct Sink {
    kmsg: Kmsg,
}

/// The kernel's log, as a place to write to.
enum Kmsg {
    /// There is none (yet).
    Absent,
    /// There is one, and nothing was written: opening it costs more than a
    /// message, and a good boot may have none before the host runs.
    Unopened(&'static CStr),
    /// It is open.
    Open(OwnedFd),
}

impl Sink {
    /// A sink that can only reach standard error so far.
    pub const fn new() -> Self {
        Self { kmsg: Kmsg::Absent }
    }

    /// Writes to the kernel's log from now on, if it can be opened when there is
    /// something to write.
    pub fn use_kmsg(&mut self, path: &'static CStr) {
        self.kmsg = Kmsg::Unopened(path);
    }

    /// Writes one record, `<level>text`, to the kernel's log; the text alone, as
    /// a line, to standard error or the console when the kernel's log takes
    /// nothing. What nothing takes is lost.
    pub fn write(&mut self, record: &[u8]) {
        if let Kmsg::Unopened(path) = self.kmsg {
            let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
            self.kmsg = match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(fd) => Kmsg::Open(fd),
                Err(_) => Kmsg::Absent,
            };
        }
        if let Kmsg::Open(kmsg) = &self.kmsg
            // Without its end a record stays open for a continuation, and nobody
            // can read it before the next one.
            && write_line(kmsg.as_fd(), record).is_ok()
        {
            return;
        }
        let start = record.iter().position(|byte| *byte == b'>');
        let text = record
            .get(start.map_or(0, |at| at + 1)..)
            .unwrap_or_default();
        if write_stderr(text).is_err() {
            write_console(text);
        }
    }
}

impl Default for Sink {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a line to standard error and waits for nobody: room for a byte, which
/// is all that `poll(2)` tells of, is not room for a line.
///
/// By a descriptor of its own, since the mode of the one that was given is also
/// that of everybody else who has it: of a container the host.
fn write_stderr(text: &[u8]) -> Result<()> {
    // SAFETY: `stdio::repair` made it valid before the first message, and
    // nothing closes it.
    let given = unsafe { BorrowedFd::borrow_raw(2) };
    let kind = rustix::fs::fstat(given).map_err(reason)?.st_mode;
    match FileType::from_raw_mode(kind) {
        // It has no reader to wait for, and one place to write at for all who have it.
        FileType::RegularFile => return write_line(given, text),
        FileType::Socket => {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let nothing = &mut SendAncillaryBuffer::default();
            let sent = sendmsg(given, &line(text), nothing, flags);
            return sent.map(drop).map_err(reason);
        }
        _ => {}
    }
    let flags = NOT_WAITING | OFlags::APPEND;
    if let Ok(own) = rustix::fs::open(c"/proc/self/fd/2", flags, Mode::empty()) {
        return write_line(own.as_fd(), text);
    }
    // No /proc, or no right: the mode changes for this one write.
    let mode = rustix::fs::fcntl_getfl(given).map_err(reason)?;
    rustix::fs::fcntl_setfl(given, mode | OFlags::NONBLOCK).map_err(reason)?;
    let result = write_line(given, text);
    let _ = rustix::fs::fcntl_setfl(given, mode);
    result
}

/// Writes to the console by a descriptor of its own, opened for this one write;
/// a console that takes nothing gets nothing.
fn write_console(text: &[u8]) {
    if let Ok(console) = rustix::fs::open(c"/dev/console", NOT_WAITING, Mode::empty()) {
        let _ = write_line(console.as_fd(), text);
    }
}

/// How a place for one line is opened.
const NOT_WAITING: OFlags = OFlags::WRONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY)
    .union(OFlags::NONBLOCK);

fn write_line(fd: BorrowedFd<'_>, text: &[u8]) -> Result<()> {
    rustix::io::writev(fd, &line(text))
        .map(drop)
        .map_err(reason)
}

fn line(text: &[u8]) -> [IoSlice<'_>; 2] {
    [IoSlice::new(text), IoSlice::new(b"\n")]
}

/// Waits at most `duration` with nothing to wait for: only for a process that
/// has nothing else left to do.
pub fn pause(duration: Duration) {
    let time = Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    };
    let mut nothing: [PollFd<'_>; 0] = [];
    let _ = rustix::event::poll(&mut nothing, Some(&time));
}
