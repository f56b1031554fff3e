//! What a shell in a guest can't do, or not as fast: a program of its own.
//!
//! Compiled by itself, statically, and run inside. The first word says what to be.

use std::arch::asm;
use std::ffi::{CString, c_char, c_int, c_uint};
use std::ptr;

unsafe extern "C" {
    fn fork() -> c_int;
    fn execv(path: *const c_char, words: *const *const c_char) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn usleep(micros: c_uint) -> c_int;
    fn setsid() -> c_int;
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
        _ => panic!("probe: {words:?}"),
    }
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
