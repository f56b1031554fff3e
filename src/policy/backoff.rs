//! How long until a service that ended is started again.

use core::time::Duration;

use crate::base::exit::Exit;
use crate::base::limits;

/// The rule, from the config.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// The wait after the second failure in a row; it doubles from there.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// An uptime that shows that the service works: failures before it are
    /// forgotten.
    pub reset: Duration,
}

/// Failures in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Failures(u32);

impl Failures {
    /// Counts an end after `uptime`; how long to wait before the next start.
    ///
    /// The first failure costs no wait: most are single. A clean end is no
    /// failure, but it can't come more often than once in the rule's first wait,
    /// so that a program that has nothing to do does not take a processor.
    ///
    /// A start that failed is never tried again at once, whatever the rule says:
    /// with no process there is no end to wait for, and nothing else would ever
    /// be heard.
    pub fn count(&mut self, rule: &Backoff, exit: Exit, uptime: Duration) -> Duration {
        if uptime >= rule.reset {
            self.0 = 0;
        }
        if exit.is_clean() {
            return rule.first.saturating_sub(uptime);
        }
        self.0 = self.0.saturating_add(1);
        let wait = self.wait(rule);
        match exit {
            Exit::Unstarted(_) => wait.max(limits::START_FLOOR),
            Exit::Code(_) | Exit::Signal { .. } | Exit::Unknown => wait,
        }
    }

    /// How long the rule says to wait after this many failures.
    fn wait(self, rule: &Backoff) -> Duration {
        let Some(doublings) = self.0.checked_sub(2) else {
            return Duration::ZERO;
        };
        // Saturating, so that no wait doubles to no wait for ever.
        rule.first
            .saturating_mul(2_u32.saturating_pow(doublings))
            .min(rule.longest)
    }

    /// So many.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// How many there are.
    pub const fn number(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::errno::Errno;
    use crate::base::exit::{Failure, Step};

    const RULE: Backoff = Backoff {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(60),
        reset: Duration::from_secs(100),
    };

    fn seconds(failures: &mut Failures, uptime: u64) -> u64 {
        failures
            .count(&RULE, Exit::Code(1), Duration::from_secs(uptime))
            .as_secs()
    }

    #[test]
    fn the_wait_doubles_from_the_second_failure_up_to_the_longest() {
        let mut failures = Failures::default();

        let waits: Vec<u64> = (0..9).map(|_| seconds(&mut failures, 0)).collect();

        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn a_long_uptime_forgets_the_failures_before_it() {
        let mut failures = Failures::default();
        for _ in 0..5 {
            seconds(&mut failures, 0);
        }

        assert_eq!(seconds(&mut failures, 99), 16);
        assert_eq!(seconds(&mut failures, 100), 0);
        assert_eq!(seconds(&mut failures, 0), 1);
    }

    #[test]
    fn a_clean_end_is_no_failure_and_is_slowed_to_one_a_wait() {
        let mut failures = Failures::default();

        let quick = failures.count(&RULE, Exit::Code(0), Duration::from_millis(100));
        let slow = failures.count(&RULE, Exit::Code(0), Duration::from_secs(5));

        assert_eq!(quick, Duration::from_millis(900));
        assert_eq!(slow, Duration::ZERO);
        assert_eq!(failures.number(), 0);
    }

    #[test]
    fn a_clean_end_forgets_failures_only_after_a_long_uptime() {
        let mut failures = Failures::default();
        for _ in 0..3 {
            seconds(&mut failures, 0);
        }

        failures.count(&RULE, Exit::Code(0), Duration::from_secs(99));
        assert_eq!(failures.number(), 3);
        failures.count(&RULE, Exit::Code(0), Duration::from_secs(100));
        assert_eq!(failures.number(), 0);
    }

    #[test]
    fn a_failed_start_is_never_tried_again_at_once() {
        let at_once = Backoff {
            first: Duration::ZERO,
            ..RULE
        };
        let unstarted = Exit::Unstarted(Failure {
            step: Step::Clone,
            errno: Errno::EAGAIN,
        });

        let mut failures = Failures::default();
        for _ in 0..40 {
            let wait = failures.count(&at_once, unstarted, Duration::ZERO);
            assert_eq!(wait, limits::START_FLOOR);
        }
        let mut failures = Failures(1);
        assert_eq!(failures.count(&RULE, unstarted, Duration::ZERO), RULE.first);
    }

    #[test]
    fn no_number_of_failures_overflows() {
        let mut failures = Failures(u32::MAX);

        assert_eq!(seconds(&mut failures, 0), 60);
        assert_eq!(failures.number(), u32::MAX);
    }
}
