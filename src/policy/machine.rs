//! The machine as a value: what happened goes in, what to do comes out.
//!
//! ```text
//!   Booting ──▶ Preparing ──▶ Running ◀─────────┐
//!      │           │ │         │   ▲            │ every service is gone,
//!      │           ▼ │ nothing │   │ cleared    │ to start again
//!      │      Rescue │ to try  ▼   │            │
//!      │    Hopeless │        Halted            │
//!      └───────────┴─┴───────────┴──────▶ Stopping ──▶ Leaving ──▶ (off)
//! ```
//!
//! An ending can be asked for at any moment, and nothing is started after it.

mod boot;
mod clerk;
mod stop;
mod trial;

#[cfg(test)]
mod stories;

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::backoff::Backoff;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Action, Actions, Event, Outcome, Report, ServiceId, Task};
use crate::policy::machine::clerk::Clerk;
use crate::policy::notice::Notice;
use crate::policy::request::{self, Haste, Presses, Request};
use crate::policy::service::{Restart, Rules, Saved, Service, State};
use crate::policy::settings::{Role, Settings};
use crate::policy::trial::{Halt, Mark, Trial};
use crate::policy::vigil;

/// Where the machine is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The steps that can't block are being taken.
    Booting,
    /// A child does this part of the boot.
    Preparing {
        /// The part.
        task: Task,
        /// When it is given up.
        until: Instant,
        /// Whether the part's number still means what it meant when it began:
        /// false once another config has come in between.
        is_current: bool,
    },
    /// The host is kept running.
    Running,
    /// A person has a shell; after it the boot goes on with this part.
    Rescue {
        /// The part that failed, or none when there is no host to run.
        retry: Option<Task>,
    },
    /// Nothing can go on, and nobody can be asked.
    Hopeless {
        /// When it restarts, if it does.
        until: Option<Instant>,
    },
    /// The host is not started any more, until a person says so.
    Halted {
        /// Why.
        halt: Halt,
        /// When the machine restarts or powers off for it, if it does.
        until: Option<Instant>,
    },
    /// Services are being stopped.
    Stopping {
        /// What comes when they are gone.
        aim: Aim,
        /// How often it was asked for.
        asked: u8,
    },
    /// The last steps are being taken, by a child.
    Leaving {
        /// How it ends.
        ending: Ending,
        /// The step the child was at when last looked.
        step: Step,
        /// When that step is given up.
        until: Instant,
    },
}

/// What comes when every service is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// The end.
    End(Ending),
    /// The services are started again.
    Again,
}

/// The exit code of a container whose host had to be killed: a shell's number for
/// death by KILL.
const KILLED: u8 = 137;

/// The exit code of a container that is to be started again, where the kernel lets
/// nobody say so by `reboot(2)`: the one that `systemd-nspawn` has for that.
const REBOOTED: u8 = 133;

/// The exit code of a container whose host is halted.
const HALTED: u8 = 253;

/// The exit code of a container that host-init itself could not keep running.
pub const FAULT: u8 = 254;

/// A host that no config has rules for: it ran before host-init was executed again,
/// and the config is bad since. It is asked as most programs want to be asked.
const STRANGER: Rules = Rules {
    restart: Restart::Never,
    stop_signal: Signal::TERM,
    stop_grace: Duration::from_secs(10),
    ..SHELL
};

/// A person's shell: it gets HUP, which a shell obeys, and little time.
const SHELL: Rules = Rules {
    restart: Restart::Never,
    stop_signal: Signal::HUP,
    stop_grace: Duration::from_secs(1),
    backoff: Backoff {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(10),
        reset: Duration::from_secs(5),
    },
    asks: false,
    vigil: vigil::Rules::NONE,
};

/// Everything host-init decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    settings: Settings,
    stage: Stage,
    host: Service,
    rescue: Service,
    /// How often Ctrl-Alt-Del was pressed of late.
    presses: Presses,
    /// The exit code a container ends with.
    code: u8,
    /// The host's trial, when the config has one and what was kept of it is known.
    trial: Option<Trial>,
    /// The mark that is known to be kept.
    kept: Option<Mark>,
    /// The mark that could not be kept when that was tried last.
    tried: Option<Mark>,
    /// Whether it was said that nothing can be kept.
    is_forgetful: bool,
    /// The child that keeps the mark or takes a version back.
    clerk: Option<Clerk>,
    /// When the host that runs is healthy.
    healthy_at: Option<Instant>,
}

