//! The watch over a service that is up: it must become ready in time, and be heard
//! of again and again.

use core::time::Duration;

use crate::base::time::Instant;
use crate::policy::notice::Notice;

/// What is asked of a service, from the config.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// How long it may take to say that it is ready; none when its start is all that
    /// is asked.
    pub ready_within: Option<Duration>,
    /// How often it must be heard of once it is ready, if at all.
    pub watchdog: Option<Duration>,
}

/// What is known of a service that is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vigil {
    /// Whether it is ready.
    pub readiness: Readiness,
    /// How often it must be heard of, if at all.
    pub interval: Option<Duration>,
    /// When it must have been heard of; none before it is ready.
    pub alive_by: Option<Instant>,
    /// Whether it has said that it ends by itself.
    pub is_leaving: bool,
}

/// Whether a service is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// It is, since this moment.
    Since(Instant),
    /// It is not, and must be by this moment.
    By(Instant),
}

/// What a service failed to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lapse {
    /// It did not become ready.
    Unready,
    /// It was not heard of.
    Silent,
    /// It says itself that it can't go on.
    Lost,
}

impl Rules {
    /// Nothing is asked.
    pub const NONE: Self = Self {
        ready_within: None,
        watchdog: None,
    };
}

impl Vigil {
    /// The watch over a service that was started just now.
    pub fn begin(rules: Rules, now: Instant) -> Self {
        let vigil = Self {
            readiness: match rules.ready_within {
                Some(within) => Readiness::By(now.after(within)),
                None => Readiness::Since(now),
            },
            interval: rules.watchdog,
            alive_by: None,
            is_leaving: false,
        };
        vigil.renewed(now)
    }

    /// The same, with the whole of the interval before it.
    #[must_use]
    pub fn renewed(self, now: Instant) -> Self {
        let is_ready = self.ready_since().is_some();
        let interval = self.interval.filter(|_| is_ready);
        Self {
            alive_by: interval.map(|interval| now.after(interval)),
            ..self
        }
    }

    /// Takes what it says of itself; what it failed to do, if it says so.
    pub fn hear(&mut self, now: Instant, notice: Notice) -> Option<Lapse> {
        let mut is_news = notice.is_alive;
        if let Some(interval) = notice.interval {
            self.interval = Some(interval).filter(|interval| !interval.is_zero());
            is_news = true;
        }
        if let Readiness::By(by) = self.readiness {
            if notice.is_ready {
                self.readiness = Readiness::Since(now);
                is_news = true;
            } else if let Some(extension) = notice.extension {
                self.readiness = Readiness::By(by.max(now.after(extension)));
            }
        }
        self.is_leaving |= notice.is_stopping;
        if is_news {
            *self = self.renewed(now);
        }
        notice.is_lost.then_some(Lapse::Lost)
    }

    /// What it failed to do by now.
    pub fn lapse(&self, now: Instant) -> Option<Lapse> {
        match (self.readiness, self.alive_by) {
            (Readiness::By(by), _) if by <= now => Some(Lapse::Unready),
            (_, Some(by)) if by <= now => Some(Lapse::Silent),
            (Readiness::By(_) | Readiness::Since(_), _) => None,
        }
    }

    /// When it must have done what is asked of it next.
    pub const fn deadline(&self) -> Option<Instant> {
        match self.readiness {
            Readiness::By(by) => Some(by),
            Readiness::Since(_) => self.alive_by,
        }
    }

    /// Since when it is ready, if it is.
    pub const fn ready_since(&self) -> Option<Instant> {
        match self.readiness {
            Readiness::Since(since) => Some(since),
            Readiness::By(_) => None,
        }
    }
}

#[cfg(test)]
mod stories {
    use super::*;

    const BOTH: Rules = Rules {
        ready_within: Some(Duration::from_secs(90)),
        watchdog: Some(Duration::from_secs(10)),
    };

    const READY: Notice = Notice {
        is_ready: true,
        ..NOTHING
    };

    const ALIVE: Notice = Notice {
        is_alive: true,
        ..NOTHING
    };

    const NOTHING: Notice = Notice {
        is_ready: false,
        is_stopping: false,
        is_alive: false,
        is_lost: false,
        interval: None,
        extension: None,
    };

