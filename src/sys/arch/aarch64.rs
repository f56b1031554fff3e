//! aarch64: `svc 0` takes the number in x8, arguments in x0 to x5.

use core::arch::asm;

/// Makes the system call `number`; the kernel's answer, an error as `-errno`.
///
/// # Safety
///
/// As the call itself: see its manual page.
#[inline]
pub unsafe fn syscall(number: u32, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the caller answers for the call; the kernel changes only x0.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number as usize,
            inlateout("x0") a as isize => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") f,
            options(nostack),
        );
    }
    result
}

/// Makes a process by the system call `number`, `clone(2)` or `clone3(2)`, which
/// runs `child(argument)` and nothing else; in the caller, the child's pid or
/// `-errno`.
///
/// # Safety
///
/// As the call itself. When the child shares memory, its stack is the child's alone
/// until the child is gone or has become another program, and so is what
/// `argument` points to.
#[inline]
pub unsafe fn clone_into(
    number: u32,
    arguments: [usize; 5],
    child: unsafe extern "C" fn(*const u8) -> !,
    argument: *const u8,
) -> isize {
    let [a, b, c, d, e] = arguments;
    let result;
    // SAFETY: the caller answers for the stack. The child never comes back here:
    // it starts with the same registers, and calls `child` on its own stack.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x5",
            "blr x6",
            "brk #1",
            "2:",
            in("x8") number as usize,
            inlateout("x0") a as isize => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") argument,
            in("x6") child,
        );
    }
    result
}

/// The arguments of `clone(2)` in this processor's order: flags, the end of the
/// stack, where the caller and where the child find a number.
pub const fn clone_arguments(
    flags: usize,
    stack: usize,
    parent: usize,
    child: usize,
) -> [usize; 5] {
    [flags, stack, parent, 0, child]
}

/// Where a signal handler returns to: `rt_sigreturn(2)`.
///
/// # Safety
///
/// Only a handler comes here, with the kernel's frame on the stack.
#[unsafe(naked)]
pub unsafe extern "C" fn restore() {
    core::arch::naked_asm!(
        "mov x8, {number}",
        "svc 0",
        "brk #1",
        number = const linux_raw_sys::general::__NR_rt_sigreturn,
    );
}

/// Copies `count` bytes, the first first.
///
/// # Safety
///
/// Both are places of `count` bytes, and `target` does not begin inside `source`.
#[inline]
pub unsafe fn copy_forward(target: *mut u8, source: *const u8, count: usize) {
    // SAFETY: the caller answers for the places.
    unsafe {
        asm!(
            "cbz {count}, 3f",
            "2:",
            "ldrb {byte:w}, [{source}], #1",
            "strb {byte:w}, [{target}], #1",
            "sub {count}, {count}, #1",
            "cbnz {count}, 2b",
            "3:",
            count = inout(reg) count => _,
            target = inout(reg) target => _,
            source = inout(reg) source => _,
            byte = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies `count` bytes, the last first.
///
/// # Safety
///
/// Both are places of `count` bytes, and `source` does not begin inside `target`.
#[inline]
pub unsafe fn copy_backward(target: *mut u8, source: *const u8, count: usize) {
    // SAFETY: the caller answers for the places.
    unsafe {
        asm!(
            "cbz {count}, 3f",
            "2:",
            "sub {count}, {count}, #1",
            "ldrb {byte:w}, [{source}, {count}]",
            "strb {byte:w}, [{target}, {count}]",
            "cbnz {count}, 2b",
            "3:",
            count = inout(reg) count => _,
            target = in(reg) target,
            source = in(reg) source,
            byte = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Sets `count` bytes.
///
/// # Safety
///
/// `target` is a place of `count` bytes.
#[inline]
pub unsafe fn fill(target: *mut u8, byte: u8, count: usize) {
    // SAFETY: the caller answers for the place.
    unsafe {
        asm!(
            "cbz {count}, 3f",
            "2:",
            "strb {byte:w}, [{target}], #1",
            "sub {count}, {count}, #1",
            "cbnz {count}, 2b",
            "3:",
            count = inout(reg) count => _,
            target = inout(reg) target => _,
            byte = in(reg) u32::from(byte),
            options(nostack, preserves_flags),
        );
    }
}
