//! The program that the measured entrypoints run; see `command`.

#![no_std]
#![no_main]

use bench_programs::command;
use bench_programs::kernel::Words;

host_init::entry!(main);

unsafe extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: `_start` hands over what the kernel gave it.
    command::run(unsafe { Words::new(stack) })
}
