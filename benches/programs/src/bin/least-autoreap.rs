//! The least entrypoint; the kernel releases its children.

#![no_std]
#![no_main]

use bench_programs::entrypoint;
use bench_programs::floor::Children;
use bench_programs::kernel::Words;

host_init::entry!(main);

unsafe extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: `_start` hands over what the kernel gave it.
    let words = unsafe { Words::new(stack) };
    entrypoint::main(words, Children::Vanish)
}
