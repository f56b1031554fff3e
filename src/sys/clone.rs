//! Makes processes: `clone(2)`, and `clone3(2)` for what only it can.
//!
//! The older call is enough for most: container runtimes answer `ENOSYS` to the
//! newer one, whose flags their filters can't see.

use core::sync::atomic::AtomicU32;

use linux_raw_sys::general as raw;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use static_assertions::const_assert_eq;

use super::Result;
use super::arch::{clone_arguments, clone_into};
use super::call::answered;

/// What a child runs, and on which stack.
pub(super) struct Child {
    /// Memory of its own in this process's, which it shares then; none for a fork,
    /// which has a copy of everything.
    pub(super) stack: Option<Stack>,
    /// Where it begins.
    pub(super) run: unsafe extern "C" fn(*const u8) -> !,
    /// What it is given.
    pub(super) argument: *const u8,
}

/// A child's stack in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    pub(super) start: *mut u8,
    pub(super) length: usize,
    /// Cleared by the kernel when the child has let go of the memory.
    pub(super) in_flight: &'static AtomicU32,
}

/// A process that was made.
pub(super) struct Made {
    pub(super) pid: u32,
    pub(super) pidfd: OwnedFd,
}

const_assert_eq!(size_of::<raw::clone_args>(), 88);

/// Makes a process.
///
/// # Safety
///
/// What the child runs must be sound in a copy of this process or, with a stack,
/// beside it in the same memory; stack and argument are the child's until it has
/// let go of them.
pub(super) unsafe fn clone(child: &Child) -> Result<Made> {
    let mut pidfd: i32 = -1;
    let (flags, stack, in_flight) = match child.stack {
        Some(stack) => (
            raw::CLONE_VM | raw::CLONE_CHILD_CLEARTID,
            stack.start.addr() + stack.length,
            core::ptr::from_ref(stack.in_flight).addr(),
        ),
        None => (0, 0, 0),
    };
    let flags = flags | raw::CLONE_PIDFD | raw::SIGCHLD;
    let arguments = clone_arguments(flags as usize, stack, (&raw mut pidfd).addr(), in_flight);
    // SAFETY: the caller answers for the child.
    let answer = unsafe { clone_into(raw::__NR_clone, arguments, child.run, child.argument) };
    made(answer, pidfd)
}

/// Makes a process in which no signal has a handler, not for a moment, and in a
/// control group, given by its directory.
///
/// # Errors
///
/// Also `ENOSYS` and `EPERM` where a filter refuses the call, and `EINVAL`,
/// `E2BIG`, `EBADF` and `EOPNOTSUPP` where the kernel can't start a process in a
/// control group (before Linux 5.7).
///
/// # Safety
///
/// As [`clone`].
pub(super) unsafe fn clone3(child: &Child, cgroup: Option<BorrowedFd<'_>>) -> Result<Made> {
    let mut pidfd: i32 = -1;
    let mut flags = u64::from(raw::CLONE_PIDFD) | raw::CLONE_CLEAR_SIGHAND;
    if child.stack.is_some() {
        flags |= u64::from(raw::CLONE_VM | raw::CLONE_CHILD_CLEARTID);
    }
    if cgroup.is_some() {
        flags |= raw::CLONE_INTO_CGROUP;
    }
    let arguments = raw::clone_args {
        flags,
        pidfd: (&raw mut pidfd).addr() as u64,
        child_tid: child.stack.map_or(0, |stack| {
            core::ptr::from_ref(stack.in_flight).addr() as u64
        }),
        parent_tid: 0,
        exit_signal: u64::from(raw::SIGCHLD),
        stack: child.stack.map_or(0, |stack| stack.start.addr() as u64),
        stack_size: child.stack.map_or(0, |stack| stack.length as u64),
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: cgroup.map_or(0, |cgroup| u64::from(cgroup.as_raw_fd().unsigned_abs())),
    };
    let words = [
        (&raw const arguments).addr(),
        size_of::<raw::clone_args>(),
        0,
        0,
        0,
    ];
    // SAFETY: the caller answers for the child; the arguments are a clone_args.
    let answer = unsafe { clone_into(raw::__NR_clone3, words, child.run, child.argument) };
    made(answer, pidfd)
}

fn made(answer: isize, pidfd: i32) -> Result<Made> {
    let pid = answered(answer)?;
    Ok(Made {
        pid: u32::try_from(pid).unwrap_or(0),
        // SAFETY: the kernel just made it for this process.
        pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) },
    })
}
