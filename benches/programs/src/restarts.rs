//! How long an init takes to start its host again.

use core::ffi::CStr;

use linux_raw_sys::general::{O_CREAT, O_RDWR};

use crate::clock::Clock;
use crate::{kernel, stop, text};

/// Where one life of the host leaves word for the next.
const STATE: &CStr = c"/run/bench-restarts";

/// Restarts that are measured.
const RESTARTS: usize = 100;

/// How long each life is: longer than an init waits before it dares to start
/// a program again, and long enough for it to have nothing left to do.
const LIFE_NANOS: i64 = 30_000_000;

/// Between the last word to the next life and the end of this one.
const LAST_TICKS: u64 = 300_000;

/// What a life tells the next.
#[derive(Clone, Copy)]
struct State {
    /// Restarts so far.
    count: u64,
    /// Sum of what they took.
    sum: u64,
    /// The shortest and the longest.
    least: u64,
    most: u64,
    /// When this life ends.
    end: u64,
}

/// One life: notes when it began, and ends.
pub fn run(start: u64) -> ! {
    let mut bytes = [0; 40];
    let mut state = State::from_bytes(text::read_file(STATE, &mut bytes));
    if state.end != 0 {
        let took = start.saturating_sub(state.end);
        state.count += 1;
        state.sum += took;
        state.least = state.least.min(took);
        state.most = state.most.max(took);
    } else {
        state.least = u64::MAX;
        text::tell("exec-to-host", Clock::new().since_start(start));
    }
    if state.count == RESTARTS as u64 {
        text::tell("restart-mean", (state.sum / state.count).cast_signed());
        text::tell("restart-least", state.least.cast_signed());
        text::tell("restart-most", state.most.cast_signed());
        stop::ask();
    }
    kernel::sleep(LIFE_NANOS);
    // The moment is written down before it comes: nothing is between it and the
    // end of the process.
    state.end = kernel::ticks() + LAST_TICKS;
    let file = kernel::open(STATE, O_RDWR | O_CREAT);
    kernel::write(file, &state.to_bytes());
    kernel::close(file);
    while kernel::ticks() < state.end {}
    kernel::exit(0)
}

impl State {
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = bytes
            .chunks_exact(8)
            .map(|chunk| chunk.try_into().map_or(0, u64::from_le_bytes));
        let mut next = || words.next().unwrap_or(0);
        Self {
            count: next(),
            sum: next(),
            least: next(),
            most: next(),
            end: next(),
        }
    }

    fn to_bytes(self) -> [u8; 40] {
        let words = [self.count, self.sum, self.least, self.most, self.end];
        let mut bytes = [0; 40];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}
