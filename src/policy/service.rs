//! One service's life: started, up, asked to end, swept, down.
//!
//! ```text
//!            start                  exit                 empty
//!   Down ───────────▶ Up ───────────────────▶ Sweeping ─────────▶ Waiting ─▶ Up
//!                     │ stop                   ▲     │ empty,                 │
//!                     ▼            exit        │     │ no restart        stop │
//!                  Stopping ───────────────────┤     ▼                        │
//!                     │ too long               │    Down ◀────────────────────┘
//!                     ▼            exit        │
//!                   Killed ────────────────────┤
//!                     │ can't be killed        │
//!                     ▼            exit        │
//!                   Stuck ─────────────────────┘
//! ```
//!
//! One that is up and does not do what it must is `Failing` until it has ended: told
//! to end, killed when it does not, and swept as after an end of its own.
//!
//! The main process and what it leaves behind are stopped in that order: first
//! the stop signal to the main process alone, since many programs end their own
//! children better than we could; after its end TERM to the rest; KILL to all of
//! them at the one deadline.

mod state;

#[cfg(test)]
mod stories;

use core::time::Duration;

use crate::base::exit::Exit;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::backoff::{Backoff, Failures};
use crate::policy::event::{Action, Actions, Cause, Report, ServiceId};
use crate::policy::notice::Notice;
use crate::policy::request::Haste;
use crate::policy::vigil::{self, Lapse, Vigil};

pub use state::{Next, State, Sweep};

/// How a service is run, from the config.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Whether it is started again after it ended.
    pub restart: Restart,
    /// What asks it to end.
    pub stop_signal: Signal,
    /// How long it may take to end.
    pub stop_grace: Duration,
    /// How long until it is started again.
    pub backoff: Backoff,
    /// Whether each start is asked for, and made when it is granted.
    pub asks: bool,
    /// What it must do while it is up.
    pub vigil: vigil::Rules,
}

/// Whether a service is started again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// Always, after its back-off.
    Always,
    /// Never: its end is the end of it.
    Never,
}

/// How long the kernel may take to end a killed process. Longer means that the
/// process waits for a device that does not answer.
const KILL_BOUND: Duration = Duration::from_secs(5);

/// What is known of a service that is up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// When it was started.
    pub since: Instant,
    /// The watch over it.
    pub vigil: Vigil,
    /// How often in a row it failed.
    pub failures: Failures,
    /// How often it was started.
    pub starts: u32,
}

/// A service and its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Service {
    id: ServiceId,
    rules: Rules,
    state: State,
    failures: Failures,
    /// Its back-off: before this moment it is not started, whoever asks. Without
    /// it, whoever starts a service at each of its ends would start a program
    /// that can't be executed as often as the processor allows.
    rests_until: Instant,
    starts: u32,
}

impl Service {
    /// A service that is down.
    pub fn new(id: ServiceId, rules: Rules) -> Self {
        Self {
            id,
            rules,
            state: State::Down,
            failures: Failures::default(),
            rests_until: Instant::BOOT,
            starts: 0,
        }
    }

    /// Starts it when it has rested, unless something of it runs already.
    pub fn start(&mut self, now: Instant, actions: &mut Actions) {
        match self.state {
            State::Down if now < self.rests_until => {
                let until = self.rests_until;
                let wait = u32::try_from(until.since(now).as_millis()).unwrap_or(u32::MAX);
                self.state = State::Waiting { until };
                actions.push(Action::Report(Report::StartIn(self.id, wait)));
            }
            State::Waiting { until } if now < until => {}
            State::Down | State::Waiting { .. } if self.rules.asks => {
                self.state = State::Asking;
            }
            State::Down | State::Waiting { .. } => self.begin(now, actions),
            // A start now would make it two. One that is being stopped is
            // started by the one who stopped it, when it is down.
            State::Asking
            | State::Up { .. }
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Sweeping { .. }
            | State::Stuck => {}
        }
    }

