//! The host's trial in the machine: asked before each start, told of each end, kept.

use core::time::Duration;

use crate::base::exit::Exit;
use crate::base::time::Instant;
use crate::policy::ending::Ending;
use crate::policy::event::{Action, Actions, Found, Outcome, Report, Task};
use crate::policy::machine::{Aim, HALTED, Machine, Stage};
use crate::policy::request::{Haste, Request};
use crate::policy::service::State;
use crate::policy::settings::{Role, Shell};
use crate::policy::trial::{Halt, Kept, Mark, OnHalt, Trial, Verdict};

/// How long a start that was asked for waits for the answer: the time for a slow disk
/// to appear, and to write a few blocks.
const ASKED: Duration = Duration::from_secs(10);

/// How long a person has to look before the machine restarts or powers off for a host
/// that is halted.
const LOOKING: Duration = Duration::from_secs(10);

/// An uptime below which a clean exit was soon.
const SOON: Duration = Duration::from_secs(10);

impl Machine {
    /// The host's trial, if there is one.
    pub const fn trial(&self) -> Option<&Trial> {
        self.trial.as_ref()
    }

    /// The trial, and what was kept of it if that is news: it goes on with both. None
    /// when the host is not on trial.
    pub fn trial_with(&self, kept: Option<Kept>) -> Option<Trial> {
        let rules = self.settings.trial?.rules;
        Some(match (self.trial, kept) {
            (Some(trial), None) => trial,
            (Some(trial), Some(kept)) => trial.with(kept),
            (None, kept) => {
                let mut trial = Trial::new(rules, kept.unwrap_or_default());
                // What this life has started before it had a trial is over.
                trial.stopped();
                trial
            }
        })
    }

    /// The host went on while host-init was executed again.
    pub(super) fn resume_trial(&mut self, mark: Option<Mark>) {
        if let (Some(mark), Some(probation)) = (mark, self.settings.trial) {
            let is_own = true;
            self.trial = Some(Trial::new(probation.rules, Kept { mark, is_own }));
            self.await_health();
        }
    }

    /// Asks what the host that is to be started would be, when nobody else is at what
    /// is kept.
    pub(super) fn ask(&mut self, now: Instant, actions: &mut Actions) {
        if self.host.state() == State::Asking && self.clerk.is_none() {
            self.employ(now, Task::Attempt, ASKED, actions);
        }
    }

    /// What the start that the host asked for would be of.
    pub(super) fn attempted(
        &mut self,
        now: Instant,
        found: Found,
        outcome: Outcome,
        actions: &mut Actions,
    ) {
        let Some(clerk) = self.dismiss(Task::Attempt) else {
            return;
        };
        self.trial = self.trial_with(found.kept);
        let is_asking = self.host.state() == State::Asking;
        let (Some(trial), Some(probation)) = (&mut self.trial, self.settings.trial) else {
            // A reload took the trial away in between.
            self.host.grant(now, actions);
            self.settle(now, actions);
            return;
        };
        if !is_asking || clerk.is_stale() {
            // What is kept is the answer to another question.
            self.kept = None;
            self.settle(now, actions);
            if !is_asking && self.stage == Stage::Running {
                self.keep(now, actions);
            }
            return;
        }
        let verdict = trial.ask(found.version);
        let mark = *trial.mark();
        self.wrote(Some(mark), clerk.outcome(outcome), actions);
        match verdict {
            Verdict::Start => {
                self.host.grant(now, actions);
                self.await_health();
            }
            Verdict::TakeBack => {
                actions.push(Action::Report(Report::TakingBack));
                self.employ(now, Task::TakeBack, probation.take_back, actions);
            }
            Verdict::Halt(halt) => {
                self.host.deny();
                self.halt(now, halt, actions);
            }
        }
    }

    /// The host ended: what follows for its trial.
    pub(super) fn note_end(&mut self, now: Instant, exit: Exit) {
        self.healthy_at = None;
        let Some(trial) = &mut self.trial else {
            return;
        };
        match self.host.state() {
            State::Up { since, .. } if exit.is_clean() => trial.ended(now.since(since) < SOON),
            State::Up { .. } => trial.failed(),
            // That it fails was counted when it began to.
            State::Failing { .. }
            | State::Stopping { .. }
            | State::Killed { .. }
            | State::Stuck => trial.stopped(),
            // There is nothing that could have ended.
            State::Down | State::Asking | State::Sweeping { .. } | State::Waiting { .. } => {}
        }
    }

    /// The time after which the host is healthy begins when it is ready.
    pub(super) fn await_health(&mut self) {
        if let (Some(_), Some(probation), Some(since)) =
            (&self.trial, self.settings.trial, self.host.ready_since())
        {
            self.healthy_at = Some(since.after(probation.healthy_after));
        }
    }

    /// A host that does not do what it must has failed, whatever ends it then: it is
    /// not healthy for the time that this takes.
    pub(super) fn note_failing(&mut self, before: State) {
        let was_failing = matches!(before, State::Failing { .. });
        if !was_failing && matches!(self.host.state(), State::Failing { .. }) {
            self.healthy_at = None;
            if let Some(trial) = &mut self.trial {
                trial.failed();
            }
        }
    }

