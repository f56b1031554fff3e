//! `reboot(2)`, and what else acts on the whole machine or namespace.

use rustix::system::RebootCommand;

use super::{Result, reason};
use crate::base::errno::Errno;

/// What `reboot(2)` is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Stop the processors, power on.
    Halt,
    /// Power off.
    PowerOff,
    /// Restart.
    Restart,
    /// Start the kernel that was loaded.
    Kexec,
}

/// Makes Ctrl-Alt-Del a signal INT to PID 1 instead of a restart at once.
///
/// # Errors
///
/// `EINVAL` in a pid namespace that is not the machine's, `EPERM` without the
/// right: how a container is known.
pub fn take_ctrl_alt_del() -> Result<()> {
    rustix::system::reboot(RebootCommand::CadOff).map_err(reason)
}

/// Ends the machine, or the pid namespace. Does not sync. Never from PID 1
/// itself: the kernel ends the caller, and PID 1's end is a panic.
///
/// It returns only when that failed: the reason, `EINVAL` for a kexec without a
/// loaded kernel.
pub fn reboot(command: Command) -> Errno {
    let command = match command {
        Command::Halt => RebootCommand::Halt,
        Command::PowerOff => RebootCommand::PowerOff,
        Command::Restart => RebootCommand::Restart,
        Command::Kexec => RebootCommand::Kexec,
    };
    match rustix::system::reboot(command) {
        Ok(()) => Errno::from_number(0),
        Err(errno) => reason(errno),
    }
}

/// Sets the name of the machine.
///
/// # Errors
///
/// `EINVAL` when it is too long, `EPERM` without the right.
pub fn set_hostname(name: &[u8]) -> Result<()> {
    rustix::system::sethostname(name).map_err(reason)
}
