//! What each step of a boot costs the kernel, and each step beyond the job.

#![no_std]
#![no_main]

use bench_programs::steps;

host_init::entry!(main);

unsafe extern "C" fn main(_: *const usize) -> ! {
    steps::run()
}