    /// It says something of itself.
    pub fn notified(&mut self, now: Instant, notice: Notice, actions: &mut Actions) {
        match &mut self.state {
            State::Up { since, vigil } => {
                let (since, was_ready) = (*since, vigil.ready_since().is_some());
                let was_leaving = vigil.is_leaving;
                let lapse = vigil.hear(now, notice);
                if !was_ready && vigil.ready_since().is_some() {
                    actions.push(Action::Report(Report::Ready(self.id)));
                }
                if !was_leaving && vigil.is_leaving {
                    actions.push(Action::Report(Report::Leaving(self.id)));
                }
                if let Some(lapse) = lapse {
                    self.fail(now, since, lapse, actions);
                }
            }
            // Whoever is to end has nothing to say that would change it, and of who is
            // not there somebody else speaks.
            State::Down
            | State::Asking
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Sweeping { .. }
            | State::Waiting { .. }
            | State::Stuck => {}
        }
    }

    /// What it asked for is granted: it starts.
    pub fn grant(&mut self, now: Instant, actions: &mut Actions) {
        if self.state == State::Asking {
            self.begin(now, actions);
        }
    }

    /// What it asked for is not granted: it stays down.
    pub fn deny(&mut self) {
        if self.state == State::Asking {
            self.state = State::Down;
        }
    }

    /// Ends it: by its stop signal, or at once. Asked again, it has less time.
    /// Whoever starts it after this has not to wait for its back-off.
    pub fn stop(&mut self, now: Instant, haste: Haste, actions: &mut Actions) {
        self.rests_until = Instant::BOOT;
        let kill_at = match haste {
            Haste::Orderly => now.after(self.rules.stop_grace),
            Haste::AtOnce => now,
        };
        match self.state {
            State::Down | State::Killed { .. } | State::Stuck => {}
            State::Waiting { .. } | State::Asking => self.state = State::Down,
            State::Up { .. } => match haste {
                Haste::Orderly => {
                    actions.push(Action::Signal(self.id, self.rules.stop_signal));
                    // A stopped process does not see a signal until it goes on.
                    actions.push(Action::Signal(self.id, Signal::CONT));
                    self.state = State::Stopping { kill_at };
                }
                Haste::AtOnce => self.kill(now, Cause::Stop, actions),
            },
            // It was told to end already, and is to stay down after it.
            State::Failing {
                until,
                by: Sweep::Asked,
                ..
            } => {
                self.state = State::Stopping { kill_at: until };
                self.hurry(now, kill_at, actions);
            }
            State::Failing {
                until,
                by: Sweep::Killed,
                ..
            } => {
                self.state = State::Killed {
                    give_up_at: until,
                    cause: Cause::Timeout,
                };
            }
            State::Stopping { .. } | State::Sweeping { .. } => {
                if let State::Sweeping { until, by, .. } = self.state {
                    let next = Next::Stay;
                    self.state = State::Sweeping { until, by, next };
                }
                self.hurry(now, kill_at, actions);
            }
        }
    }

    /// Kills it at `kill_at` if it is still there, unless that is later than what
    /// it was given before.
    pub fn hurry(&mut self, now: Instant, kill_at: Instant, actions: &mut Actions) {
        match &mut self.state {
            State::Stopping { kill_at: until }
            | State::Sweeping {
                until,
                by: Sweep::Asked,
                ..
            } => *until = (*until).min(kill_at),
            // These are killed already, or have nothing to kill.
            State::Sweeping {
                by: Sweep::Killed, ..
            }
            | State::Down
            | State::Asking
            | State::Up { .. }
            | State::Failing { .. }
            | State::Killed { .. }
            | State::Waiting { .. }
            | State::Stuck => {}
        }
        self.tick(now, actions);
    }