impl Machine {
    /// A machine before its boot.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            stage: Stage::Booting,
            host: Service::new(ServiceId::Host, settings.host.unwrap_or(STRANGER)),
            rescue: Service::new(ServiceId::Rescue, SHELL),
            presses: Presses::default(),
            code: 0,
            trial: None,
            kept: None,
            tried: None,
            is_forgetful: false,
            clerk: None,
            healthy_at: None,
        }
    }

    /// A machine that goes on with the host of its life before, and with what that
    /// knew of its trial.
    pub fn resume(settings: Settings, host: Saved, mark: Option<Mark>) -> Self {
        let mut machine = Self::new(settings);
        machine.host.resume(host);
        machine.stage = Stage::Running;
        machine.resume_trial(mark);
        machine
    }

    /// Takes what happened at `now`, and says what to do. Never blocks, and never
    /// asks for more actions than fit.
    pub fn handle(&mut self, now: Instant, event: Event, actions: &mut Actions) {
        match event {
            Event::Booted => self.booted(now, actions),
            Event::BootFailed => self.rescue(now, None, actions),
            Event::Tick => self.tick(now, actions),
            Event::Signaled(signal) => self.signaled(now, signal, actions),
            Event::Unstarted(id, failure) => {
                self.exited(now, id, Exit::Unstarted(failure), actions);
            }
            Event::Exited(id, exit) => self.exited(now, id, exit, actions),
            Event::Emptied(id) => {
                self.service(id).emptied(now, actions);
                self.settle(now, actions);
            }
            Event::Notified(notice) => self.notified(now, notice, actions),
            Event::Done(task, outcome) => self.done(now, task, outcome, actions),
            Event::LeavingAt(step) => self.leaving_at(now, step, actions),
            Event::LeaverEnded(step) => self.leaver_ended(now, step, actions),
            Event::Reloaded(settings) => self.reloaded(now, settings, actions),
            Event::Attempted(found, outcome) => self.attempted(now, found, outcome, actions),
        }
        self.ask(now, actions);
    }

    /// When to come back with [`Event::Tick`] if nothing happens before. Changes
    /// only by [`Machine::handle`].
    pub fn deadline(&self) -> Option<Instant> {
        let stage = match self.stage {
            Stage::Preparing { until, .. } | Stage::Leaving { until, .. } => Some(until),
            Stage::Hopeless { until } | Stage::Halted { until, .. } => until,
            Stage::Booting | Stage::Running | Stage::Rescue { .. } | Stage::Stopping { .. } => None,
        };
        let clerk = self.clerk.and_then(|clerk| clerk.until());
        let services = [self.host.deadline(), self.rescue.deadline()];
        [stage, clerk, self.healthy_at]
            .into_iter()
            .chain(services)
            .flatten()
            .min()
    }

    /// Where the machine is in its life.
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// The host.
    pub const fn host(&self) -> &Service {
        &self.host
    }

    /// Any service.
    pub const fn service_of(&self, id: ServiceId) -> &Service {
        match id {
            ServiceId::Host => &self.host,
            ServiceId::Rescue => &self.rescue,
        }
    }

    fn service(&mut self, id: ServiceId) -> &mut Service {
        match id {
            ServiceId::Host => &mut self.host,
            ServiceId::Rescue => &mut self.rescue,
        }
    }

    fn exited(&mut self, now: Instant, id: ServiceId, exit: Exit, actions: &mut Actions) {
        if id == ServiceId::Host {
            self.note_code(exit);
            self.note_end(now, exit);
        }
        self.service(id).exited(now, exit, actions);
        if id == ServiceId::Host && self.trial.is_some_and(|trial| trial.is_exhausted()) {
            self.host.skip_rest();
        }
    }

    fn notified(&mut self, now: Instant, notice: Notice, actions: &mut Actions) {
        let before = self.host.state();
        let was_ready = self.host.ready_since().is_some();
        self.host.notified(now, notice, actions);
        if !was_ready {
            self.await_health();
        }
        self.note_failing(before);
    }

    /// Keeps the exit code that a container ends with: a host that had to be
    /// killed after a stop counts as killed. One that was on its way out, and was
    /// quicker than the KILL, was not.
    fn note_code(&mut self, exit: Exit) {
        let was_killed = matches!(
            exit,
            Exit::Signal {
                signal: Signal::KILL,
                ..
            }
        );
        let is_late = matches!(self.host.state(), State::Killed { .. } | State::Stuck);
        if was_killed && is_late && matches!(self.stage, Stage::Stopping { .. }) {
            self.code = KILLED;
        }
    }

    fn signaled(&mut self, now: Instant, signal: Signal, actions: &mut Actions) {
        let Some(request) = request::of_signal(signal, &self.settings.signals) else {
            return;
        };
        self.asked(now, request, actions);
        // Also when its own request was refused: whoever presses that often wants
        // the ending that is under way to be over.
        let is_press = signal == Signal::INT && matches!(request, Request::End(..));
        if is_press && self.presses.count(now) == Haste::AtOnce {
            self.hurry(now, Haste::AtOnce, actions);
        }
    }

    fn asked(&mut self, now: Instant, request: Request, actions: &mut Actions) {
        match request {
            // Nothing of a new config would count any more, and reading a file
            // may block on the very disk that is being given up.
            Request::Reload if self.is_ending() => {
                actions.push(Action::Report(Report::Refused(request)));
            }
            Request::Reload => actions.push(Action::Reload),
            Request::Verbosity(verbosity) => actions.push(Action::SetVerbosity(verbosity)),
            Request::Reexecute => actions.push(match self.saved(now) {
                Some(host) => Action::Reexecute(host),
                None => Action::Report(Report::Refused(request)),
            }),
            Request::Confirm => self.confirm(now, actions),
            Request::Clear => self.clear(now, actions),
            Request::Restart => self.restart(now, actions),
            Request::End(ending, haste) => self.stop(now, Aim::End(ending), haste, actions),
            Request::Again(haste) => self.stop(now, Aim::Again, haste, actions),
        }
    }

    /// What the next life of host-init must know; none when that is more than the
    /// host that runs: a shell that could not be killed, or the rules of a host
    /// that is not in the config any more.
    fn saved(&self, now: Instant) -> Option<Saved> {
        let is_all = self.stage == Stage::Running
            && self.rescue.state() == State::Down
            && self.clerk.is_none()
            && self.settings.host.is_some();
        self.host.saved(now).filter(|_| is_all)
    }

    /// Goes on when what was waited for is gone.
    fn settle(&mut self, now: Instant, actions: &mut Actions) {
        let stage = self.stage;
        match stage {
            Stage::Stopping { aim, .. }
                if self.host.is_gone() && self.rescue.is_gone() && self.is_kept(now, actions) =>
            {
                match (aim, self.settings.facts.role) {
                    (Aim::End(ending), Role::Machine) => {
                        self.leave(now, ending, Step::Kill, actions);
                    }
                    // The kernel kills the rest with the namespace, what was
                    // mounted goes with it, and the disks are the host's.
                    (Aim::End(ending), Role::Container) => {
                        let is_stuck = self.host.state() == State::Stuck;
                        let code = match ending {
                            Ending::Reboot | Ending::Kexec => REBOOTED,
                            Ending::Halt | Ending::PowerOff if is_stuck => KILLED,
                            Ending::Halt | Ending::PowerOff => self.code,
                        };
                        actions.push(Action::Exit(ending, code));
                    }
                    (Aim::Again, _) => {
                        // How the last life was stopped says nothing of the next.
                        self.code = 0;
                        self.prepare(now, self.first_task(), actions);
                    }
                }
            }
            Stage::Rescue { retry } if self.rescue.is_gone() && self.clerk.is_none() => {
                if retry.is_none() && self.settings.host.is_none() {
                    self.rescue.start(now, actions);
                } else {
                    self.prepare(now, retry, actions);
                }
            }
            // Whoever left the shell may come back.
            Stage::Halted { .. } if self.has_halted_shell() && self.rescue.is_gone() => {
                self.rescue.start(now, actions);
            }
            // A host whose old process was in the way, or that a reload brought or
            // took away. Otherwise it restarts by its own rules.
            Stage::Running if self.host.state() == State::Down && self.is_host_due() => {
                self.run(now, actions);
            }
            // Services come and go.
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Halted { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
    }

    fn tick(&mut self, now: Instant, actions: &mut Actions) {
        let before = self.host.state();
        self.host.tick(now, actions);
        self.note_failing(before);
        self.rescue.tick(now, actions);
        self.tick_trial(now, actions);
        match self.stage {
            Stage::Preparing { task, until, .. } if until <= now => {
                actions.push(Action::Abandon(task));
                actions.push(Action::Report(Report::TooLong(task)));
                // Which goes on with the boot, or ends it: there is nothing to settle.
                self.done(now, task, Outcome::Bad(Errno::ETIMEDOUT), actions);
                return;
            }
            // These settle what they begin.
            Stage::Hopeless { until: Some(until) } if until <= now => {
                self.stop(now, Aim::End(Ending::Reboot), Haste::Orderly, actions);
                return;
            }
            Stage::Halted {
                until: Some(until), ..
            } if until <= now => {
                self.leave_halted(now, actions);
                return;
            }
            Stage::Leaving { until, .. } if until <= now => actions.push(Action::Look),
            // Nothing of the stage's own is due.
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Halted { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
        self.settle(now, actions);
    }
}
