//! When the host is to be heard of.

use core::time::Duration;

use crate::base::time::Instant;
use crate::policy::notice::Notice;
use crate::policy::vigil;

/// What the host is to say, and by when.
#[derive(Clone, Copy, Default)]
pub(super) struct Watch {
    pub(super) ready_by: Option<Instant>,
    pub(super) alive_by: Option<Instant>,
    pub(super) interval: Option<Duration>,
    pub(super) is_lost: bool,
}

impl Watch {
    pub(super) fn begin(rules: vigil::Rules, now: Instant) -> Self {
        let mut watch = Self {
            ready_by: rules.ready_within.map(|within| now.after(within)),
            interval: rules.watchdog,
            ..Self::default()
        };
        watch.is_heard(now);
        watch
    }

    pub(super) fn is_heard(&mut self, now: Instant) {
        self.alive_by = match (self.ready_by, self.interval) {
            (None, Some(interval)) => Some(now.after(interval)),
            _ => None,
        };
    }

    pub(super) fn hears(&mut self, now: Instant, notice: Notice) {
        self.is_lost |= notice.is_lost;
        let was_ready = self.ready_by.is_none();
        if notice.is_ready {
            self.ready_by = None;
        } else if let (Some(by), Some(extension)) = (self.ready_by, notice.extension) {
            self.ready_by = Some(by.max(now.after(extension)));
        }
        if let Some(interval) = notice.interval {
            self.interval = Some(interval).filter(|interval| !interval.is_zero());
        }
        let is_news = notice.is_alive || notice.interval.is_some();
        if is_news || !was_ready && notice.is_ready {
            self.is_heard(now);
        }
    }
}
