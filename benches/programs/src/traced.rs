//! The kernel's trace of a boot and a restart, told to whoever reads the console.

use core::ffi::CStr;

use linux_raw_sys::general::{O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, SIGUSR2};

use crate::kernel;

const ROOT: &CStr = c"/sys/kernel/tracing";
const TRACE: &CStr = c"/sys/kernel/tracing/trace";

/// There once the host has ended once.
const ENDED: &CStr = c"/run/bench-traced";

/// How long the first life is: see `restarts`.
const LIFE_NANOS: i64 = 30_000_000;

/// Ends the first time. Then stops the trace, prints it, and asks the init to power off.
pub fn run() -> ! {
    if kernel::look(ENDED) < 0 {
        kernel::close(kernel::open(ENDED, O_WRONLY | O_CREAT));
        kernel::sleep(LIFE_NANOS);
        kernel::exit(0);
    }
    // An init may have mounted it.
    kernel::mount(c"tracefs", ROOT, 0, c"");
    print();
    kernel::kill(1, SIGUSR2);
    loop {
        kernel::sleep(i64::MAX);
    }
}

/// Prints what the kernel saw while something was done.
pub fn record(work: impl FnOnce()) {
    kernel::mount(c"tracefs", ROOT, 0, c"");
    let buffer = kernel::open(TRACE, O_WRONLY | O_TRUNC);
    kernel::close(buffer);
    work();
    print();
}

/// Stops the trace and prints it.
fn print() {
    let switch = kernel::open(c"/sys/kernel/tracing/tracing_on", O_WRONLY);
    kernel::write(switch, b"0");
    let trace = kernel::open(TRACE, O_RDONLY);
    let console = kernel::open(c"/dev/console", O_RDWR);
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = usize::try_from(kernel::read(trace, &mut buffer)) {
        kernel::write(console, buffer.get(..length).unwrap_or_default());
    }
}