    pub(super) fn tick_trial(&mut self, now: Instant, actions: &mut Actions) {
        self.tick_clerk(now, actions);
        if self.healthy_at.is_some_and(|at| at <= now) {
            self.healthy_at = None;
            if let Some(trial) = &mut self.trial {
                let before = *trial.mark();
                trial.healthy();
                if before != *trial.mark() {
                    actions.push(Action::Report(Report::Healthy));
                }
            }
            self.keep(now, actions);
        }
    }

    /// Who knows says that the host is healthy.
    pub(super) fn confirm(&mut self, now: Instant, actions: &mut Actions) {
        let is_up = matches!(self.host.state(), State::Up { .. });
        if is_up && self.trial.is_some() {
            self.healthy_at = Some(now);
            self.tick_trial(now, actions);
        } else {
            actions.push(Action::Report(Report::Refused(Request::Confirm)));
        }
    }

    /// A person has seen to it: what was is forgotten, and the host gets another
    /// round.
    pub(super) fn clear(&mut self, now: Instant, actions: &mut Actions) {
        let is_halted = matches!(self.stage, Stage::Halted { .. });
        let is_leaving = matches!(self.stage, Stage::Leaving { .. });
        match &mut self.trial {
            Some(trial) if !is_leaving => trial.clear(),
            // A reload took away what it was halted by.
            None if is_halted => {}
            // What is forgotten now would be known again after the ending.
            Some(_) | None => {
                actions.push(Action::Report(Report::Refused(Request::Clear)));
                return;
            }
        }
        self.ask_anew();
        actions.push(Action::Report(Report::Cleared));
        if is_halted {
            self.run(now, actions);
        } else if self.stage == Stage::Running {
            // Before a boot is done, what it is kept on may not be mounted: then the next
            // start keeps it, or the ending.
            self.keep(now, actions);
        }
    }

    /// The host is to be started anew, as whatever is current then. What it was is no
    /// failure; one that is halted is tried again, since somebody wants it.
    pub(super) fn restart(&mut self, now: Instant, actions: &mut Actions) {
        match self.stage {
            Stage::Running if self.settings.host.is_some() => {
                self.ask_anew();
                self.host.stop(now, Haste::Orderly, actions);
                self.settle(now, actions);
            }
            Stage::Halted { .. } => {
                if let Some(trial) = &mut self.trial {
                    trial.retry();
                }
                self.run(now, actions);
            }
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => {
                actions.push(Action::Report(Report::Refused(Request::Restart)));
            }
        }
    }

    /// Whether a person is offered a shell when the host is halted.
    pub(super) fn has_halted_shell(&self) -> bool {
        let facts = &self.settings.facts;
        self.on_halt() == OnHalt::Shell
            && facts.role == Role::Machine
            && facts.shell != Shell::Missing
    }

    fn on_halt(&self) -> OnHalt {
        match self.settings.trial {
            Some(probation) => probation.rules.on_halt,
            None => OnHalt::Stay,
        }
    }

    /// Everything stops: a host that is told to end is not healthy for it.
    pub(super) fn stop_trial(&mut self, now: Instant, haste: Haste) {
        self.healthy_at = None;
        self.stop_clerk(now, haste);
    }

    /// The rules may be others.
    pub(super) fn reload_trial(&mut self, now: Instant) {
        self.ask_anew();
        match (&mut self.trial, self.settings.trial) {
            (Some(trial), Some(probation)) => trial.set_rules(probation.rules),
            (Some(_), None) => {
                self.trial = None;
                self.kept = None;
                self.healthy_at = None;
            }
            // It begins with the next start, by which what was kept is known.
            (None, Some(_) | None) => {}
        }
        if let Stage::Halted { halt, .. } = self.stage {
            let until = self.halted_until(now);
            self.stage = Stage::Halted { halt, until };
        }
    }

    /// The machine ends because the host is halted.
    pub(super) fn leave_halted(&mut self, now: Instant, actions: &mut Actions) {
        let ending = match self.on_halt() {
            OnHalt::PowerOff | OnHalt::Exit => {
                self.code = HALTED;
                Ending::PowerOff
            }
            OnHalt::Reboot | OnHalt::Stay | OnHalt::Shell => Ending::Reboot,
        };
        self.stop(now, Aim::End(ending), Haste::Orderly, actions);
    }

    fn halt(&mut self, now: Instant, halt: Halt, actions: &mut Actions) {
        let until = self.halted_until(now);
        self.stage = Stage::Halted { halt, until };
        actions.push(Action::Report(Report::Halted(halt)));
        self.settle(now, actions);
    }

    /// When the machine ends because the host is halted, if it does.
    fn halted_until(&self, now: Instant) -> Option<Instant> {
        match (self.on_halt(), self.settings.facts.role) {
            (OnHalt::Reboot, _) if self.trial.is_some_and(|trial| trial.restarts()) => {
                Some(now.after(LOOKING))
            }
            // Nobody looks at a container but by what it ends with.
            (OnHalt::PowerOff | OnHalt::Exit, Role::Container) => Some(now),
            (OnHalt::PowerOff | OnHalt::Exit, Role::Machine) => Some(now.after(LOOKING)),
            (OnHalt::Reboot | OnHalt::Stay | OnHalt::Shell, _) => None,
        }
    }
}
