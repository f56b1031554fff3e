//! Asks the init to power off, and tells when.

use linux_raw_sys::general::SIGUSR2;

use crate::clock::Clock;
use crate::{kernel, text};

/// Between the last line on the console and the request.
const LAST_TICKS: u64 = 100_000_000;

/// Asks, and stays until it is over.
pub fn ask() -> ! {
    let clock = Clock::new();
    let moment = kernel::ticks() + LAST_TICKS;
    text::tell("stop-asked", clock.log_time(moment));
    // The moment is written down before it comes: nothing is between it and the
    // request.
    while kernel::ticks() < moment {}
    kernel::kill(1, SIGUSR2);
    loop {
        kernel::sleep(i64::MAX);
    }
}
