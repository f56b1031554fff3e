//! The machine as a value: what happened goes in, what to do comes out.
//!
//! ```text
//!   Booting ──▶ Mounting ──▶ Running ◀──────┐
//!      │           │ │          │           │ every service is gone,
//!      │           ▼ │          │           │ to start again
//!      │        Rescue │        │           │
//!      └───────────┴───┴────────┴──▶ Stopping ──▶ Leaving ──▶ (off)
//! ```
//!
//! An ending can be asked for at any moment, and nothing is started after it.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::backoff::Backoff;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Action, Actions, Event, Outcome, Report, ServiceId, Task};
use crate::policy::request::{self, Haste, Presses, Request};
use crate::policy::service::{Restart, Rules, Service, State};
use crate::policy::settings::{Hopeless, Role, Settings, Shell};

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

/// How long services have left when the same ending is asked for a second time.
const HURRIED: Duration = Duration::from_secs(2);

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
}

impl Machine {
    /// A machine before its boot.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            stage: Stage::Booting,
            host: Service::new(ServiceId::Host, settings.host.unwrap_or(SHELL)),
            rescue: Service::new(ServiceId::Rescue, SHELL),
            presses: Presses::default(),
            code: 0,
        }
    }

    /// Takes what happened at `now`, and says what to do. Never blocks, and never
    /// asks for more actions than fit.
    pub fn handle(&mut self, now: Instant, event: Event, actions: &mut Actions) {
        match event {
            Event::Booted => self.booted(now, actions),
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
            Event::Done(task, outcome) => self.done(now, task, outcome, actions),
            Event::LeavingAt(step) => self.leaving_at(now, step, actions),
            Event::LeaverEnded(step) => self.leaver_ended(now, step, actions),
            Event::Reloaded(settings) => self.reloaded(now, settings, actions),
        }
    }

    /// When to come back with [`Event::Tick`] if nothing happens before. Changes
    /// only by [`Machine::handle`].
    pub fn deadline(&self) -> Option<Instant> {
        let stage = match self.stage {
            Stage::Preparing { until, .. } | Stage::Leaving { until, .. } => Some(until),
            Stage::Hopeless { until } => until,
            Stage::Booting | Stage::Running | Stage::Rescue { .. } | Stage::Stopping { .. } => None,
        };
        [stage, self.host.deadline(), self.rescue.deadline()]
            .into_iter()
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

    fn booted(&mut self, now: Instant, actions: &mut Actions) {
        match self.stage {
            Stage::Booting if self.settings.facts.shell == Shell::First => {
                self.rescue(now, self.first_task(), actions);
            }
            Stage::Booting => self.prepare(now, self.first_task(), actions),
            // An ending was asked for before the boot was done; or it is said
            // twice.
            Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
    }

    /// Goes on with this part of the boot; with none left, to the host.
    fn prepare(&mut self, now: Instant, task: Option<Task>, actions: &mut Actions) {
        match task {
            Some(task) => {
                actions.push(Action::Do(task));
                self.stage = Stage::Preparing {
                    task,
                    until: now.after(self.settings.mount_bound),
                };
            }
            None => self.run(now, actions),
        }
    }

    fn run(&mut self, now: Instant, actions: &mut Actions) {
        if self.settings.host.is_none() && self.settings.facts.role == Role::Machine {
            self.rescue(now, None, actions);
            return;
        }
        self.stage = Stage::Running;
        if self.settings.host.is_some() {
            self.host.start(now, actions);
        }
    }

    fn first_task(&self) -> Option<Task> {
        self.task_from(0)
    }

    /// The mount with this number, or what comes after the last.
    fn task_from(&self, mount: u8) -> Option<Task> {
        if self.settings.facts.role == Role::Container {
            return None;
        }
        if mount < self.settings.mounts {
            return Some(Task::Mount(mount));
        }
        self.settings.directories.then_some(Task::Directories)
    }

    fn done(&mut self, now: Instant, task: Task, outcome: Outcome, actions: &mut Actions) {
        match self.stage {
            Stage::Preparing { task: awaited, .. } if awaited == task => {
                let required = match task {
                    Task::Mount(mount) => self.settings.is_required(mount),
                    Task::Directories => false,
                };
                match outcome {
                    Outcome::Bad(_) if required => self.rescue(now, Some(task), actions),
                    Outcome::Good | Outcome::Bad(_) => {
                        let next = match task {
                            Task::Mount(mount) => self.task_from(mount.saturating_add(1)),
                            Task::Directories => None,
                        };
                        self.prepare(now, next, actions);
                    }
                }
            }
            // Work that was given up, or abandoned for an ending, ends late.
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
    }

    /// Gives a person a shell; without one, counts down.
    fn rescue(&mut self, now: Instant, retry: Option<Task>, actions: &mut Actions) {
        actions.push(Action::Report(Report::Rescue));
        match self.settings.facts.shell {
            Shell::First | Shell::Spare => {
                self.stage = Stage::Rescue { retry };
                self.rescue.start(now, actions);
            }
            Shell::Missing => {
                actions.push(Action::Report(Report::Hopeless));
                let until = match self.settings.facts.hopeless {
                    Hopeless::Stay => None,
                    Hopeless::RestartAfter(wait) => Some(now.after(wait)),
                };
                self.stage = Stage::Hopeless { until };
            }
        }
    }

    fn exited(&mut self, now: Instant, id: ServiceId, exit: Exit, actions: &mut Actions) {
        if id == ServiceId::Host {
            self.note_code(exit);
        }
        self.service(id).exited(now, exit, actions);
    }

    /// Keeps the exit code that a container ends with: a host that had to be
    /// killed after a stop counts as killed.
    fn note_code(&mut self, exit: Exit) {
        let killed = matches!(self.host.state(), State::Killed { .. });
        if killed && matches!(self.stage, Stage::Stopping { .. }) {
            self.code = exit.shell_code();
        }
    }

    fn signaled(&mut self, now: Instant, signal: Signal, actions: &mut Actions) {
        if let Some(request) = request::of_signal(signal, &self.settings.signals) {
            self.asked(now, request, actions);
        }
        if signal == Signal::INT && self.presses.count(now) == Haste::AtOnce {
            self.hurry(now, Haste::AtOnce, actions);
        }
    }

    fn asked(&mut self, now: Instant, request: Request, actions: &mut Actions) {
        match request {
            Request::Reload => actions.push(Action::Reload),
            Request::Verbosity(verbosity) => actions.push(Action::SetVerbosity(verbosity)),
            Request::End(ending, haste) => self.stop(now, Aim::End(ending), haste, actions),
            Request::Again(haste) => self.stop(now, Aim::Again, haste, actions),
        }
    }

    fn stop(&mut self, now: Instant, aim: Aim, haste: Haste, actions: &mut Actions) {
        match self.stage {
            Stage::Preparing { task, .. } => {
                actions.push(Action::Abandon(task));
                self.begin_stop(now, aim, haste, actions);
            }
            Stage::Booting | Stage::Running | Stage::Rescue { .. } | Stage::Hopeless { .. } => {
                self.begin_stop(now, aim, haste, actions);
            }
            Stage::Stopping {
                aim: current,
                asked,
            } => {
                let outranks = matches!(
                    (aim, current),
                    (Aim::End(Ending::PowerOff), _) | (Aim::End(_), Aim::Again)
                ) && aim != current;
                if aim != current && !outranks {
                    actions.push(Action::Report(Report::Refused(as_request(aim, haste))));
                    return;
                }
                if outranks {
                    announce(aim, actions);
                }
                self.stage = Stage::Stopping { aim, asked };
                // Asked for something else, services keep their time, unless
                // there is none to be had.
                if aim == current || haste == Haste::AtOnce {
                    self.hurry(now, haste, actions);
                }
            }
            Stage::Leaving { ending, .. } => {
                if aim != Aim::End(ending) {
                    actions.push(Action::Report(Report::Refused(as_request(aim, haste))));
                }
            }
        }
    }

    fn begin_stop(&mut self, now: Instant, aim: Aim, haste: Haste, actions: &mut Actions) {
        announce(aim, actions);
        self.stage = Stage::Stopping { aim, asked: 1 };
        self.host.stop(now, haste, actions);
        self.rescue.stop(now, haste, actions);
        self.settle(now, actions);
    }

    /// The same was asked again: less time, or none.
    fn hurry(&mut self, now: Instant, haste: Haste, actions: &mut Actions) {
        let Stage::Stopping { aim, asked } = self.stage else {
            return;
        };
        let asked = asked.saturating_add(1);
        self.stage = Stage::Stopping { aim, asked };
        actions.push(Action::Report(Report::Hurried));
        let kill_at = match haste {
            Haste::Orderly if asked == 2 => now.after(HURRIED),
            Haste::Orderly | Haste::AtOnce => now,
        };
        self.host.hurry(now, kill_at, actions);
        self.rescue.hurry(now, kill_at, actions);
        self.settle(now, actions);
    }

    /// Goes on when what was waited for is gone.
    fn settle(&mut self, now: Instant, actions: &mut Actions) {
        match self.stage {
            Stage::Stopping { aim, .. } if self.host.is_gone() && self.rescue.is_gone() => {
                match (aim, self.settings.facts.role) {
                    (Aim::End(ending), Role::Machine) => {
                        self.leave(now, ending, Step::Kill, actions);
                    }
                    // The kernel kills the rest with the namespace, what was
                    // mounted goes with it, and the disks are the host's.
                    (Aim::End(ending), Role::Container) => {
                        actions.push(Action::Exit(ending, self.code));
                    }
                    (Aim::Again, _) => self.prepare(now, self.first_task(), actions),
                }
            }
            Stage::Rescue { retry } if self.rescue.is_gone() => {
                if retry.is_none() && self.settings.host.is_none() {
                    self.rescue.start(now, actions);
                } else {
                    self.prepare(now, retry, actions);
                }
            }
            // Services come and go.
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
    }

    fn leave(&mut self, now: Instant, ending: Ending, step: Step, actions: &mut Actions) {
        actions.push(Action::Leave(ending, step));
        self.stage = Stage::Leaving {
            ending,
            step,
            until: now.after(step.bound(&self.settings)),
        };
    }

    fn leaving_at(&mut self, now: Instant, seen: Step, actions: &mut Actions) {
        match self.stage {
            Stage::Leaving { ending, step, .. } if seen > step => {
                self.stage = Stage::Leaving {
                    ending,
                    step: seen,
                    until: now.after(seen.bound(&self.settings)),
                };
            }
            Stage::Leaving { ending, step, .. } => {
                actions.push(Action::Report(Report::StepTooLong(step)));
                self.leave_from_next(now, ending, step, actions);
            }
            // Nobody has left yet.
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. } => {}
        }
    }

    fn leaver_ended(&mut self, now: Instant, step: Step, actions: &mut Actions) {
        match self.stage {
            // The child that was given up before ends late: it was at an earlier
            // step than the one that is under way.
            Stage::Leaving { step: current, .. } if step < current => {}
            Stage::Leaving { ending, .. } => self.leave_from_next(now, ending, step, actions),
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. } => {}
        }
    }

    /// Goes on behind a step; behind the last, asks the kernel once more.
    fn leave_from_next(&mut self, now: Instant, ending: Ending, step: Step, actions: &mut Actions) {
        self.leave(now, ending, step.next().unwrap_or(Step::Reboot), actions);
    }

    fn reloaded(&mut self, now: Instant, settings: Settings, actions: &mut Actions) {
        let had_host = self.settings.host.is_some();
        self.settings = settings;
        if let Some(rules) = settings.host {
            self.host.set_rules(rules);
            if !had_host && self.stage == Stage::Running {
                self.host.start(now, actions);
            }
        }
    }

    fn tick(&mut self, now: Instant, actions: &mut Actions) {
        self.host.tick(now, actions);
        self.rescue.tick(now, actions);
        match self.stage {
            Stage::Preparing { task, until } if until <= now => {
                actions.push(Action::Abandon(task));
                actions.push(Action::Report(Report::TooLong(task)));
                self.done(now, task, Outcome::Bad(Errno::ETIMEDOUT), actions);
            }
            Stage::Hopeless { until: Some(until) } if until <= now => {
                self.stop(now, Aim::End(Ending::Reboot), Haste::Orderly, actions);
            }
            Stage::Leaving { until, .. } if until <= now => actions.push(Action::Look),
            // Nothing of the stage's own is due.
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
        self.settle(now, actions);
    }
}

fn announce(aim: Aim, actions: &mut Actions) {
    actions.push(Action::Report(match aim {
        Aim::End(ending) => Report::Ending(ending),
        Aim::Again => Report::Again,
    }));
}

const fn as_request(aim: Aim, haste: Haste) -> Request {
    match aim {
        Aim::End(ending) => Request::End(ending, haste),
        Aim::Again => Request::Again(haste),
    }
}
