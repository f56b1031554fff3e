//! The freestanding program: its entry, its memory functions, its panic.
//!
//! No C library is linked, and no allocator: what would need one does not link.

#![no_std]
#![no_main]

mod memory;

use core::panic::PanicInfo;

use host_init::entrypoint::Given;
use host_init::format::options::persona;
use host_init::policy::settings::Role;
use host_init::sys::arguments::Arguments;
use host_init::sys::spawn::{Slots, Spawner};
use host_init::sys::{power, process, signals, task};
use host_init::{client, entrypoint, pid1};

host_init::entry!(main);

/// Where the program begins, on the stack that the kernel made.
///
/// # Safety
///
/// Called once, by `_start`, with the initial stack pointer.
unsafe extern "C" fn main(stack: *const usize) -> ! {
    // The first thing: a signal that comes from now on waits for whoever it is for.
    let mask = signals::block_all().unwrap_or(0);
    // SAFETY: `_start` hands over what the kernel gave it.
    let arguments = unsafe { Arguments::new(stack) };
    // SAFETY: this is the only call in the life of the process.
    let mut slots = unsafe { Slots::take() };
    let pid = process::pid();
    let own = arguments.words().next().unwrap_or_default();
    let persona = persona::by_name(own.to_bytes());
    // The kernel hands words of its command line to the machine's first process,
    // and they mean nothing.
    let is_machine = pid == process::INIT && persona.is_own() && power::take_ctrl_alt_del().is_ok();
    let mut config = None;
    if !is_machine {
        if persona.is_own() && client::is_asked(arguments) {
            let _ = signals::set_mask(mask);
            client::main(arguments);
        }
        (slots, config) = entrypoint::main(Given {
            arguments,
            persona,
            mask,
            slots,
            pid,
        });
    }
    let role = if is_machine {
        Role::Machine
    } else {
        Role::Container
    };
    match Spawner::new(slots) {
        Ok(spawner) => pid1::main(role, arguments, config, spawner),
        Err(_) => task::exit(pid1::emergency::CODE),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    pid1::emergency::panic(info)
}
