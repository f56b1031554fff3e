//! The least init; the kernel releases its children.

#![no_std]
#![no_main]

use bench_programs::floor::{self, Children};

host_init::entry!(main);

unsafe extern "C" fn main(_: *const usize) -> ! {
    floor::main(Children::Vanish)
}
