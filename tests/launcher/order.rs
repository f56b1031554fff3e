//! In which order a file is replaced and removed, seen from outside.

use std::ffi::{CStr, c_long};
use std::fs;

use host_init::sys::files;

use crate::node::Node;

/// A call that a disk gets to feel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Call {
    Make,
    Write,
    SyncFile,
    Rename,
    Remove,
    SyncDirectory,
}

#[test]
fn a_file_has_its_name_when_it_is_whole_and_keeps_it_when_that_is_durable() {
    const NAME: &CStr = c"halted";
    let node = Node::new(&[]);
    node.put("halted", b"before\n");
    let path = crate::room::text(&node.path(""));
    let directory = files::open_directory(&path).unwrap();

    let replaced =
        calls(|| files::replace_durably(&directory, NAME, c".aside", b"after\n").is_ok());
    let removed = calls(|| files::remove_durably(&directory, NAME).is_ok());

    let whole = [Call::Make, Call::Write, Call::SyncFile];
    assert_eq!(
        replaced,
        [&whole[..], &[Call::Rename, Call::SyncDirectory]].concat()
    );
    assert_eq!(removed, [Call::Remove, Call::SyncDirectory]);
}

/// The calls that a process makes which does this.
fn calls(work: impl FnOnce() -> bool) -> Vec<Call> {
    // SAFETY: the child makes system calls only, and touches nothing of others.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        trace(libc::PTRACE_TRACEME, 0, 0);
        // SAFETY: has no arguments.
        let own = unsafe { libc::getpid() };
        // SAFETY: takes numbers.
        unsafe { libc::kill(own, libc::SIGSTOP) };
        let code = i32::from(!work());
        // SAFETY: takes a number.
        unsafe { libc::_exit(code) };
    }
    assert!(pid > 0);
    assert!(libc::WIFSTOPPED(wait(pid)), "can't be traced");
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    trace(
        libc::PTRACE_SETOPTIONS,
        pid,
        usize::try_from(options).unwrap(),
    );
    let mut calls = Vec::new();
    loop {
        trace(libc::PTRACE_SYSCALL, pid, 0);
        let status = wait(pid);
        if libc::WIFEXITED(status) {
            assert_eq!(libc::WEXITSTATUS(status), 0, "it failed");
            return calls;
        }
        // `struct ptrace_syscall_info`: the kind first; at 24 the call's number and
        // behind it its arguments.
        let mut info = [0_u64; 11];
        // SAFETY: the kernel writes at most as many bytes as it is told there are.
        unsafe {
            libc::ptrace(
                libc::PTRACE_GET_SYSCALL_INFO,
                pid,
                size_of_val(&info),
                info.as_mut_ptr(),
            )
        };
        if info[0].to_le_bytes()[0] != libc::PTRACE_SYSCALL_INFO_ENTRY {
            continue;
        }
        let is_directory =
            || fs::metadata(format!("/proc/{pid}/fd/{}", info[4])).is_ok_and(|it| it.is_dir());
        calls.extend(match c_long::try_from(info[3]).unwrap() {
            libc::SYS_openat => Some(Call::Make),
            libc::SYS_write => Some(Call::Write),
            libc::SYS_fsync if is_directory() => Some(Call::SyncDirectory),
            libc::SYS_fsync => Some(Call::SyncFile),
            libc::SYS_renameat | libc::SYS_renameat2 => Some(Call::Rename),
            libc::SYS_unlinkat => Some(Call::Remove),
            _ => None,
        });
    }
}

fn wait(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: a place for one status.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
    assert_eq!(waited, pid);
    status
}

fn trace(request: libc::c_uint, pid: i32, data: usize) {
    // SAFETY: requests of this file that take a number and touch no memory here.
    unsafe { libc::ptrace(request, pid, 0_usize, data) };
}
