//! The terminal on standard input (`ioctl_tty(2)`), and who is in its foreground.

use linux_raw_sys::ioctl as raw;
use rustix::fd::BorrowedFd;

use super::call::check;
use super::{Result, reason};
use crate::base::job::Owner;

fn input() -> BorrowedFd<'static> {
    // SAFETY: a closed one answers EBADF to everything that is asked here.
    unsafe { BorrowedFd::borrow_raw(0) }
}

/// Whether standard input is a terminal.
pub fn is_there() -> bool {
    rustix::termios::isatty(input())
}

/// Whose the terminal on standard input is.
pub fn owner() -> Owner {
    match number(raw::TIOCGSID) {
        Ok(leader) if leader == rustix::process::getpid().as_raw_pid() => Owner::Own,
        // Also 0: a leader outside of this pid namespace.
        Ok(_) => Owner::Shared,
        Err(_) => Owner::Other,
    }
}

/// Makes it the controlling terminal of the session that this process leads.
///
/// # Errors
///
/// `EPERM` when it is another session's.
pub fn control() -> Result<()> {
    rustix::process::ioctl_tiocsctty(input()).map_err(reason)
}

/// Gives the terminal up for the session that this process leads. The kernel sends
/// HUP and CONT to the group in its foreground.
///
/// # Errors
///
/// `ENOTTY` when it is not this session's.
pub fn give_up() -> Result<()> {
    let words = [0, raw::TIOCNOTTY as usize, 0, 0, 0, 0];
    // SAFETY: takes no memory.
    unsafe { check(linux_raw_sys::general::__NR_ioctl, words) }.map(drop)
}

/// Puts a process group of this session into the foreground. From the background
/// only with TTOU blocked, as it is in PID 1.
///
/// # Errors
///
/// `ENOTTY` when the terminal is not this session's, `ESRCH` for no such group.
pub fn bring_forward(group: u32) -> Result<()> {
    let words = [
        0,
        raw::TIOCSPGRP as usize,
        (&raw const group).addr(),
        0,
        0,
        0,
    ];
    // SAFETY: the kernel reads one number.
    unsafe { check(linux_raw_sys::general::__NR_ioctl, words) }.map(drop)
}

/// Puts this process's own group into the foreground.
///
/// # Errors
///
/// As [`bring_forward`].
pub fn bring_back() -> Result<()> {
    bring_forward(own_group())
}

/// Whether this process's own group is in the foreground.
pub fn is_foreground() -> bool {
    number(raw::TIOCGPGRP).is_ok_and(|group| u32::try_from(group) == Ok(own_group()))
}

/// The number of this process's group: 0 when that is outside of the pid namespace,
/// which rustix takes to be impossible.
fn own_group() -> u32 {
    // SAFETY: takes a number.
    let group = unsafe { check(linux_raw_sys::general::__NR_getpgid, [0; 6]) };
    group.map_or(0, |group| u32::try_from(group).unwrap_or(0))
}

/// What the terminal says of a group or a session.
fn number(request: u32) -> Result<i32> {
    let mut number = 0_i32;
    let words = [0, request as usize, (&raw mut number).addr(), 0, 0, 0];
    // SAFETY: the kernel writes one number.
    unsafe { check(linux_raw_sys::general::__NR_ioctl, words) }?;
    Ok(number)
}