    const fn extended(seconds: u64) -> Notice {
        Notice {
            extension: Some(Duration::from_secs(seconds)),
            ..NOTHING
        }
    }

    const fn every(seconds: u64) -> Notice {
        Notice {
            interval: Some(Duration::from_secs(seconds)),
            ..NOTHING
        }
    }

    /// A vigil, and the seconds since it began.
    struct Story(Vigil);

    impl Story {
        fn new(rules: Rules) -> Self {
            Self(Vigil::begin(rules, at(0)))
        }

        fn hear(&mut self, seconds: u64, notice: Notice) -> &mut Self {
            assert_eq!(self.0.hear(at(seconds), notice), None);
            self
        }

        /// It lapses at this second and no sooner.
        fn lapses(&self, seconds: u64, lapse: Lapse) {
            assert_eq!(self.0.deadline(), Some(at(seconds)));
            assert_eq!(self.0.lapse(at(seconds - 1)), None);
            assert_eq!(self.0.lapse(at(seconds)), Some(lapse));
        }
    }

    fn at(seconds: u64) -> Instant {
        Instant::BOOT.after(Duration::from_secs(1_000 + seconds))
    }

    #[test]
    fn of_whom_nothing_is_asked_nothing_is_missed() {
        let story = Story::new(Rules::NONE);

        assert_eq!(story.0.ready_since(), Some(at(0)));
        assert_eq!(story.0.deadline(), None);
        assert_eq!(story.0.lapse(at(1_000_000)), None);
    }

    #[test]
    fn who_is_to_be_ready_has_its_time_and_no_more() {
        let story = Story::new(BOTH);

        assert_eq!(story.0.ready_since(), None);
        story.lapses(90, Lapse::Unready);
    }

    #[test]
    fn who_is_ready_is_to_be_heard_of_from_then_on() {
        let mut story = Story::new(BOTH);

        story.hear(50, READY);

        assert_eq!(story.0.ready_since(), Some(at(50)));
        story.lapses(60, Lapse::Silent);
        story.hear(59, ALIVE).lapses(69, Lapse::Silent);
        // It is ready once.
        story.hear(60, READY).lapses(69, Lapse::Silent);
        assert_eq!(story.0.ready_since(), Some(at(50)));
    }

    #[test]
    fn who_needs_not_say_that_it_is_ready_is_to_be_heard_of_from_its_start_on() {
        let rules = Rules {
            ready_within: None,
            ..BOTH
        };

        Story::new(rules).lapses(10, Lapse::Silent);
    }

    #[test]
    fn who_is_alive_before_it_is_ready_is_not_ready_for_it() {
        Story::new(BOTH).hear(5, ALIVE).lapses(90, Lapse::Unready);
    }

    #[test]
    fn more_time_counts_from_when_it_is_asked_for_and_is_never_less() {
        let mut story = Story::new(BOTH);

        story.hear(10, extended(20)).lapses(90, Lapse::Unready);
        story.hear(80, extended(20)).lapses(100, Lapse::Unready);
        story.hear(99, extended(20)).lapses(119, Lapse::Unready);
        // It is for the start alone.
        story
            .hear(110, READY)
            .hear(111, extended(100))
            .lapses(120, Lapse::Silent);
    }

    #[test]
    fn another_interval_counts_at_once_and_zero_is_none() {
        let mut story = Story::new(Rules::NONE);

        story.hear(5, every(3)).lapses(8, Lapse::Silent);
        story.hear(7, ALIVE).lapses(10, Lapse::Silent);
        story.hear(8, every(0));
        assert_eq!(story.0.deadline(), None);
        story.hear(9, ALIVE);
        assert_eq!(story.0.deadline(), None);

        // Before it is ready it is kept for later.
        let mut story = Story::new(BOTH);
        story.hear(1, every(3)).lapses(90, Lapse::Unready);
        story.hear(2, READY).lapses(5, Lapse::Silent);
    }

    #[test]
    fn who_says_that_it_is_lost_is_so_at_once() {
        let lost = Notice {
            is_lost: true,
            ..READY
        };
        for rules in [Rules::NONE, BOTH] {
            let mut story = Story::new(rules);
            assert_eq!(story.0.hear(at(1), lost), Some(Lapse::Lost));
        }
    }
}
