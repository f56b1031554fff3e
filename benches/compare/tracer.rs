//! The calls on other processes that std does not have; all the unsafe.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at a process that is traced: what a call costs it, twice.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Sends a signal.
pub(crate) fn signal(pid: i32, signal: i32) {
    // SAFETY: takes numbers.
    unsafe { libc::kill(pid, signal) };
}

/// Waits until a process has ended; whether it did in time.
pub(crate) fn wait_for_end(pid: i32, bound: Duration) -> bool {
    // SAFETY: takes numbers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(fd) = i32::try_from(fd) else {
        return false;
    };
    if fd < 0 {
        // There is no such process any more.
        return true;
    }
    let mut polled = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let millis = i32::try_from(bound.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one pollfd, as the count says.
    let ready = unsafe { libc::poll(&raw mut polled, 1, millis) };
    // SAFETY: the kernel made it for us above.
    unsafe { libc::close(fd) };
    ready == 1
}

/// Makes the device that swallows everything.
pub(crate) fn make_null(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a path and numbers.
    match unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(1, 3)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Counts the system calls that a process begins within a time; none when it
/// can't be traced. The process stays traced by the calling thread.
pub(crate) fn count_calls(pid: i32, during: Duration) -> Option<u32> {
    let options = libc::PTRACE_O_TRACESYSGOOD as usize;
    trace(libc::PTRACE_SEIZE, pid, options).then_some(())?;
    trace(libc::PTRACE_INTERRUPT, pid, 0).then_some(())?;
    let deadline = Instant::now() + during;
    let mut count = 0;
    // The call that the process was in goes on after the interruption, and its
    // beginning shows once more; so it does after a signal that nobody takes.
    let mut goes_on = true;
    while Instant::now() < deadline {
        let mut status = 0;
        // SAFETY: a place for one status.
        if unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG | libc::__WALL) } != pid {
            thread::sleep(LOOK_AGAIN);
            continue;
        }
        if !libc::WIFSTOPPED(status) {
            return None;
        }
        let signal = libc::WSTOPSIG(status);
        let delivered = match stop_of(pid) {
            _ if status >> 16 != 0 => 0,
            Stop::Begin => {
                count += u32::from(!goes_on);
                goes_on = false;
                0
            }
            Stop::End { will_begin_again } => {
                goes_on = will_begin_again;
                0
            }
            Stop::Other => signal,
        };
        trace(libc::PTRACE_SYSCALL, pid, usize::try_from(delivered).ok()?);
    }
    Some(count)
}

/// Counts the system calls of the first process that a child of this command's program
/// becomes, and of all of its children, from its first instruction on; none when they
/// can't be traced.
pub(crate) fn count_calls_of_init(mut command: Command) -> Option<u32> {
    let begin = || match trace(libc::PTRACE_TRACEME, 0, 0) {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    };
    // SAFETY: between fork and exec, a system call and no memory.
    let maker = unsafe { command.pre_exec(begin) }.spawn().ok()?;
    let maker = maker.id().cast_signed();
    let mut is_init_there = false;
    let mut count = 0;
    // Processes that were seen, and whether the call that each begins goes on.
    let mut seen = BTreeMap::new();
    loop {
        let mut status = 0;
        // SAFETY: a place for one status; only children of this thread.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if pid < 0 {
            return None;
        }
        if !libc::WIFSTOPPED(status) {
            if pid == maker {
                return Some(count);
            }
            continue;
        }
        let is_new = !seen.contains_key(&pid);
        let goes_on = seen.entry(pid).or_insert(false);
        let mut delivered = 0;
        match stop_of(pid) {
            _ if is_new => {
                let options = libc::PTRACE_O_TRACESYSGOOD
                    | libc::PTRACE_O_TRACEFORK
                    | libc::PTRACE_O_TRACEVFORK
                    | libc::PTRACE_O_TRACECLONE
                    | libc::PTRACE_O_TRACEEXEC
                    | libc::PTRACE_O_EXITKILL;
                trace(libc::PTRACE_SETOPTIONS, pid, options as usize);
            }
            _ if status >> 16 == libc::PTRACE_EVENT_EXEC => is_init_there |= pid != maker,
            _ if status >> 16 != 0 => {}
            Stop::Begin => {
                count += u32::from(is_init_there && pid != maker && !*goes_on);
                *goes_on = false;
            }
            Stop::End { will_begin_again } => *goes_on = will_begin_again,
            Stop::Other => delivered = libc::WSTOPSIG(status),
        }
        trace(libc::PTRACE_SYSCALL, pid, usize::try_from(delivered).ok()?);
    }
}

/// Where a traced process stands.
enum Stop {
    /// At the beginning of a call.
    Begin,
    /// At its end.
    End { will_begin_again: bool },
    /// Somewhere else: a signal is about to be delivered.
    Other,
}

fn stop_of(pid: i32) -> Stop {
    /// The kernel's own answers for "interrupted, to be begun again": see
    /// `include/linux/errno.h` there.
    const BEGIN_AGAIN: core::ops::RangeInclusive<i64> = -516..=-512;
    // `struct ptrace_syscall_info`: the kind first, an answer at 24.
    let mut info = [0_u64; 11];
    // SAFETY: the kernel writes at most as many bytes as it is told there are.
    let length = unsafe {
        libc::ptrace(
            libc::PTRACE_GET_SYSCALL_INFO,
            pid,
            size_of_val(&info),
            info.as_mut_ptr(),
        )
    };
    match (length, info[0].to_le_bytes()[0]) {
        (1.., libc::PTRACE_SYSCALL_INFO_ENTRY) => Stop::Begin,
        (1.., libc::PTRACE_SYSCALL_INFO_EXIT) => Stop::End {
            will_begin_again: BEGIN_AGAIN.contains(&info[3].cast_signed()),
        },
        _ => Stop::Other,
    }
}

fn trace(request: libc::c_uint, pid: i32, data: usize) -> bool {
    // SAFETY: requests of this file that take a number and touch no memory here.
    unsafe { libc::ptrace(request, pid, 0_usize, data) == 0 }
}
