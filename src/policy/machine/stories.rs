//! What a machine lives through, told with a clock of the test's own.

mod boot;
mod container;
mod ladder;
mod leaving;
mod readiness;
mod reexecution;
mod reload;
mod requests;
mod soft_reboot;
mod trials;

use super::*;
use crate::policy::config::{Asked, Signals};
use crate::policy::event::{Cause, Found};
use crate::policy::request::Verbosity;
use crate::policy::samples::{
    BARE, CONTAINER, MACHINE, MOUNTING, NO_PROCESS, RULES, WATCHED, by, realtime, taken,
};
use crate::policy::settings::{Facts, Hopeless, Shell};

use Action::{
    Abandon, Do, Exit as ExitWith, Interrupt, Kill, Leave, Look, Record, Report as Say,
    Signal as Send, Start, Sweep as Clear,
};
use Event::{Done, Emptied, Exited, LeaverEnded, LeavingAt, Reloaded, Signaled, Tick};
use ServiceId::{Host, Rescue};
use Task::{Directories, Mount};

const FAILED: Exit = Exit::Code(1);
const BAD: Outcome = Outcome::Bad(Errno::ENOENT);

/// A machine and its time.
struct Story {
    machine: Machine,
    now: Instant,
    actions: Actions,
}

impl Story {
    fn new(settings: Settings) -> Self {
        Self {
            machine: Machine::new(settings),
            now: Instant::BOOT.after(Duration::from_secs(3)),
            actions: Actions::new(),
        }
    }

    /// One that has begun to boot.
    fn booted(settings: Settings) -> Self {
        let mut story = Self::new(settings);
        story.on(Event::Booted);
        story
    }

    /// One whose host is up.
    fn running() -> Self {
        let mut story = Self::new(BARE);
        assert_eq!(story.on(Event::Booted), [Start(Host)]);
        story
    }

    /// One whose services are gone.
    fn leaving() -> Self {
        let mut story = Self::running();
        story.on(Signaled(Signal::TERM));
        story.on(Exited(Host, Exit::Code(0)));
        assert_eq!(story.on(Emptied(Host)), [Leave(Ending::Reboot, Step::Kill)]);
        story
    }

    /// One whose first mount failed.
    fn rescue(settings: Settings) -> Self {
        let mut story = Self::booted(settings);
        assert_eq!(
            story.on(Done(Mount(0), BAD)),
            [Say(Report::Rescue), Start(Rescue)]
        );
        story
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        self.machine.handle(self.now, event, &mut self.actions);
        taken(&mut self.actions)
    }

    fn pass(&mut self, millis: u64) {
        self.now = self.now.after(Duration::from_millis(millis));
    }

    /// Lets time pass up to the deadline, which is this far away.
    fn reach_deadline(&mut self, millis: u64) -> Vec<Action> {
        let deadline = self.machine.deadline().unwrap();
        assert_eq!(deadline.since(self.now), Duration::from_millis(millis));
        self.now = deadline;
        self.on(Tick)
    }

    /// Ends a service and all it left.
    fn end(&mut self, id: ServiceId, exit: Exit) -> Vec<Action> {
        self.on(Exited(id, exit));
        self.on(Emptied(id))
    }
}

const fn ending(ending: Ending) -> Action {
    Say(Report::Ending(ending))
}

const fn refused(request: Request) -> Action {
    Say(Report::Refused(request))
}

fn asked_to_end() -> [Action; 2] {
    [Send(Host, Signal::TERM), Send(Host, Signal::CONT)]
}

/// What the machine says and does when it begins to stop its host.
fn begins(aim: Action) -> Vec<Action> {
    [aim].into_iter().chain(asked_to_end()).collect()
}
