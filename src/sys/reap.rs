//! How processes ended: asked of the kernel, by one owner.
//!
//! Two ways lead to the same answers. Since Linux 6.15 a process descriptor
//! tells how its process ended even after the kernel released it
//! (`PIDFD_GET_INFO` with `PIDFD_INFO_EXIT`), so the kernel may release every
//! child at once and orphans cost PID 1 nothing. On older kernels children stay
//! as zombies until [`next`] asks.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, WaitOptions, WaitStatus};
use static_assertions::const_assert_eq;

use super::call::check;
use super::{Result, reason};
use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::signal::Signal;

/// `struct pidfd_info` of `linux/pidfd.h`, as long as its first version.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PidfdInfo {
    mask: u64,
    cgroup: u64,
    pid: u32,
    ids: [u32; 10],
    exit_code: i32,
}

const_assert_eq!(size_of::<PidfdInfo>(), 64);

/// Asks for, and says that there is, an exit code.
const PIDFD_INFO_EXIT: u64 = 1 << 3;

/// `_IOWR(0xff, 11, struct pidfd_info)`.
const PIDFD_GET_INFO: usize = 3 << 30 | size_of::<PidfdInfo>() << 16 | 0xff << 8 | 11;

/// Whether this process's descriptor and others tell how a released process ended.
/// Cheaper than [`descriptors_remember`] for who has one.
pub fn remembers(pidfd: &OwnedFd) -> bool {
    is_at_least(6, 15) && info(pidfd).is_ok()
}

/// Whether process descriptors of this kernel tell how a released process ended.
pub fn descriptors_remember() -> bool {
    let answers = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())
        .is_ok_and(|pidfd| info(&pidfd).is_ok());
    answers && is_at_least(6, 15)
}

/// How the process behind `pidfd` ended; none while it goes on. Asked of the
/// descriptor alone: the process may be long released.
///
/// # Errors
///
/// When the kernel does not tell: see [`descriptors_remember`].
pub fn ask(pidfd: &OwnedFd) -> Result<Option<Exit>> {
    let answer = match info(pidfd) {
        // The kernel was releasing it while it looked. How a process ended is
        // kept before it is released, so the second answer has it.
        Err(Errno::ESRCH) => info(pidfd),
        answer => answer,
    };
    let info = match answer {
        Ok(info) => info,
        // Released, and this kernel kept nothing.
        Err(Errno::ESRCH) => return Ok(Some(Exit::Unknown)),
        Err(errno) => return Err(errno),
    };
    if info.mask & PIDFD_INFO_EXIT == 0 {
        return Ok(None);
    }
    let status = u32::from_ne_bytes(info.exit_code.to_ne_bytes());
    Ok(Some(
        Exit::from_wait_status(status).unwrap_or(Exit::Unknown),
    ))
}

fn info(pidfd: &OwnedFd) -> Result<PidfdInfo> {
    let mut info = PidfdInfo {
        mask: PIDFD_INFO_EXIT,
        ..PidfdInfo::default()
    };
    let words = [
        usize::try_from(pidfd.as_raw_fd()).map_err(|_| Errno::EBADF)?,
        PIDFD_GET_INFO,
        (&raw mut info).addr(),
        0,
        0,
        0,
    ];
    // SAFETY: the kernel reads and writes as many bytes of `info` as the request
    // number says it has.
    unsafe { check(linux_raw_sys::general::__NR_ioctl, words) }?;
    Ok(info)
}

/// Whether the running kernel is of this version or later.
fn is_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let mut numbers = name
        .release()
        .to_bytes()
        .split(|byte| !byte.is_ascii_digit())
        .map(|digits| {
            digits.iter().fold(0_u32, |number, digit| {
                number
                    .saturating_mul(10)
                    .saturating_add(u32::from(digit - b'0'))
            })
        });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

/// Releases one child that ended: its pid and how. None when there is none
/// (any more). Never blocks.
pub fn next() -> Option<(u32, Exit)> {
    loop {
        match look(WaitOptions::empty()) {
            Looked::Ended(pid, exit) => return Some((pid, exit)),
            Looked::Stopped(..) => {}
            Looked::Nothing | Looked::Alone => return None,
        }
    }
}

/// What a look at the children found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looked {
    /// This one ended, and is released.
    Ended(u32, Exit),
    /// This one was stopped.
    Stopped(u32, Signal),
    /// All that there are go on.
    Nothing,
    /// There are none.
    Alone,
}

/// Looks for a child that ended or was stopped. Never blocks.
pub fn next_change() -> Looked {
    look(WaitOptions::UNTRACED)
}

fn look(options: WaitOptions) -> Looked {
    loop {
        let (pid, status) = match rustix::process::wait(options | WaitOptions::NOHANG) {
            Ok(Some(waited)) => waited,
            Ok(None) => return Looked::Nothing,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return Looked::Alone,
        };
        let pid = number_of(pid);
        return match status.stopping_signal().and_then(|n| u8::try_from(n).ok()) {
            Some(number) => match Signal::from_number(number) {
                Some(signal) => Looked::Stopped(pid, signal),
                None => continue,
            },
            None => Looked::Ended(pid, exit_of(status)),
        };
    }
}

/// Waits for the end of one child, without a bound, and hears of nothing else
/// meanwhile: for one that does nothing and was killed, and never in the loop of PID 1.
///
/// # Errors
///
/// When it is not a child of this process.
pub fn wait_for(pid: u32) -> Result<Exit> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let ended = rustix::process::waitpid(pid, WaitOptions::empty()).map_err(reason)?;
    Ok(ended.map_or(Exit::Unknown, |(_, status)| exit_of(status)))
}

fn number_of(pid: Pid) -> u32 {
    u32::try_from(pid.as_raw_pid()).unwrap_or(0)
}

fn exit_of(status: WaitStatus) -> Exit {
    let status = u32::from_ne_bytes(status.as_raw().to_ne_bytes());
    Exit::from_wait_status(status).unwrap_or(Exit::Unknown)
}
