//! The few system calls that std does not have; all of the library's unsafe.

use core::time::Duration;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Waits until one of the descriptors can be read or is closed; says which.
///
/// An interrupted wait is an empty answer: the caller's loop asks again.
pub(crate) fn readable<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    bound: Option<Duration>,
) -> [bool; N] {
    let mut polls = fds.map(|fd| libc::pollfd {
        // A negative descriptor is one that poll(2) passes over.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    // Rounded up, so that a bound is never passed by waking too early in a loop.
    let millis = bound.map_or(-1, |bound| {
        i32::try_from(bound.as_millis().saturating_add(1)).unwrap_or(i32::MAX)
    });

    // SAFETY: the pointer and the length are those of one array of pollfds.
    unsafe { libc::poll(polls.as_mut_ptr(), N as libc::nfds_t, millis) };
    polls.map(|poll| poll.revents != 0)
}

/// Has the kernel kill the calling process when the parent's thread ends.
///
/// Async-signal-safe: for a child between fork and exec.
pub(crate) fn die_with(parent: u32) -> Result<()> {
    // SAFETY: PR_SET_PDEATHSIG takes a number and touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(Error::last_os_error());
    }
    // The parent may have died before the call.
    if std::os::unix::process::parent_id() != parent {
        return Err(Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Lets a descriptor stay open through exec. Async-signal-safe.
pub(crate) fn keep_through_exec(fd: RawFd) -> Result<()> {
    // SAFETY: F_SETFD takes a number and touches no memory.
    match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// A descriptor that can be read once the process has ended.
pub(crate) fn pidfd(pid: u32) -> Result<OwnedFd> {
    // SAFETY: pidfd_open(2) takes two numbers and touches no memory.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    match RawFd::try_from(fd) {
        // SAFETY: the kernel has just made this descriptor for us alone.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(Error::last_os_error()),
    }
}

/// Has the socket take as few bytes as the kernel allows before its peer reads.
pub(crate) fn shrink_send_buffer(socket: &OwnedFd) -> Result<()> {
    let bytes: libc::c_int = 1;
    // SAFETY: the option's value is an int, and its length is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            (&raw const bytes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Whether we are root, here or in a user namespace.
pub(crate) fn is_root() -> bool {
    // SAFETY: geteuid(2) takes nothing and always succeeds.
    (unsafe { libc::geteuid() }) == 0
}
