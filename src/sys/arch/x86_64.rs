//! x86-64: `syscall` takes the number in rax, arguments in rdi rsi rdx r10 r8 r9.

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
    // SAFETY: the caller answers for the call; the kernel changes rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
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
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "and rsp, -16",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r12") argument,
            in("r13") child,
            lateout("rcx") _,
            lateout("r11") _,
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
    [flags, stack, parent, child, 0]
}

/// Where a signal handler returns to: `rt_sigreturn(2)`.
///
/// # Safety
///
/// Only a handler comes here, with the kernel's frame on the stack.
#[unsafe(naked)]
pub unsafe extern "C" fn restore() {
    core::arch::naked_asm!(
        "mov eax, {number}",
        "syscall",
        "ud2",
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
    // SAFETY: the caller answers for the places; the direction flag is clear.
    unsafe {
        asm!(
            "rep movsq",
            "mov ecx, {rest:e}",
            "rep movsb",
            rest = in(reg) count % 8,
            inout("rcx") count / 8 => _,
            inout("rdi") target => _,
            inout("rsi") source => _,
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
    // SAFETY: the caller answers for the places; the direction flag is restored.
    unsafe {
        asm!(
            "std",
            "rep movsb",
            "cld",
            inout("rcx") count => _,
            inout("rdi") target.wrapping_add(count).wrapping_sub(1) => _,
            inout("rsi") source.wrapping_add(count).wrapping_sub(1) => _,
            options(nostack),
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
    let word = u64::from(byte) * 0x0101_0101_0101_0101;
    // SAFETY: the caller answers for the place; the direction flag is clear.
    unsafe {
        asm!(
            "rep stosq",
            "mov ecx, {rest:e}",
            "rep stosb",
            rest = in(reg) count % 8,
            inout("rcx") count / 8 => _,
            inout("rdi") target => _,
            in("rax") word,
            options(nostack, preserves_flags),
        );
    }
}
