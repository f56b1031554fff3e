//! Everything that depends on the processor: entry, system calls, clone.
//!
//! Each file has the same items; nothing else in the project names a register.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{
    clone_arguments, clone_into, copy_backward, copy_forward, fill, restore, syscall,
};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{
    clone_arguments, clone_into, copy_backward, copy_forward, fill, restore, syscall,
};

/// Defines `_start`, the program's first instruction: it hands the kernel's
/// initial stack (`argc`, `argv`, 0, `envp`, 0, `auxv`) to `$main`, which must be
/// an `unsafe extern "C" fn(*const usize) -> !`.
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        /// The program's first instruction.
        ///
        /// # Safety
        ///
        /// Only the kernel comes here, with its initial stack.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn _start() -> ! {
            #[cfg(target_arch = "x86_64")]
            core::arch::naked_asm!(
                "xor ebp, ebp",
                "mov rdi, rsp",
                "and rsp, -16",
                "call {main}",
                "ud2",
                main = sym $main,
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::naked_asm!(
                "mov x29, xzr",
                "mov x30, xzr",
                "mov x0, sp",
                "bl {main}",
                "brk #1",
                main = sym $main,
            );
        }
    };
}
