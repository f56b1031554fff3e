//! The program that ends at once; with an argument, it first writes to that file when
//! its first instruction was.

#![no_std]
#![no_main]

use linux_raw_sys::general::{O_CREAT, O_WRONLY};

use bench_programs::kernel::{self, Words};

host_init::entry!(main);

unsafe extern "C" fn main(stack: *const usize) -> ! {
    // Before anything else.
    let start = kernel::ticks();
    // SAFETY: `_start` hands over what the kernel gave it.
    let words = unsafe { Words::new(stack) };
    if let Some(path) = words.get(1) {
        let file = kernel::open(path, O_WRONLY | O_CREAT);
        kernel::write(file, &start.to_le_bytes());
    }
    kernel::exit(0)
}
