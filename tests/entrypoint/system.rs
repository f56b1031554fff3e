//! System calls as functions that a test may call, and a child between clone and exec.
//!
//! None of those that such a child makes allocates.

use std::ffi::{CStr, CString, c_int};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The numbers of all signals that a program may use: 32 and 33 are the C
/// library's own.
pub(crate) fn signals() -> impl Iterator<Item = c_int> {
    (1..=31).chain(34..=64)
}

pub(crate) fn set_signal(number: c_int, action: libc::sighandler_t) {
    // SAFETY: the actions of these tests are safe in a process of one thread.
    // KILL and STOP refuse.
    unsafe { libc::signal(number, action) };
}

pub(crate) fn raise(number: c_int) {
    kill(pid(), number);
}

pub(crate) fn kill(pid: i32, number: c_int) {
    // SAFETY: takes numbers.
    unsafe { libc::kill(pid, number) };
}

pub(crate) fn pid() -> i32 {
    // SAFETY: has no arguments.
    unsafe { libc::getpid() }
}

pub(crate) fn parent() -> i32 {
    // SAFETY: has no arguments.
    unsafe { libc::getppid() }
}

/// Where a signal is, in a set of them.
pub(crate) const fn bit(number: c_int) -> u64 {
    1 << (number - 1)
}

/// All of them, as a set. With a C library a program can block no others.
pub(crate) const ALL: u64 = !(bit(32) | bit(33));

/// Blocks these signals and no others, of this thread; those it blocked before.
pub(crate) fn block(signals: u64) -> u64 {
    let mut before = 0_u64;
    // The C library would leave out the two that it keeps for itself.
    // SAFETY: the kernel reads eight bytes and writes eight.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const signals,
            &raw mut before,
            size_of::<u64>(),
        )
    };
    before
}

/// Takes the next of these signals, which are blocked, when there is one in so
/// many seconds: its number, and who sent it.
pub(crate) fn take(signals: u64, seconds: i64) -> Option<(c_int, i32)> {
    // SAFETY: zeros are a value of this plain struct.
    let mut taken: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let bound = libc::timespec {
        tv_sec: seconds,
        tv_nsec: 0,
    };
    let number = loop {
        // SAFETY: the kernel reads eight bytes and a time, and writes one siginfo.
        let number = unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &raw const signals,
                &raw mut taken,
                &raw const bound,
                size_of::<u64>(),
            )
        };
        // A stop, and its end, are told as an interruption.
        let error = std::io::Error::last_os_error();
        if number > 0 || error.kind() != std::io::ErrorKind::Interrupted {
            break number;
        }
    };
    // SAFETY: the kernel filled it in as for a signal that a process sent, or
    // left it zero.
    let sender = unsafe { taken.si_pid() };
    c_int::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .map(|number| (number, sender))
}

/// A process like this one; 0 in the other.
pub(crate) fn fork() -> i32 {
    // SAFETY: this process has one thread.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    pid
}

/// A copy of this process: 0 in the copy, its pid in this one, or less than 0.
///
/// # Safety
///
/// The copy makes system calls only, until it executes a program or ends.
pub(crate) unsafe fn clone(flags: c_int, pidfd: &mut c_int) -> i32 {
    // SAFETY: zeros are a value of these integers.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = u64::try_from(flags | libc::CLONE_PIDFD).unwrap_or(0);
    arguments.pidfd = (&raw mut *pidfd) as u64;
    arguments.exit_signal = u64::try_from(libc::SIGCHLD).unwrap_or(0);
    // SAFETY: the kernel reads the arguments and writes one descriptor; the copy
    // has memory of its own.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw const arguments,
            size_of::<libc::clone_args>(),
        )
    };
    i32::try_from(pid).unwrap_or(-1)
}

pub(crate) fn stay() -> ! {
    loop {
        // SAFETY: has no arguments.
        unsafe { libc::pause() };
    }
}

pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: ends this process.
    unsafe { libc::_exit(code) }
}

/// Makes this process the leader of a session.
pub(crate) fn lead() {
    // SAFETY: has no arguments. It fails for one that is the leader.
    unsafe { libc::setsid() };
}

/// Moves a process into a group of its own.
pub(crate) fn lead_group(pid: i32) {
    // SAFETY: takes numbers.
    unsafe { libc::setpgid(pid, 0) };
}

/// A pipe: its reader's end and its writer's.
pub(crate) fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0);
    (owned(ends[0]), owned(ends[1]))
}

/// A descriptor that was just made for this process.
pub(crate) fn owned(fd: c_int) -> OwnedFd {
    assert!(fd >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the callers hand over what the kernel gave them a line before.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// `/dev/null`, to read and to write.
pub(crate) fn null() -> OwnedFd {
    device("/dev/null")
}

/// A device, to read and to write.
pub(crate) fn device(path: &str) -> OwnedFd {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .unwrap()
        .into()
}

/// Sends a signal to the process behind a descriptor; whether it went.
pub(crate) fn signal(pidfd: &OwnedFd, number: c_int) -> bool {
    let fd = libc::c_long::from(pidfd.as_raw_fd());
    let nothing = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: takes numbers and a null pointer.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, number, nothing, 0) == 0 }
}

/// A path as the kernel takes it.
pub(crate) fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// Makes a FIFO.
pub(crate) fn make_fifo(path: &CStr) {
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o666) }, 0);
}

/// A terminal's two ends, the one of its programs second.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    // SAFETY: the kernel writes two descriptors.
    let made = unsafe {
        libc::openpty(
            &raw mut master,
            &raw mut slave,
            std::ptr::null_mut(),
            std::ptr::null(),
            std::ptr::null(),
        )
    };
    assert_eq!(made, 0);
    (owned(master), owned(slave))
}

/// Fills a pipe to the last byte.
pub(crate) fn fill(pipe: &OwnedFd) {
    let pipe = pipe.as_raw_fd();
    // SAFETY: takes numbers.
    let set = unsafe { libc::fcntl(pipe, libc::F_SETFL, libc::O_NONBLOCK) };
    assert_eq!(set, 0);
    for size in [65_536, 1] {
        let bytes = vec![b'.'; size];
        // SAFETY: the buffer has that many bytes.
        while unsafe { libc::write(pipe, bytes.as_ptr().cast(), size) } > 0 {}
    }
    // As whoever made it had it: a write would wait.
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::fcntl(pipe, libc::F_SETFL, 0) }, 0);
}
