//! The child that is at what is kept, or takes a version back: one at a time.
//!
//! What it was sent for may have changed when it is done. So it is remembered which
//! mark it was sent with, and whether its answer still is one.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::time::Instant;
use crate::policy::event::{Action, Actions, Outcome, Report, Task};
use crate::policy::machine::{Machine, Stage};
use crate::policy::request::Haste;
use crate::policy::service::State;
use crate::policy::trial::{Mark, WayBack};

/// How long the mark may take to be written when nothing waits for it but an ending.
const KEEPING: Duration = Duration::from_secs(5);

/// How long the kernel may take to end a child that was killed.
const LETTING_GO: Duration = Duration::from_secs(1);

/// A child at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clerk {
    task: Task,
    /// When it is killed, or given up when it was; none once its answer is certain to
    /// come.
    until: Option<Instant>,
    is_killed: bool,
    /// The mark that it was sent with: what is kept when it is done.
    mark: Option<Mark>,
    /// Whether what it was asked is not what would be asked now.
    is_stale: bool,
}

impl Clerk {
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }

    pub(super) const fn is_stale(&self) -> bool {
        self.is_stale
    }

    pub(super) const fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// How its work ended, if the child ended so.
    pub(super) const fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Bad(_) if self.is_killed => Outcome::Bad(Errno::ETIMEDOUT),
            Outcome::Good | Outcome::Bad(_) => outcome,
        }
    }
}

impl Machine {
    /// The mark that counts as kept.
    #[cfg(test)]
    pub(in crate::policy) const fn kept(&self) -> Option<Mark> {
        self.kept
    }

    /// Whether what was to be kept last could not be.
    #[cfg(test)]
    pub(in crate::policy) const fn is_forgetful(&self) -> bool {
        self.is_forgetful
    }

    pub(super) fn employ(
        &mut self,
        now: Instant,
        task: Task,
        bound: Duration,
        actions: &mut Actions,
    ) {
        self.await_clerk(task, now.after(bound));
        actions.push(Action::Do(task));
    }

    /// Waits for a child that is at work already.
    pub(super) fn await_clerk(&mut self, task: Task, until: Instant) {
        self.clerk = Some(Clerk {
            task,
            until: Some(until),
            is_killed: false,
            mark: self.trial.map(|trial| *trial.mark()),
            is_stale: false,
        });
    }

    /// The child that was at this is done.
    pub(super) fn dismiss(&mut self, task: Task) -> Option<Clerk> {
        self.clerk.take_if(|clerk| clerk.task == task)
    }

    /// What a start was asked for has changed: its answer is none any more.
    pub(super) const fn ask_anew(&mut self) {
        if let Some(clerk) = &mut self.clerk {
            clerk.is_stale = true;
        }
    }

    /// Has the mark kept, when it is not, and nobody is at it. What could not be kept
    /// is not tried again before there is something else to keep, or an ending.
    pub(super) fn keep(&mut self, now: Instant, actions: &mut Actions) {
        let mark = self.trial.map(|trial| *trial.mark());
        let is_news = mark.is_some() && mark != self.kept && mark != self.tried;
        if self.clerk.is_none() && is_news {
            self.employ(now, Task::Remember, KEEPING, actions);
        }
    }

    /// Whether the mark is kept, or as good as: an ending does not wait for ever.
    pub(super) fn is_kept(&mut self, now: Instant, actions: &mut Actions) -> bool {
        self.keep(now, actions);
        self.clerk.is_none()
    }

    /// Everything stops. Nothing under way is waited for long, but a command that takes
    /// the host back has the time that the config gives it: it may be what has asked for
    /// the stop.
    pub(super) fn stop_clerk(&mut self, now: Instant, haste: Haste) {
        self.tried = None;
        let is_command = self
            .settings
            .trial
            .is_some_and(|probation| probation.rules.way_back == WayBack::Command);
        let is_taking_back = self.clerk.is_some_and(|clerk| clerk.task == Task::TakeBack);
        if haste == Haste::AtOnce || !(is_command && is_taking_back) {
            self.hurry_clerk(now.after(KEEPING));
        }
    }

    /// What is under way is killed by then.
    pub(super) fn hurry_clerk(&mut self, by: Instant) {
        if let Some(clerk) = &mut self.clerk
            && !clerk.is_killed
        {
            clerk.until = clerk.until.map(|until| until.min(by));
        }
    }

    /// Kills a child that takes too long; one that the kernel does not let go is given
    /// up.
    pub(super) fn tick_clerk(&mut self, now: Instant, actions: &mut Actions) {
        let Some(clerk) = &mut self.clerk else {
            return;
        };
        if clerk.until.is_none_or(|until| now < until) {
            return;
        }
        let task = clerk.task;
        if clerk.is_killed {
            clerk.until = None;
            actions.push(Action::Abandon(task));
        } else if task.is_keeping() {
            clerk.is_killed = true;
            clerk.until = Some(now.after(LETTING_GO));
            actions.push(Action::Interrupt(task));
            actions.push(Action::Report(Report::TooLong(task)));
        } else {
            // Nothing answers for it.
            self.clerk = None;
            actions.push(Action::Abandon(task));
            actions.push(Action::Report(Report::TooLong(task)));
        }
    }

    /// Takes note of the work that a clerk has done; whether it was a clerk's.
    pub(super) fn clerk_done(
        &mut self,
        now: Instant,
        task: Task,
        outcome: Outcome,
        actions: &mut Actions,
    ) -> bool {
        let Some(clerk) = self.dismiss(task) else {
            return false;
        };
        match task {
            Task::TakeBack => {
                // The host has asked, and is to ask again.
                if let Some(trial) = &mut self.trial {
                    trial.taken_back(outcome == Outcome::Good);
                }
            }
            Task::Remember => self.wrote(clerk.mark(), clerk.outcome(outcome), actions),
            Task::Mount(_) | Task::Directories | Task::Attempt => {}
        }
        self.settle(now, actions);
        if self.stage == Stage::Running && matches!(self.host.state(), State::Up { .. }) {
            // There may be something else to keep since.
            self.keep(now, actions);
        }
        true
    }

    /// This mark was kept, or not.
    pub(super) fn wrote(&mut self, mark: Option<Mark>, outcome: Outcome, actions: &mut Actions) {
        match outcome {
            Outcome::Good => {
                self.kept = mark;
                self.is_forgetful = false;
            }
            Outcome::Bad(errno) => {
                self.kept = None;
                self.tried = mark;
                // It is said once.
                if !core::mem::replace(&mut self.is_forgetful, true) {
                    actions.push(Action::Report(Report::Forgetful(errno)));
                }
            }
        }
    }
}
