//! From the first step to the host that runs, or to a person who is needed.

use crate::base::time::Instant;
use crate::policy::ending::Ending;
use crate::policy::event::{Action, Actions, Outcome, Report, Task};
use crate::policy::machine::{Aim, FAULT, Machine, Stage};
use crate::policy::request::Haste;
use crate::policy::service::{Restart, State};
use crate::policy::settings::{Hopeless, Role, Settings, Shell};

impl Machine {
    pub(super) fn booted(&mut self, now: Instant, actions: &mut Actions) {
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
            | Stage::Halted { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
    }

    /// Goes on with this part of the boot; with none left, to the host.
    pub(super) fn prepare(&mut self, now: Instant, task: Option<Task>, actions: &mut Actions) {
        match task {
            Some(task) => {
                actions.push(Action::Do(task));
                self.stage = Stage::Preparing {
                    task,
                    until: now.after(self.settings.mount_bound),
                    is_current: true,
                };
            }
            None => self.run(now, actions),
        }
    }

    pub(super) fn run(&mut self, now: Instant, actions: &mut Actions) {
        if self.settings.host.is_none() && self.settings.facts.role == Role::Machine {
            self.rescue(now, None, actions);
            return;
        }
        self.stage = Stage::Running;
        if self.settings.host.is_some() {
            self.host.start(now, actions);
        }
    }

    pub(super) fn first_task(&self) -> Option<Task> {
        self.task_from(0)
    }

    /// The mount with this number, or what comes after the last.
    pub(super) fn task_from(&self, mount: u8) -> Option<Task> {
        if mount < self.settings.mounts {
            return Some(Task::Mount(mount));
        }
        self.settings.directories.then_some(Task::Directories)
    }

    pub(super) fn done(
        &mut self,
        now: Instant,
        task: Task,
        outcome: Outcome,
        actions: &mut Actions,
    ) {
        if self.clerk_done(now, task, outcome, actions) {
            return;
        }
        match self.stage {
            // Whatever was done belongs to a config that is gone. What of it is
            // mounted stays, and is not mounted twice.
            Stage::Preparing {
                task: awaited,
                is_current: false,
                ..
            } if awaited == task => self.prepare(now, self.first_task(), actions),
            Stage::Preparing { task: awaited, .. } if awaited == task => {
                let required = match task {
                    Task::Mount(mount) => self.settings.is_required(mount),
                    Task::Directories | Task::Attempt | Task::Remember | Task::TakeBack => false,
                };
                match outcome {
                    Outcome::Bad(_) if required => self.rescue(now, Some(task), actions),
                    Outcome::Good | Outcome::Bad(_) => {
                        let next = match task {
                            Task::Mount(mount) => self.task_from(mount.saturating_add(1)),
                            Task::Directories | Task::Attempt | Task::Remember | Task::TakeBack => {
                                None
                            }
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
            | Stage::Halted { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
    }

    /// Gives a person a shell; without one, counts down. A container ends: whoever
    /// runs it is the one to know, and to try again.
    pub(super) fn rescue(&mut self, now: Instant, retry: Option<Task>, actions: &mut Actions) {
        if self.settings.facts.role == Role::Container {
            self.code = FAULT;
            self.begin_stop(now, Aim::End(Ending::PowerOff), Haste::Orderly, actions);
            return;
        }
        actions.push(Action::Report(Report::Rescue));
        match self.settings.facts.shell {
            Shell::First | Shell::Spare if self.rescue.state() != State::Stuck => {
                self.stage = Stage::Rescue { retry };
                self.rescue.start(now, actions);
            }
            Shell::First | Shell::Spare | Shell::Missing => {
                actions.push(Action::Report(Report::Hopeless));
                let until = match self.settings.facts.hopeless {
                    Hopeless::Stay => None,
                    Hopeless::RestartAfter(wait) => Some(now.after(wait)),
                };
                self.stage = Stage::Hopeless { until };
            }
        }
    }

    pub(super) fn reloaded(&mut self, now: Instant, settings: Settings, actions: &mut Actions) {
        self.settings = settings;
        self.reload_trial(now);
        match settings.host {
            Some(rules) => self.host.set_rules(rules),
            None => self.host.retire(),
        }
        let first = self.first_task();
        match &mut self.stage {
            Stage::Preparing { is_current, .. } => *is_current = false,
            // The number of the mount that failed may mean another now, and what
            // comes before it may be new.
            Stage::Rescue { retry } => *retry = first,
            // What is mounted is mounted; the rest counts from the next boot.
            Stage::Booting
            | Stage::Running
            | Stage::Hopeless { .. }
            | Stage::Halted { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {}
        }
        self.settle(now, actions);
    }

    /// Whether a host that is down is to be started, or missed.
    pub(super) fn is_host_due(&self) -> bool {
        self.settings
            .host
            .is_none_or(|rules| rules.restart == Restart::Always)
    }
}
