//! The last steps of the machine, in order, and how long each may take.
//!
//! A child of PID 1 takes them one after the other, since any of them may block
//! for ever on a dead disk. When one takes too long, that child is given up and
//! another goes on with the next step: the ending that was asked for happens.

use core::time::Duration;

use crate::policy::settings::Settings;

/// How the machine ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The processors stop, the power stays on.
    Halt,
    /// The power goes off.
    PowerOff,
    /// It restarts.
    Reboot,
    /// The kernel that was loaded starts; without one, it restarts.
    Kexec,
}

/// The steps after every service is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Step {
    /// Every process but PID 1 is killed, also those of no service.
    Kill = 1,
    /// Swap is given back, filesystems are unmounted, the deepest first.
    Unmount = 2,
    /// What is left is written (`sync(2)`).
    Sync = 3,
    /// `reboot(2)`.
    Reboot = 4,
    /// The kernel is asked by `sysrq`, which asks no driver.
    Force = 5,
}

/// Every step, in order.
pub const STEPS: [Step; 5] = [
    Step::Kill,
    Step::Unmount,
    Step::Sync,
    Step::Reboot,
    Step::Force,
];

/// How long the kernel may take to kill everything.
const KILL: Duration = Duration::from_secs(5);

/// How long the drivers may take to shut their devices down.
const REBOOT: Duration = Duration::from_secs(60);

impl Step {
    /// The step behind this one; none behind the last.
    pub fn next(self) -> Option<Self> {
        STEPS.iter().copied().find(|step| *step > self)
    }

    /// The step with this number, as the child shows it.
    pub fn from_number(number: u32) -> Option<Self> {
        STEPS.iter().copied().find(|step| step.number() == number)
    }

    /// The number that a child shows while it is at this step; never 0.
    pub const fn number(self) -> u32 {
        match self {
            Self::Kill => 1,
            Self::Unmount => 2,
            Self::Sync => 3,
            Self::Reboot => 4,
            Self::Force => 5,
        }
    }

    /// How long the step may take.
    pub const fn bound(self, settings: &Settings) -> Duration {
        match self {
            Self::Kill => KILL,
            Self::Unmount => settings.shutdown.unmount,
            Self::Sync => settings.shutdown.sync,
            Self::Reboot | Self::Force => REBOOT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_follow_each_other_and_are_read_back() {
        let mut step = Step::Kill;
        for expected in STEPS {
            assert_eq!(step, expected);
            assert_eq!(Step::from_number(step.number()), Some(step));
            if let Some(next) = step.next() {
                step = next;
            }
        }

        assert_eq!(Step::Force.next(), None);
        assert_eq!(Step::from_number(0), None);
    }
}
