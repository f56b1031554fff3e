//! The clocks: the monotonic one, and the one on the wall.

use linux_raw_sys::general as raw;

use super::arch::syscall;
use crate::base::time::Instant;

/// The moment it is now. Never fails: the clock is always there.
///
/// A plain system call rather than the vDSO, whose parser would be a tenth of
/// the program; PID 1 asks a few times an event.
pub fn now() -> Instant {
    let (seconds, nanos) = get(raw::CLOCK_MONOTONIC);
    Instant::from_nanos(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

/// The time of day, in seconds since 1970. It may jump, and be wrong.
pub fn wall() -> u64 {
    get(raw::CLOCK_REALTIME).0
}

/// Seconds and nanoseconds of a clock.
fn get(clock: u32) -> (u64, u64) {
    let mut time = raw::__kernel_timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let words = [clock as usize, (&raw mut time).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes one timespec, which `time` is.
    let _ = unsafe { syscall(raw::__NR_clock_gettime, words) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    (seconds, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back() {
        let first = now();
        let second = now();

        assert!(first > Instant::BOOT);
        assert!(second >= first);
    }
}
