//! The program that the measured inits run: it notes when it was started.
//!
//! What it does then, the file `/mode` says: `life` measures one whole life of
//! the init and has it stop, `again` ends again and again and measures how long
//! each restart takes, `trace` shows what the kernel saw of the boot, `orphans`
//! makes some, `stubborn` does not end when it is asked to; others just stay.

#![no_std]
#![no_main]

use core::ffi::CStr;

use linux_raw_sys::general::SIGTERM;

use bench_programs::{kernel, life, orphans, restarts, text, traced};

host_init::entry!(main);

/// `SIG_IGN`.
const IGNORE: kernel::Action = kernel::Action {
    handler: 1,
    flags: 0,
    restorer: 0,
    mask: 0,
};

/// Where the image says what the host is to do.
const MODE: &CStr = c"/mode";

unsafe extern "C" fn main(_: *const usize) -> ! {
    // Before anything else.
    let start = kernel::ticks();
    let mut buffer = [0; 16];
    match text::read_file(MODE, &mut buffer) {
        b"life" => life::run(start),
        b"again" => restarts::run(start),
        b"trace" => traced::run(),
        b"orphans" => orphans::run(),
        b"stubborn" => {
            kernel::set_action(SIGTERM, &IGNORE);
            idle()
        }
        _ => idle(),
    }
}

fn idle() -> ! {
    loop {
        kernel::sleep(i64::MAX);
    }
}
