//! How a boot ended: the facts that tell the endings apart.
//!
//! The machine's own events say whether it powered off or was reset; only the
//! console says that the kernel panicked before it asked for the reset.

use core::fmt::{self, Display, Formatter};

/// How one boot of a guest ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The guest switched the power off.
    PoweredOff,
    /// The guest asked for a restart.
    Restarted,
    /// The guest stopped its processor and left the power on.
    Halted,
    /// The kernel panicked.
    Panicked {
        /// What the kernel said after `Kernel panic - not syncing: `.
        reason: String,
    },
    /// The watchdog device reset the machine.
    Watchdog,
    /// The guest was still running when the bound passed.
    Hung,
    /// It was ended from outside: plug pulled, reset button, or QEMU died.
    Killed,
}

impl Display for Ending {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoweredOff => f.write_str("powered off"),
            Self::Restarted => f.write_str("restarted"),
            Self::Halted => f.write_str("halted"),
            Self::Panicked { reason } => write!(f, "panicked: {reason}"),
            Self::Watchdog => f.write_str("reset by the watchdog"),
            Self::Hung => f.write_str("hung"),
            Self::Killed => f.write_str("killed"),
        }
    }
}

/// What was seen of one boot, beside the event that ended it.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    /// What the kernel said when it panicked.
    pub(crate) panic: Option<String>,
    /// The kernel panicked and will not restart: `panic=0`.
    pub(crate) has_panicked_for_good: bool,
    /// The kernel said that the system is halted.
    pub(crate) has_halted: bool,
    /// The watchdog device fired.
    pub(crate) has_watchdog_fired: bool,
}

impl Signs {
    /// Takes note of one line of the console.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(reason) = after(line, "Kernel panic - not syncing: ") {
            self.panic.get_or_insert_with(|| reason.to_owned());
        }
        if after(line, "---[ end Kernel panic").is_some() {
            self.has_panicked_for_good = true;
        }
        if after(line, "reboot: System halted").is_some() {
            self.has_halted = true;
        }
    }

    /// The ending that QEMU's reason for a reset or a shutdown stands for.
    pub(crate) fn ending(&self, reason: &str) -> Ending {
        match (reason, &self.panic) {
            ("guest-reset" | "guest-panic", Some(reason)) => Ending::Panicked {
                reason: reason.clone(),
            },
            ("guest-panic", None) => Ending::Panicked {
                reason: "the panic device was told, the console was not".to_owned(),
            },
            ("guest-reset", None) if self.has_watchdog_fired => Ending::Watchdog,
            ("guest-reset", None) => Ending::Restarted,
            ("guest-shutdown", _) => Ending::PoweredOff,
            _ => Ending::Killed,
        }
    }

    /// The ending of a guest whose power stays on, if it has ended so.
    pub(crate) fn ending_with_power_on(&self) -> Option<Ending> {
        match &self.panic {
            Some(reason) if self.has_panicked_for_good => Some(Ending::Panicked {
                reason: reason.clone(),
            }),
            _ => self.has_halted.then_some(Ending::Halted),
        }
    }
}

/// The rest of a line after the kernel's words.
///
/// A program that merely quotes them is not believed: they stand at the
/// beginning of the line or right after the kernel's time stamp.
fn after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let (before, rest) = line.split_once(words)?;
    (before.is_empty() || before.ends_with("] ")).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(lines: &[&str]) -> Signs {
        let mut signs = Signs::default();
        for line in lines {
            signs.read(line);
        }
        signs
    }

    #[test]
    fn a_reset_after_a_panic_is_a_panic_with_its_reason() {
        let signs = signs(&["[    2.0] Kernel panic - not syncing: Attempted to kill init!"]);

        assert_eq!(
            signs.ending("guest-reset"),
            Ending::Panicked {
                reason: "Attempted to kill init!".into()
            }
        );
        assert_eq!(signs.ending_with_power_on(), None);
    }

    #[test]
    fn a_panic_that_stays_is_seen_without_a_reset() {
        let signs = signs(&[
            "[    2.0] Kernel panic - not syncing: no root",
            "[    2.1] ---[ end Kernel panic - not syncing: no root ]---",
        ]);

        assert!(matches!(
            signs.ending_with_power_on(),
            Some(Ending::Panicked { .. })
        ));
    }

    #[test]
    fn a_quoted_panic_is_none() {
        let signs = signs(&[
            "log: Kernel panic - not syncing: no",
            "x reboot: System halted",
        ]);

        assert_eq!(signs.ending("guest-reset"), Ending::Restarted);
        assert_eq!(signs.ending_with_power_on(), None);
    }

    #[test]
    fn a_reset_by_the_watchdog_is_no_restart() {
        let signs = Signs {
            has_watchdog_fired: true,
            ..Signs::default()
        };

        assert_eq!(signs.ending("guest-reset"), Ending::Watchdog);
    }

    #[test]
    fn only_the_guest_powers_off() {
        assert_eq!(
            Signs::default().ending("guest-shutdown"),
            Ending::PoweredOff
        );
        assert_eq!(Signs::default().ending("host-qmp-quit"), Ending::Killed);
        assert_eq!(Signs::default().ending("host-signal"), Ending::Killed);
    }
}
