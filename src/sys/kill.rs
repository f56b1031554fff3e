//! Signals that are sent: `kill(2)` and `pidfd_send_signal(2)`.

use rustix::fd::{AsRawFd, OwnedFd};

use super::Result;
use super::call::check;
use crate::base::errno::Errno;
use crate::base::signal::Signal;

/// Sends a signal to every process of the namespace but this one and PID 1.
///
/// # Errors
///
/// `ESRCH` when there is none.
pub fn all(signal: Signal) -> Result<()> {
    kill(-1, signal)
}

/// Sends a signal to a process group; one that is gone is fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn group(group: u32, signal: Signal) -> Result<()> {
    unless_gone(kill(target_of(group)?.wrapping_neg(), signal))
}

/// Sends a signal to a process group; whether there is one with a process that
/// may be sent it.
pub fn reaches_group(group: u32, signal: Signal) -> bool {
    target_of(group).is_ok_and(|group| kill(group.wrapping_neg(), signal).is_ok())
}

/// Sends a signal to the one process behind a descriptor; one that is gone is
/// fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn process(pidfd: &OwnedFd, signal: Signal) -> Result<()> {
    let pidfd = usize::try_from(pidfd.as_raw_fd()).map_err(|_| Errno::EBADF)?;
    let words = [pidfd, usize::from(signal.number()), 0, 0, 0, 0];
    // SAFETY: takes numbers and a null pointer.
    unless_gone(unsafe { check(linux_raw_sys::general::__NR_pidfd_send_signal, words) }.map(drop))
}

/// Sends a signal to a child that was not released yet, by its number: where a filter
/// refuses [`process`]. One that has ended is fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn child(pid: u32, signal: Signal) -> Result<()> {
    unless_gone(kill(target_of(pid)?, signal))
}

/// Sends a signal to a pid that may by now be another process: only for pids of
/// a control group that is being stopped, where any process is meant.
pub fn member(pid: u32, signal: Signal) {
    let _ = child(pid, signal);
}

/// Sends a signal to PID 1.
///
/// # Errors
///
/// `EPERM` without the right.
pub fn init(signal: Signal) -> Result<()> {
    kill(1, signal)
}

/// Sends this process a signal, which takes effect at once: not one that is
/// blocked.
pub fn own(signal: Signal) {
    let pid = rustix::process::getpid().as_raw_pid();
    let _ = kill(isize::try_from(pid).unwrap_or(0), signal);
}

/// A pid or group that is neither PID 1's nor a word of `kill(2)`'s for many.
fn target_of(number: u32) -> Result<isize> {
    isize::try_from(number)
        .ok()
        .filter(|number| *number > 1)
        .ok_or(Errno::ESRCH)
}

fn unless_gone(sent: Result<()>) -> Result<()> {
    match sent {
        Err(Errno::ESRCH) => Ok(()),
        sent => sent,
    }
}

fn kill(target: isize, signal: Signal) -> Result<()> {
    let words = [
        target.cast_unsigned(),
        usize::from(signal.number()),
        0,
        0,
        0,
        0,
    ];
    // SAFETY: takes numbers.
    unsafe { check(linux_raw_sys::general::__NR_kill, words) }.map(drop)
}
