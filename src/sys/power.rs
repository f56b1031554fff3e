//! `reboot(2)`, and what else acts on the whole machine or namespace.

use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit};
use rustix::system::RebootCommand;

use super::call::check;
use super::{Result, reason};
use crate::base::errno::Errno;
use crate::base::signal::Signal;

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

/// Sends a signal to every process of the namespace but this one and PID 1.
///
/// # Errors
///
/// `ESRCH` when there is none.
pub fn signal_all(signal: Signal) -> Result<()> {
    let words = [usize::MAX, usize::from(signal.number()), 0, 0, 0, 0];
    // SAFETY: takes numbers.
    unsafe { check(linux_raw_sys::general::__NR_kill, words) }.map(drop)
}

/// Sends a signal to a process group; one that is gone is fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn signal_group(group: u32, signal: Signal) -> Result<()> {
    let group = isize::try_from(group).map_err(|_| Errno::ESRCH)?;
    if group <= 1 {
        return Err(Errno::ESRCH);
    }
    let words = [
        group.wrapping_neg().cast_unsigned(),
        usize::from(signal.number()),
        0,
        0,
        0,
        0,
    ];
    // SAFETY: takes numbers.
    match unsafe { check(linux_raw_sys::general::__NR_kill, words) } {
        Ok(_) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Sends a signal to a process group; whether there is one with a process that
/// may be sent it.
pub fn reaches_group(group: u32, signal: Signal) -> bool {
    let Some(group) = isize::try_from(group).ok().filter(|group| *group > 1) else {
        return false;
    };
    let words = [
        group.wrapping_neg().cast_unsigned(),
        usize::from(signal.number()),
        0,
        0,
        0,
        0,
    ];
    // SAFETY: takes numbers.
    unsafe { check(linux_raw_sys::general::__NR_kill, words) }.is_ok()
}

/// Sends a signal to the one process behind a descriptor; one that is gone is
/// fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn signal_process(pidfd: &rustix::fd::OwnedFd, signal: Signal) -> Result<()> {
    use rustix::fd::AsRawFd;
    let words = [
        usize::try_from(pidfd.as_raw_fd()).map_err(|_| Errno::EBADF)?,
        usize::from(signal.number()),
        0,
        0,
        0,
        0,
    ];
    // SAFETY: takes numbers and a null pointer.
    match unsafe { check(linux_raw_sys::general::__NR_pidfd_send_signal, words) } {
        Ok(_) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Sends a signal to a child that was not released yet, by its number: where a filter
/// refuses [`signal_process`]. One that has ended is fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn signal_child(pid: u32, signal: Signal) -> Result<()> {
    let pid = usize::try_from(pid).map_err(|_| Errno::ESRCH)?;
    if pid <= 1 {
        return Err(Errno::ESRCH);
    }
    let words = [pid, usize::from(signal.number()), 0, 0, 0, 0];
    // SAFETY: takes numbers.
    match unsafe { check(linux_raw_sys::general::__NR_kill, words) } {
        Ok(_) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Sends a signal to a pid that may by now be another process: only for pids of
/// a control group that is being stopped, where any process is meant.
pub fn signal_pid(pid: u32, signal: Signal) {
    let Ok(pid) = usize::try_from(pid) else {
        return;
    };
    if pid > 1 {
        let words = [pid, usize::from(signal.number()), 0, 0, 0, 0];
        // SAFETY: takes numbers.
        let _ = unsafe { check(linux_raw_sys::general::__NR_kill, words) };
    }
}

/// Sends a signal to PID 1.
///
/// # Errors
///
/// `EPERM` without the right.
pub fn signal_init(signal: Signal) -> Result<()> {
    let words = [1, usize::from(signal.number()), 0, 0, 0, 0];
    // SAFETY: takes numbers.
    unsafe { check(linux_raw_sys::general::__NR_kill, words) }.map(drop)
}

/// Sends this process a signal, which takes effect at once: not one that is
/// blocked.
pub fn signal_self(signal: Signal) {
    let pid = usize::try_from(rustix::process::getpid().as_raw_pid()).unwrap_or(0);
    let words = [pid, usize::from(signal.number()), 0, 0, 0, 0];
    // SAFETY: takes numbers.
    let _ = unsafe { check(linux_raw_sys::general::__NR_kill, words) };
}

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

/// Sets the name of the machine.
///
/// # Errors
///
/// `EINVAL` when it is too long, `EPERM` without the right.
pub fn set_hostname(name: &[u8]) -> Result<()> {
    rustix::system::sethostname(name).map_err(reason)
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
pub fn close_inherited(spared: &[Option<&rustix::fd::OwnedFd>]) {
    use rustix::fd::AsRawFd;
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
