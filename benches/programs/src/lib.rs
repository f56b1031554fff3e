//! What the measured programs share: system calls, the boot job, texts.
//!
//! - [`kernel`]: system calls and the processor's clock, as safe functions;
//! - [`boot`]: the steps that every init in a comparison takes before its host;
//! - [`floor`]: the least init there can be, in two kinds;
//! - [`entrypoint`]: the least entrypoint, in the same two kinds;
//! - [`runner`], [`command`]: the first process of a guest in which an entrypoint is
//!   measured, and the entrypoint's command;
//! - [`process`]: what the kernel tells of an init;
//! - [`text`]: numbers out of the kernel's files, and lines to the console;
//! - [`memory`]: what the compiler calls by name.

#![no_std]

pub mod boot;
pub mod clock;
pub mod command;
pub mod entrypoint;
pub mod floor;
pub mod kernel;
pub mod life;
#[path = "../../../src/bin/host-init/memory.rs"]
pub mod memory;
pub mod orphans;
pub mod process;
pub mod restarts;
pub mod runner;
pub mod steps;
pub mod stop;
pub mod text;
pub mod traced;
pub mod tracing;

/// Nothing here is worth a message: whoever measures sees that none came.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    kernel::exit(101)
}
