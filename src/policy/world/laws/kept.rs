//! What holds of the host's trial and of what is on its disk.

use super::Laws;
use crate::policy::event::{Action, ServiceId, Task};
use crate::policy::machine::Machine;
use crate::policy::service::State;
use crate::policy::trial::Mark;

impl Laws {
    /// What is on the disk when the power goes behind this action.
    pub(super) fn hold_kept(&self, action: Action, machine: &Machine, disk: Option<Mark>) {
        let (Some(trial), false) = (machine.trial(), machine.is_forgetful()) else {
            return;
        };
        let is_attempting = disk.is_some_and(|disk| disk.is_attempting);
        match action {
            Action::Start(ServiceId::Host) => {
                self.hold("a start is kept before it is made", is_attempting);
                let version = disk.map(|disk| disk.version);
                let is_same = version == Some(trial.mark().version);
                self.hold("a start is kept as its version's", is_same);
                let is_halted = disk.is_some_and(|disk| disk.halted.is_some());
                self.hold("no host is started that is halted", !is_halted);
            }
            Action::Do(Task::TakeBack) => {
                let going = disk.and_then(|disk| disk.going);
                self.hold("a take-back is kept before it is made", going.is_some());
                let is_first = going.is_some_and(|going| !trial.mark().condemned.contains(going));
                self.hold("a version is taken back once", is_first);
                let is_good = going.is_some_and(|going| trial.mark().good.contains(going));
                self.hold("no good version is taken back", !is_good);
            }
            // The first time: one that can't be killed may end later.
            Action::Leave(..) | Action::Exit(..)
                if machine.host().state() == State::Down && !self.has_left =>
            {
                self.hold("an orderly end is no failure", !is_attempting);
            }
            _ => {}
        }
    }

    /// When nobody is at what is kept.
    pub(super) fn hold_known(&self, machine: &Machine, disk: Option<Mark>) {
        if self.task.is_none() {
            let is_true = machine.kept().is_none_or(|kept| disk == Some(kept));
            self.hold("what counts as kept is on the disk", is_true);
        }
    }
}
