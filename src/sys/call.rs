//! The system calls that rustix has not, as close to their manual pages as Rust.

use core::ffi::CStr;

use linux_raw_sys::general as raw;

use super::Result;
use super::arch::syscall;
use crate::base::errno::Errno;

/// Makes the call and turns `-errno` into an error.
///
/// # Safety
///
/// As the call itself.
pub(super) unsafe fn check(number: u32, arguments: [usize; 6]) -> Result<usize> {
    // SAFETY: the caller answers for the call.
    let answer = unsafe { syscall(number, arguments) };
    answered(answer)
}

/// The answer of a system call: a value, or `-errno` between -4095 and -1.
pub(super) fn answered(answer: isize) -> Result<usize> {
    match usize::try_from(answer) {
        Ok(value) => Ok(value),
        Err(_) => Err(Errno::from_number(
            u16::try_from(answer.unsigned_abs()).unwrap_or(u16::MAX),
        )),
    }
}

/// `dup3(2)`: a copy of a descriptor under this number, open over an exec; what had
/// the number in this process is closed. It must belong to nobody who would miss it.
pub(super) fn duplicate(fd: i32, number: i32) -> Result<()> {
    let word = |number: i32| usize::try_from(number).map_err(|_| Errno::EBADF);
    let words = [word(fd)?, word(number)?, 0, 0, 0, 0];
    // SAFETY: takes numbers.
    unsafe { check(raw::__NR_dup3, words) }.map(drop)
}

/// `exit_group(2)`: ends this process and runs nothing more.
pub(super) fn exit_group(code: u8) -> ! {
    loop {
        // SAFETY: takes a number, and does not return.
        let _ = unsafe { syscall(raw::__NR_exit_group, [usize::from(code), 0, 0, 0, 0, 0]) };
    }
}

/// `execve(2)`: on success there is nobody to return to.
///
/// # Safety
///
/// `arguments` and `environment` point to arrays of C strings that end with a
/// null pointer.
pub(super) unsafe fn execve(
    path: &CStr,
    arguments: *const *const u8,
    environment: *const *const u8,
) -> Errno {
    let words = [
        path.as_ptr().addr(),
        arguments.addr(),
        environment.addr(),
        0,
        0,
        0,
    ];
    // SAFETY: the caller answers for the arrays; the path is a C string.
    match unsafe { check(raw::__NR_execve, words) } {
        Ok(_) => Errno::EINVAL,
        Err(errno) => errno,
    }
}

/// The set of all signals, as the kernel counts them: bit n - 1 for signal n.
pub(super) const ALL_SIGNALS: u64 = u64::MAX;

/// Bytes of the kernel's signal set.
pub(super) const SIGNAL_SET_BYTES: usize = 8;

/// `rt_sigprocmask(2)` with `SIG_SETMASK`.
pub(super) fn set_signal_mask(set: u64) -> Result<()> {
    swap_signal_mask(set).map(drop)
}

/// [`set_signal_mask`], with the mask before.
pub(super) fn swap_signal_mask(set: u64) -> Result<u64> {
    let mut before = 0_u64;
    let words = [
        raw::SIG_SETMASK as usize,
        (&raw const set).addr(),
        (&raw mut before).addr(),
        SIGNAL_SET_BYTES,
        0,
        0,
    ];
    // SAFETY: the kernel reads eight bytes of `set`, and writes eight.
    unsafe { check(raw::__NR_rt_sigprocmask, words) }?;
    Ok(before)
}
