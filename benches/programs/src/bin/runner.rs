//! The first process of a guest in which an entrypoint is measured; see `runner`.

#![no_std]
#![no_main]

use bench_programs::runner;

host_init::entry!(main);

unsafe extern "C" fn main(_: *const usize) -> ! {
    runner::run()
}
