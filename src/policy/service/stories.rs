//! What one service lives through, told with a clock of the test's own.

mod lapses;
mod starts;
mod stops;

use core::time::Duration;

use super::*;
use crate::policy::samples::{NO_PROCESS, RULES, by, taken};

use Action::{Kill, Record, Report as Say, Signal as Send, Start, Sweep as Clear};
use ServiceId::Host;

const FAILED: Exit = Exit::Code(1);

/// A service and its time.
struct Story {
    service: Service,
    now: Instant,
    actions: Actions,
}

impl Story {
    fn new(rules: Rules) -> Self {
        Self {
            service: Service::new(Host, rules),
            now: Instant::BOOT.after(Duration::from_secs(100)),
            actions: Actions::new(),
        }
    }

    /// One that is up.
    fn up() -> Self {
        let mut story = Self::new(RULES);
        assert_eq!(story.start(), [Start(Host)]);
        story
    }

    fn pass(&mut self, millis: u64) {
        self.now = self.now.after(Duration::from_millis(millis));
    }

    /// Lets time pass up to the deadline, which is this far away.
    fn reach_deadline(&mut self, millis: u64) -> Vec<Action> {
        let deadline = self.service.deadline().unwrap();
        assert_eq!(deadline.since(self.now), Duration::from_millis(millis));
        self.now = deadline.after(Duration::ZERO);
        self.service.tick(self.now, &mut self.actions);
        taken(&mut self.actions)
    }

    fn start(&mut self) -> Vec<Action> {
        self.service.start(self.now, &mut self.actions);
        taken(&mut self.actions)
    }

    fn stop(&mut self, haste: Haste) -> Vec<Action> {
        self.service.stop(self.now, haste, &mut self.actions);
        taken(&mut self.actions)
    }

    /// Leaves it this much time.
    fn hurry(&mut self, millis: u64) -> Vec<Action> {
        let kill_at = self.now.after(Duration::from_millis(millis));
        self.service.hurry(self.now, kill_at, &mut self.actions);
        taken(&mut self.actions)
    }

    fn exit(&mut self, exit: Exit) -> Vec<Action> {
        self.service.exited(self.now, exit, &mut self.actions);
        taken(&mut self.actions)
    }

    fn empty(&mut self) -> Vec<Action> {
        self.service.emptied(self.now, &mut self.actions);
        taken(&mut self.actions)
    }

    fn tick(&mut self) -> Vec<Action> {
        self.service.tick(self.now, &mut self.actions);
        taken(&mut self.actions)
    }
}
