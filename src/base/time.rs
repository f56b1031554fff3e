//! A moment on the monotonic clock, and how far apart two moments are.
//!
//! The wall clock decides nothing here: a machine without a battery starts in
//! 1970 and jumps. Durations are [`core::time::Duration`]s.

use core::time::Duration;

/// A moment, in nanoseconds of `CLOCK_MONOTONIC` (`clock_gettime(2)`).
///
/// The clock stands still while the machine sleeps, so that a deadline does not
/// pass in a suspended laptop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Instant(u64);

impl Instant {
    /// The moment the clock started: the boot of the kernel.
    pub const BOOT: Self = Self(0);

    /// The moment this many nanoseconds after the boot of the kernel.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the boot of the kernel.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The moment `duration` later. A moment past the end of the clock (584
    /// years) is the end of the clock.
    pub const fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The duration in nanoseconds, cut off at 584 years.
const fn nanos(duration: Duration) -> u64 {
    duration
        .as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(widen(duration.subsec_nanos()))
}

/// `u64::from` is not a const fn.
#[expect(clippy::as_conversions, reason = "a u32 always fits")]
const fn widen(value: u32) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_never_wraps() {
        let late = Instant::from_nanos(u64::MAX - 1);

        assert_eq!(late.after(Duration::MAX).as_nanos(), u64::MAX);
        assert_eq!(Instant::BOOT.since(late), Duration::ZERO);
    }

    #[test]
    fn a_duration_comes_back_as_it_went_in() {
        let start = Instant::from_nanos(7);

        let end = start.after(Duration::from_millis(1_500));

        assert_eq!(end.as_nanos(), 1_500_000_007);
        assert_eq!(end.since(start), Duration::from_millis(1_500));
    }
}
