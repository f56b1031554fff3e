//! The freestanding program: its entry, its memory functions, its panic.
//!
//! No C library is linked, and no allocator: what would need one does not link.

#![no_std]
#![no_main]

mod memory;

use core::panic::PanicInfo;

use host_init::sys::arguments::Arguments;
use host_init::sys::spawn::Spawner;
use host_init::sys::{power, task};
use host_init::{client, pid1};

host_init::entry!(main);

/// Where the program begins, on the stack that the kernel made.
///
/// # Safety
///
/// Called once, by `_start`, with the initial stack pointer.
unsafe extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: `_start` hands over what the kernel gave it.
    let arguments = unsafe { Arguments::new(stack) };
    if !power::is_init() {
        client::main(arguments);
    }
    // SAFETY: this is the only call in the life of the process.
    match unsafe { Spawner::new() } {
        Ok(spawner) => pid1::main(arguments, spawner),
        Err(_) => task::exit(pid1::emergency::CODE),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    pid1::emergency::panic(info)
}