    /// Its main process ended, or could not be started.
    pub fn exited(&mut self, now: Instant, exit: Exit, actions: &mut Actions) {
        let (cause, by, until, next) = match self.state {
            State::Up { since, .. } => {
                let next = self.rest(now, since, exit);
                (Cause::Itself, Sweep::Killed, now.after(KILL_BOUND), next)
            }
            State::Failing { since, cause, .. } => {
                // However well it went when it was told to.
                let exit = if exit.is_clean() { Exit::Unknown } else { exit };
                let next = self.rest(now, since, exit);
                (cause, Sweep::Killed, now.after(KILL_BOUND), next)
            }
            State::Stopping { kill_at } => (Cause::Stop, Sweep::Asked, kill_at, Next::Stay),
            State::Killed { give_up_at, cause } => (cause, Sweep::Killed, give_up_at, Next::Stay),
            // The kernel let go of it after all, but maybe not yet of the others that
            // waited for the same device.
            State::Stuck => {
                let until = now.after(KILL_BOUND);
                (Cause::Timeout, Sweep::Killed, until, Next::Stay)
            }
            // There is no main process in these, so there is nothing that could
            // have ended.
            State::Down | State::Asking | State::Sweeping { .. } | State::Waiting { .. } => {
                return;
            }
        };
        self.state = State::Sweeping { until, by, next };
        actions.push(Action::Sweep(self.id, by.signal()));
        actions.push(Action::Record(self.id, exit, cause));
    }

