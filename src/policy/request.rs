//! What a signal asks host-init for: one table for each kind of signal.

use crate::base::limits;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::config::{Asked, Signals};
use crate::policy::ending::Ending;

/// What host-init is asked to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// End the machine, or the container.
    End(Ending, Haste),
    /// Stop everything and start everything again.
    Again(Haste),
    /// Read the config again.
    Reload,
    /// Log everything, or what the config says.
    Verbosity(Verbosity),
    /// Become the program at host-init's own path again; nothing else notices.
    Reexecute,
    /// The host that runs is healthy, says who knows.
    Confirm,
    /// Forget the host's failures, and start it when it was halted for them.
    Clear,
    /// Have the host end, and start what is current then.
    Restart,
}

/// How much patience the one who asks has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Haste {
    /// Services get their grace.
    Orderly,
    /// Services are killed; what is written is still synced.
    AtOnce,
}

/// How much is logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verbosity {
    /// Each decision.
    Debug,
    /// What the config says.
    Configured,
}

/// Counts Ctrl-Alt-Del: a person who presses it again and again has no patience
/// left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Presses {
    since: Instant,
    count: u8,
}

impl Presses {
    /// Counts one more; how much patience is left.
    pub fn count(&mut self, now: Instant) -> Haste {
        if now.since(self.since) > limits::IMPATIENT_WINDOW {
            *self = Self {
                since: now,
                count: 0,
            };
        }
        self.count = self.count.saturating_add(1);
        if self.count > limits::IMPATIENT_PRESSES {
            Haste::AtOnce
        } else {
            Haste::Orderly
        }
    }
}

/// The real-time signal that asks host-init to execute itself.
pub const REEXECUTE: u8 = 25;

/// The real-time signal that says that the host is healthy.
pub const CONFIRM: u8 = 8;

/// The real-time signal that has the host's failures forgotten.
pub const CLEAR: u8 = 9;

/// The real-time signal that has the host started anew.
pub const RESTART: u8 = 10;

/// What each real-time signal asks for, counted from `RTMIN`: systemd's numbers, and
/// three that it does not use.
const REALTIME: [(u8, Request); 16] = [
    (3, Request::End(Ending::Halt, Haste::Orderly)),
    (4, Request::End(Ending::PowerOff, Haste::Orderly)),
    (5, Request::End(Ending::Reboot, Haste::Orderly)),
    (6, Request::End(Ending::Kexec, Haste::Orderly)),
    (7, Request::Again(Haste::Orderly)),
    (CONFIRM, Request::Confirm),
    (CLEAR, Request::Clear),
    (RESTART, Request::Restart),
    (13, Request::End(Ending::Halt, Haste::AtOnce)),
    (14, Request::End(Ending::PowerOff, Haste::AtOnce)),
    (15, Request::End(Ending::Reboot, Haste::AtOnce)),
    (16, Request::End(Ending::Kexec, Haste::AtOnce)),
    (17, Request::Again(Haste::AtOnce)),
    (22, Request::Verbosity(Verbosity::Debug)),
    (23, Request::Verbosity(Verbosity::Configured)),
    (REEXECUTE, Request::Reexecute),
];

/// What the signal asks for; none for one that means nothing to an init.
pub fn of_signal(signal: Signal, signals: &Signals) -> Option<Request> {
    let asked = match signal {
        Signal::TERM => signals.term,
        Signal::INT => signals.int,
        Signal::USR1 => signals.usr1,
        Signal::USR2 => signals.usr2,
        Signal::PWR => signals.pwr,
        Signal::HUP => signals.hup,
        _ => {
            return REALTIME
                .iter()
                .find(|(n, _)| Signal::realtime(*n) == Some(signal))
                .map(|(_, request)| *request);
        }
    };
    match asked {
        Asked::Ignore => None,
        Asked::Reload => Some(Request::Reload),
        Asked::Halt => Some(Request::End(Ending::Halt, Haste::Orderly)),
        Asked::PowerOff => Some(Request::End(Ending::PowerOff, Haste::Orderly)),
        Asked::Reboot => Some(Request::End(Ending::Reboot, Haste::Orderly)),
        Asked::Kexec => Some(Request::End(Ending::Kexec, Haste::Orderly)),
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn the_eighth_press_within_two_seconds_is_impatient() {
        let mut presses = Presses::default();
        let start = Instant::from_nanos(5_000_000_000);
        let press = |presses: &mut Presses, millis| {
            presses.count(start.after(Duration::from_millis(millis)))
        };

        for millis in 0..7 {
            assert_eq!(press(&mut presses, millis), Haste::Orderly);
        }
        assert_eq!(press(&mut presses, 1_900), Haste::AtOnce);
        assert_eq!(press(&mut presses, 5_000), Haste::Orderly);
    }

    #[test]
    fn two_seconds_are_within_two_seconds_and_more_are_not() {
        let last = |millis| {
            let start = Instant::from_nanos(5_000_000_000);
            let mut presses = Presses::default();
            for _ in 0..7 {
                presses.count(start);
            }
            presses.count(start.after(Duration::from_millis(millis)))
        };

        assert_eq!(last(2_000), Haste::AtOnce);
        assert_eq!(last(2_001), Haste::Orderly);
    }

    #[test]
    fn each_signal_asks_for_what_the_documents_say() {
        let orderly = |ending| Some(Request::End(ending, Haste::Orderly));
        let at_once = |ending| Some(Request::End(ending, Haste::AtOnce));
        let expected = [
            ("TERM", orderly(Ending::Reboot)),
            ("INT", orderly(Ending::Reboot)),
            ("USR1", orderly(Ending::Halt)),
            ("USR2", orderly(Ending::PowerOff)),
            ("PWR", orderly(Ending::PowerOff)),
            ("HUP", Some(Request::Reload)),
            ("37", orderly(Ending::Halt)),
            ("38", orderly(Ending::PowerOff)),
            ("39", orderly(Ending::Reboot)),
            ("40", orderly(Ending::Kexec)),
            ("41", Some(Request::Again(Haste::Orderly))),
            ("42", Some(Request::Confirm)),
            ("43", Some(Request::Clear)),
            ("44", Some(Request::Restart)),
            ("47", at_once(Ending::Halt)),
            ("48", at_once(Ending::PowerOff)),
            ("49", at_once(Ending::Reboot)),
            ("50", at_once(Ending::Kexec)),
            ("51", Some(Request::Again(Haste::AtOnce))),
            ("56", Some(Request::Verbosity(Verbosity::Debug))),
            ("57", Some(Request::Verbosity(Verbosity::Configured))),
            ("59", Some(Request::Reexecute)),
        ];
        for number in 1..=64 {
            let Some(signal) = Signal::from_number(number) else {
                continue;
            };
            let request = expected
                .iter()
                .find(|(name, _)| Signal::parse(name) == Some(signal))
                .and_then(|(_, request)| *request);

            assert_eq!(of_signal(signal, &Signals::default()), request, "{signal}");
        }
    }
}
