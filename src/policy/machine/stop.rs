//! From the first request to the last step: what stops, and what it may take.

use core::time::Duration;

use crate::base::time::Instant;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Action, Actions, Report};
use crate::policy::machine::{Aim, Machine, Stage};
use crate::policy::request::{Haste, Request};

/// How long services have left when the same ending is asked for a second time.
const HURRIED: Duration = Duration::from_secs(2);

/// How long the part of the boot that is under way may take to be done.
const FINISHING: Duration = Duration::from_secs(2);

impl Machine {
    pub(super) fn stop(&mut self, now: Instant, aim: Aim, haste: Haste, actions: &mut Actions) {
        match self.stage {
            Stage::Preparing { task, .. } => {
                match haste {
                    // A mount that is killed half-way leaves its disk as if the power
                    // had gone.
                    Haste::Orderly if self.clerk.is_none() => {
                        self.await_clerk(task, now.after(FINISHING));
                    }
                    Haste::Orderly | Haste::AtOnce => actions.push(Action::Abandon(task)),
                }
                self.begin_stop(now, aim, haste, actions);
            }
            Stage::Booting
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Halted { .. } => {
                self.begin_stop(now, aim, haste, actions);
            }
            Stage::Stopping { aim: current, .. } => {
                if aim == current {
                    self.hurry(now, haste, actions);
                } else if aim.outranks(current) {
                    announce(aim, actions);
                    // Asked for something else, services keep their time, unless
                    // there is none to be had.
                    self.stage = Stage::Stopping { aim, asked: 1 };
                    if haste == Haste::AtOnce {
                        self.hurry(now, haste, actions);
                    }
                } else {
                    refuse(aim, haste, actions);
                }
            }
            Stage::Leaving { ending, step, .. } => match aim {
                Aim::End(same) if same == ending => {}
                // Until the kernel was asked, another child can ask for something
                // else. What is unmounted and written already costs it no time.
                Aim::End(other) if aim.outranks(Aim::End(ending)) && step < Step::Reboot => {
                    announce(aim, actions);
                    self.leave(now, other, step, actions);
                }
                Aim::End(_) | Aim::Again => refuse(aim, haste, actions),
            },
        }
    }

    pub(super) fn begin_stop(
        &mut self,
        now: Instant,
        aim: Aim,
        haste: Haste,
        actions: &mut Actions,
    ) {
        announce(aim, actions);
        self.stage = Stage::Stopping { aim, asked: 1 };
        self.stop_trial(now, haste);
        self.host.stop(now, haste, actions);
        self.rescue.stop(now, haste, actions);
        self.settle(now, actions);
    }

    /// The same was asked again: less time, or none.
    pub(super) fn hurry(&mut self, now: Instant, haste: Haste, actions: &mut Actions) {
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
        self.hurry_clerk(kill_at);
        self.settle(now, actions);
    }

    /// Whether an ending was asked for; a soft reboot is none.
    pub(super) const fn is_ending(&self) -> bool {
        match self.stage {
            Stage::Stopping { aim, .. } => matches!(aim, Aim::End(_)),
            Stage::Leaving { .. } => true,
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Halted { .. } => false,
        }
    }

    pub(super) fn leave(
        &mut self,
        now: Instant,
        ending: Ending,
        step: Step,
        actions: &mut Actions,
    ) {
        actions.push(Action::Leave(ending, step));
        self.stage = Stage::Leaving {
            ending,
            step,
            until: now.after(step.bound(&self.settings)),
        };
    }

    pub(super) fn leaving_at(&mut self, now: Instant, seen: Step, actions: &mut Actions) {
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
            | Stage::Halted { .. }
            | Stage::Stopping { .. } => {}
        }
    }

    pub(super) fn leaver_ended(&mut self, now: Instant, step: Step, actions: &mut Actions) {
        match self.stage {
            // The child that was given up before ends late: it was at an earlier
            // step than the one that is under way.
            Stage::Leaving { step: current, .. } if step < current => {}
            // Every step was taken, and the machine is still there. The kernel gets
            // the time of the last step before it is asked again: asking at once
            // would never stop.
            Stage::Leaving { step: current, .. } if step.next().is_none() && step == current => {}
            Stage::Leaving { ending, .. } if step.next().is_none() => {
                self.stage = Stage::Leaving {
                    ending,
                    step,
                    until: now.after(step.bound(&self.settings)),
                };
            }
            Stage::Leaving { ending, .. } => self.leave_from_next(now, ending, step, actions),
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Running
            | Stage::Rescue { .. }
            | Stage::Hopeless { .. }
            | Stage::Halted { .. }
            | Stage::Stopping { .. } => {}
        }
    }

    /// Goes on behind a step; behind the last, asks the kernel once more.
    fn leave_from_next(&mut self, now: Instant, ending: Ending, step: Step, actions: &mut Actions) {
        self.leave(now, ending, step.next().unwrap_or(Step::Reboot), actions);
    }
}

impl Aim {
    /// Whether this replaces another that is under way: a power-off replaces every
    /// ending, and any ending replaces a soft reboot.
    const fn outranks(self, other: Self) -> bool {
        match (self, other) {
            (Self::End(_), Self::Again) | (Self::End(Ending::PowerOff), Self::End(_)) => true,
            (Self::End(Ending::Halt | Ending::Reboot | Ending::Kexec), Self::End(_))
            | (Self::Again, _) => false,
        }
    }
}

fn announce(aim: Aim, actions: &mut Actions) {
    actions.push(Action::Report(match aim {
        Aim::End(ending) => Report::Ending(ending),
        Aim::Again => Report::Again,
    }));
}

fn refuse(aim: Aim, haste: Haste, actions: &mut Actions) {
    actions.push(Action::Report(Report::Refused(match aim {
        Aim::End(ending) => Request::End(ending, haste),
        Aim::Again => Request::Again(haste),
    })));
}
