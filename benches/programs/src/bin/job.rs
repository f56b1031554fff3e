//! The boot job alone, for an init that has programs do it.

#![no_std]
#![no_main]

use bench_programs::{boot, kernel};

host_init::entry!(main);

unsafe extern "C" fn main(_: *const usize) -> ! {
    boot::run();
    kernel::exit(0)
}
