//! What a shell in a guest can't do, or not as fast: a program of its own.
//!
//! Compiled by itself, statically, and run inside. The first word says what to be.

use std::arch::asm;
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

unsafe extern "C" {
    fn fork() -> c_int;
    fn execv(path: *const c_char, words: *const *const c_char) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn usleep(micros: c_uint) -> c_int;
    fn setsid() -> c_int;
    fn unshare(flags: c_int) -> c_int;
    fn umount2(target: *const c_char, flags: c_int) -> c_int;
    fn mount(
        source: *const c_char,
        target: *const c_char,
        kind: *const c_char,
        flags: u64,
        data: *const c_char,
    ) -> c_int;
    fn syscall(number: i64, ...) -> i64;
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse().expect("a number");
    match words.as_slice() {
        [_, "early", signal, micros] => early(number(signal), number(micros)),
        [_, "orphans", count] => orphans(number(count)),
        [_, "hydra", heads] => hydra(number(heads)),
        [_, "contain", group, "writable"] => contain(group, 0),
        [_, "contain", group, "read-only"] => contain(group, MS_RDONLY),
        [_, "say", text, program] => say(text, program),
        _ => panic!("probe: {words:?}"),
    }
}

/// Says something of this process at `$NOTIFY_SOCKET`, with `|` for an end of a line,
/// and becomes a program.
fn say(text: &str, program: &str) {
    let socket = UnixDatagram::unbound().unwrap();
    let name = std::env::var("NOTIFY_SOCKET").unwrap();
    socket.send_to(text.replace('|', "\n").as_bytes(), name).unwrap();
    panic!("probe: {}", Command::new(program).exec());
}

const MS_RDONLY: u64 = 1;

/// Makes a container of namespaces in a control group, in which it sees nothing but
/// that group, and runs host-init in it with `/etc/box.toml`. Another process of
/// the container is in the group from before.
fn contain(group: &str, flags: u64) {
    const NEW_MOUNTS: c_int = 0x0002_0000;
    const NEW_CGROUP: c_int = 0x0200_0000;
    const NEW_PID: c_int = 0x2000_0000;

    // SAFETY: takes a number.
    assert_eq!(unsafe { unshare(NEW_PID) }, 0);
    // SAFETY: there is one thread.
    let init = unsafe { fork() };
    if init != 0 {
        println!("contained: {init}");
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        unsafe { waitpid(init, &mut status, 0) };
        println!("contained: ended, status {status:#x}");
        return;
    }
    std::fs::write(format!("{group}/cgroup.procs"), "0").unwrap();
    // SAFETY: takes a number.
    assert_eq!(unsafe { unshare(NEW_MOUNTS | NEW_CGROUP) }, 0);
    // SAFETY: there is one thread.
    if unsafe { fork() } == 0 {
        loop {
            // SAFETY: takes a number.
            unsafe { usleep(1_000_000) };
        }
    }
    mount_new(c"none", c"/", c"", 1 << 18 | 1 << 14);
    // SAFETY: the path is a C string.
    unsafe { umount2(c"/sys/fs/cgroup".as_ptr(), 2) };
    mount_new(c"proc", c"/proc", c"proc", 0);
    mount_new(c"cgroup2", c"/sys/fs/cgroup", c"cgroup2", flags);
    let words = [
        c"/init".as_ptr(),
        c"--config".as_ptr(),
        c"/etc/box.toml".as_ptr(),
        ptr::null(),
    ];
    // SAFETY: all are C strings, and the words end with a null pointer.
    unsafe { execv(c"/init".as_ptr(), words.as_ptr()) };
    panic!("probe: exec /init");
}

fn mount_new(source: &CStr, target: &CStr, kind: &CStr, flags: u64) {
    // SAFETY: all are C strings, and there is no data.
    let answer = unsafe {
        mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags,
            ptr::null(),
        )
    };
    assert_eq!(answer, 0, "probe: mount {target:?}");
}

/// Becomes host-init, as the PID 1 that this process is, and leaves a child that
/// sends it a signal after so many microseconds.
///
/// Every signal is blocked over the exec. Otherwise the kernel drops what comes
/// before host-init can block it, as it does for every init.
fn early(signal: i32, micros: i32) {
    const SIG_SETMASK: c_int = 2;
    const RT_SIGPROCMASK: i64 = 14;

    let all = u64::MAX;
    // SAFETY: the kernel reads one set of eight bytes.
    unsafe {
        syscall(
            RT_SIGPROCMASK,
            SIG_SETMASK,
            &raw const all,
            ptr::null::<u64>(),
            8_usize,
        )
    };
    // SAFETY: there is one thread.
    if unsafe { fork() } == 0 {
        // SAFETY: takes a number.
        unsafe { usleep(c_uint::try_from(micros).unwrap()) };
        // SAFETY: takes numbers.
        unsafe { kill(1, signal) };
        return;
    }
    let path = CString::new("/init").unwrap();
    let words = [path.as_ptr(), ptr::null()];
    // SAFETY: both are C strings, and the words end with a null pointer.
    unsafe { execv(path.as_ptr(), words.as_ptr()) };
    panic!("probe: exec /init");
}

/// Makes so many processes that end at once, and whose parents have ended when
/// they are to be reaped.
fn orphans(count: i32) {
    /// Children of one parent: fewer than a control group or a user may have.
    const BATCH: i32 = 100;

    for batch in 0..count / BATCH {
        // SAFETY: there is one thread.
        let mother = unsafe { fork() };
        if mother == 0 {
            for _ in 0..BATCH {
                short_life();
            }
            std::process::exit(0);
        }
        assert!(mother > 0, "probe: fork {batch}");
        let mut status = 0;
        // SAFETY: the kernel writes one number.
        unsafe { waitpid(mother, &mut status, 0) };
        assert_eq!(status, 0);
    }
    println!("orphans: {}", count / BATCH * BATCH);
}

/// A child that does nothing but exit, without a copy of anything.
fn short_life() {
    const CLONE: i64 = 56;
    const EXIT: i32 = 60;
    /// `CLONE_VM | CLONE_VFORK | SIGCHLD`.
    const FLAGS: i64 = 0x100 | 0x4000 | 17;

    let answer: i64;
    // SAFETY: the child, which shares the stack, exits before it touches it.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "mov eax, {exit}",
            "xor edi, edi",
            "syscall",
            "2:",
            exit = const EXIT,
            inlateout("rax") CLONE => answer,
            inlateout("rdi") FLAGS => _,
            in("rsi") 0, in("rdx") 0, in("r10") 0, in("r8") 0,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    assert!(answer > 0, "probe: clone: {answer}");
}

/// So many processes, each of which has a new pid a thousand times a second: what
/// kills one after the other never catches them.
fn hydra(heads: i32) {
    for _ in 0..heads {
        // SAFETY: there is one thread.
        if unsafe { fork() } == 0 {
            // SAFETY: takes nothing.
            unsafe { setsid() };
            loop {
                // SAFETY: takes a number.
                unsafe { usleep(1_000) };
                // SAFETY: there is one thread.
                if unsafe { fork() } != 0 {
                    std::process::exit(0);
                }
            }
        }
    }
}
