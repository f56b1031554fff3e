//! What a process is to the kernel: its pid, its session, its limits, what it has open.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit};

use super::call::check;
use super::{Result, reason};
use crate::base::errno::Errno;
use crate::base::signal::Signal;

/// Has orphans of this process's descendants become its children, as they do of
/// PID 1 (`PR_SET_CHILD_SUBREAPER`).
///
/// # Errors
///
/// Never on Linux as it is.
pub fn adopt_orphans() -> Result<()> {
    prctl(linux_raw_sys::prctl::PR_SET_CHILD_SUBREAPER, 1)
}

/// Has the kernel send this process a signal when its parent ends
/// (`PR_SET_PDEATHSIG`).
///
/// # Errors
///
/// Never on Linux as it is.
pub fn on_parent_death(signal: Signal) -> Result<()> {
    let number = usize::from(signal.number());
    prctl(linux_raw_sys::prctl::PR_SET_PDEATHSIG, number)
}

fn prctl(option: u32, value: usize) -> Result<()> {
    let words = [option as usize, value, 0, 0, 0, 0];
    // SAFETY: these options take a number.
    unsafe { check(linux_raw_sys::general::__NR_prctl, words) }.map(drop)
}

/// Whether this process, which has this pid, leads its session (`setsid(2)`).
pub fn leads_session(pid: u32) -> bool {
    // Not by rustix, which takes it that every leader has a number here: one outside
    // of the pid namespace has 0.
    // SAFETY: takes a number.
    let leader = unsafe { check(linux_raw_sys::general::__NR_getsid, [0; 6]) };
    leader.ok() == usize::try_from(pid).ok()
}

/// Puts a child that has not executed a program into a process group of its own.
///
/// # Errors
///
/// `ESRCH` when it is no child of this process.
pub fn give_group(child: u32) -> Result<()> {
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    rustix::process::setpgid(child, child).map_err(reason)
}

/// The pid of the first process of a pid namespace.
pub const INIT: u32 = 1;

/// This process's pid, in its namespace.
pub fn pid() -> u32 {
    u32::try_from(rustix::process::getpid().as_raw_pid()).unwrap_or(0)
}

/// Whether this process is the first of its pid namespace.
pub fn is_init() -> bool {
    rustix::process::getpid() == Pid::INIT
}

/// Keeps a child that still shares this process's memory from dumping it: on
/// kernels before 5.16 a core dump ends all who share the memory.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn forbid_core_dumps() -> Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(reason)
}

/// Raises the limit of open files of this process as far as it may; the soft limit
/// that it had.
///
/// # Errors
///
/// Never on Linux as it is: what is there may always be used.
pub fn raise_open_files(limit: u64) -> Result<Option<u64>> {
    let before = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: Some(limit),
        maximum: Some(before.maximum.unwrap_or(limit).max(limit)),
    };
    // Without the right to raise the hard limit, the soft one still can be.
    let allowed = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    rustix::process::setrlimit(Resource::Nofile, raised)
        .or_else(|_| rustix::process::setrlimit(Resource::Nofile, allowed))
        .map_err(reason)?;
    Ok(before.current)
}

/// The session that a process is in: the pid of its leader.
///
/// # Errors
///
/// `ESRCH` when there is no such process.
pub fn session_of(pid: u32) -> Result<u32> {
    let words = [
        usize::try_from(pid).map_err(|_| Errno::ESRCH)?,
        0,
        0,
        0,
        0,
        0,
    ];
    // SAFETY: takes a number.
    let session = unsafe { check(linux_raw_sys::general::__NR_getsid, words) }?;
    u32::try_from(session).map_err(|_| Errno::ESRCH)
}

/// Changes to the root directory, so that no filesystem is held by being in it.
///
/// # Errors
///
/// Never on a machine with a root.
pub fn leave_directory() -> Result<()> {
    rustix::process::chdir(c"/").map_err(reason)
}

/// Sets the permission bits that new files lose, and nothing is assumed.
pub fn set_umask(mask: u16) {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(u32::from(mask)));
}

/// Closes every descriptor from 3 on but `spared`: what the parent left open. On
/// a kernel before 5.9 they stay open.
pub fn close_inherited(spared: &[Option<&OwnedFd>]) {
    let numbers = || {
        let spared = spared.iter().flatten();
        spared.filter_map(|fd| usize::try_from(fd.as_raw_fd()).ok())
    };
    let last = usize::try_from(u32::MAX).unwrap_or(usize::MAX);
    let mut first = 3;
    for _ in spared {
        let Some(number) = numbers().filter(|number| *number >= first).min() else {
            break;
        };
        if number > first {
            close_range(first, number - 1);
        }
        first = number + 1;
    }
    close_range(first, last);
}

fn close_range(first: usize, last: usize) {
    let words = [first, last, 0, 0, 0, 0];
    // SAFETY: nothing of this process's own is open yet but what is spared.
    let _ = unsafe { check(linux_raw_sys::general::__NR_close_range, words) };
}