    /// Nothing of it is left.
    pub fn emptied(&mut self, now: Instant, actions: &mut Actions) {
        match self.state {
            State::Sweeping { next, .. } => self.go_on(now, next, actions),
            // Late word of a sweep that was given up, or of one before.
            State::Down
            | State::Asking
            | State::Up { .. }
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Waiting { .. }
            | State::Stuck => {}
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Instant, actions: &mut Actions) {
        match self.state {
            State::Up { since, vigil } => {
                if let Some(lapse) = vigil.lapse(now) {
                    self.fail(now, since, lapse, actions);
                }
            }
            State::Failing {
                since,
                cause,
                until,
                by: Sweep::Asked,
            } if until <= now => {
                actions.push(Action::Report(Report::Stubborn(self.id)));
                actions.push(Action::Kill(self.id));
                self.state = State::Failing {
                    since,
                    cause,
                    until: now.after(KILL_BOUND),
                    by: Sweep::Killed,
                };
            }
            State::Failing {
                until,
                by: Sweep::Killed,
                ..
            } if until <= now => {
                actions.push(Action::Report(Report::Unkillable(self.id)));
                self.state = State::Stuck;
            }
            State::Stopping { kill_at } if kill_at <= now => {
                actions.push(Action::Report(Report::Stubborn(self.id)));
                self.kill(now, Cause::Timeout, actions);
            }
            State::Killed { give_up_at, .. } if give_up_at <= now => {
                actions.push(Action::Report(Report::Unkillable(self.id)));
                self.state = State::Stuck;
            }
            State::Sweeping {
                until,
                by: Sweep::Asked,
                next,
            } if until <= now => {
                actions.push(Action::Kill(self.id));
                self.state = State::Sweeping {
                    until: now.after(KILL_BOUND),
                    by: Sweep::Killed,
                    next,
                };
            }
            State::Sweeping {
                until,
                by: Sweep::Killed,
                next,
            } if until <= now => {
                actions.push(Action::Report(Report::Unkillable(self.id)));
                self.go_on(now, next, actions);
            }
            State::Waiting { until } if until <= now => self.start(now, actions),
            // Nothing is due, or nothing of its own.
            State::Down
            | State::Asking
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Sweeping { .. }
            | State::Waiting { .. }
            | State::Stuck => {}
        }
    }

    /// Follows new rules from now on; what is under way keeps its deadlines.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Lets it run to its end, and starts it no more: it is not in the config.
    pub fn retire(&mut self) {
        self.rules.restart = Restart::Never;
        match &mut self.state {
            State::Waiting { .. } | State::Asking => self.state = State::Down,
            State::Sweeping { next, .. } => *next = Next::Stay,
            // What runs is not started again by its rules; the others stay down.
            State::Down
            | State::Up { .. }
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Stuck => {}
        }
    }

    /// What the next life of host-init must know of it; none unless it is up. What it
    /// says in between is not missed: it has its whole interval once more.
    pub fn saved(&self, now: Instant) -> Option<Saved> {
        match self.state {
            State::Up { since, vigil } => Some(Saved {
                since,
                vigil: vigil.renewed(now),
                failures: self.failures,
                starts: self.starts,
            }),
            State::Down
            | State::Asking
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Sweeping { .. }
            | State::Waiting { .. }
            | State::Stuck => None,
        }
    }

    /// Goes on with what the life before knew of it: it is up.
    pub fn resume(&mut self, saved: Saved) {
        self.state = State::Up {
            since: saved.since,
            vigil: saved.vigil,
        };
        self.failures = saved.failures;
        self.starts = saved.starts;
    }

    /// The moment at which [`Service::tick`] has something to do.
    pub const fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Stopping { kill_at } => Some(kill_at),
            State::Killed { give_up_at, .. } => Some(give_up_at),
            State::Up { vigil, .. } => vigil.deadline(),
            State::Failing { until, .. }
            | State::Sweeping { until, .. }
            | State::Waiting { until } => Some(until),
            State::Down | State::Asking | State::Stuck => None,
        }
    }

    /// Where it is in its life.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Since when it is ready, if it is up and is.
    pub const fn ready_since(&self) -> Option<Instant> {
        match self.state {
            State::Up { vigil, .. } => vigil.ready_since(),
            State::Down
            | State::Asking
            | State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Sweeping { .. }
            | State::Waiting { .. }
            | State::Stuck => None,
        }
    }

    /// How often it was started.
    pub const fn starts(&self) -> u32 {
        self.starts
    }

    /// How often in a row it failed.
    pub const fn failures(&self) -> u32 {
        self.failures.number()
    }

    /// Whether nothing of it can be waited for any more.
    pub const fn is_gone(&self) -> bool {
        matches!(self.state, State::Down | State::Stuck)
    }

    fn begin(&mut self, now: Instant, actions: &mut Actions) {
        self.state = State::Up {
            since: now,
            vigil: Vigil::begin(self.rules.vigil, now),
        };
        self.starts = self.starts.saturating_add(1);
        actions.push(Action::Start(self.id));
    }

    /// It did not do what it must: it is told to end. One that hangs is told
    /// by ABRT, which leaves a core for whoever wants to know where it hangs.
    fn fail(&mut self, now: Instant, since: Instant, lapse: Lapse, actions: &mut Actions) {
        let (cause, signal, report) = match lapse {
            Lapse::Unready => (
                Cause::Unready,
                self.rules.stop_signal,
                Report::Unready(self.id),
            ),
            Lapse::Silent => (Cause::Watchdog, Signal::ABRT, Report::Silent(self.id)),
            Lapse::Lost => (Cause::Watchdog, Signal::ABRT, Report::Lost(self.id)),
        };
        actions.push(Action::Report(report));
        actions.push(Action::Signal(self.id, signal));
        actions.push(Action::Signal(self.id, Signal::CONT));
        self.state = State::Failing {
            since,
            cause,
            until: now.after(self.rules.stop_grace),
            by: Sweep::Asked,
        };
    }

    /// Counts its end by itself, and how long it rests; what comes after.
    fn rest(&mut self, now: Instant, since: Instant, exit: Exit) -> Next {
        let uptime = now.since(since);
        let wait = self.failures.count(&self.rules.backoff, exit, uptime);
        self.rests_until = now.after(wait);
        match self.rules.restart {
            Restart::Always => Next::Start,
            Restart::Never => Next::Stay,
        }
    }

    /// Something else than a start comes after what has just ended: that does not wait.
    pub fn skip_rest(&mut self) {
        self.rests_until = Instant::BOOT;
    }

    fn kill(&mut self, now: Instant, cause: Cause, actions: &mut Actions) {
        actions.push(Action::Kill(self.id));
        self.state = State::Killed {
            give_up_at: now.after(KILL_BOUND),
            cause,
        };
    }

    /// What comes after the last process is gone.
    fn go_on(&mut self, now: Instant, next: Next, actions: &mut Actions) {
        self.state = State::Down;
        match next {
            Next::Stay => {}
            Next::Start => self.start(now, actions),
        }
    }
}
