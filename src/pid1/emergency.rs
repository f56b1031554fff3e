//! When host-init itself is at fault: as a machine's PID 1 say so, kill, sync within a
//! bound, restart; else say so and exit.
//!
//! Nothing here trusts what PID 1 knew: it may be what is broken. A second fault
//! on the way asks the kernel to restart at once.

use core::fmt::Write;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;

use crate::base::level::Level;
use crate::base::paths;
use crate::base::signal::Signal;
use crate::format::line::Line;
use crate::policy::machine;
use crate::policy::settings::{Hopeless, Role};
use crate::sys::kmsg::{self, Sink};
use crate::sys::power::{self, Command};
use crate::sys::{kill, mount, poll, process, reap, task};

/// The exit code that says that host-init itself failed, where it can exit.
pub const CODE: u8 = machine::FAULT;

/// How long killing and writing may take.
const CLEAN_UP: Duration = Duration::from_secs(30);

/// Whether the machine is this process's to restart.
static IS_MACHINE: AtomicBool = AtomicBool::new(false);

/// Milliseconds until the restart; [`STAY`] for never, 0 for [`UNSAID`]. That it
/// begins as 0 spares the program a page of data.
static COUNT_DOWN: AtomicU32 = AtomicU32::new(0);

/// See [`COUNT_DOWN`].
const STAY: u32 = u32::MAX;

/// Milliseconds until the restart when nobody has said how many.
pub const UNSAID: u32 = 10_000;

/// Whether a fault is being dealt with.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether this process supervises as PID 1, or is a child of the one that does.
static IS_SUPERVISED: AtomicBool = AtomicBool::new(false);

/// Says where host-init is PID 1: from here on a fault is dealt with.
pub fn set_role(role: Role) {
    IS_SUPERVISED.store(true, Ordering::Relaxed);
    IS_MACHINE.store(role == Role::Machine, Ordering::Relaxed);
}

/// Says what happens after a fault: `panic=` of the kernel command line.
pub fn set_hopeless(hopeless: Hopeless) {
    let millis = match hopeless {
        Hopeless::Stay => STAY,
        Hopeless::RestartAfter(wait) => {
            u32::try_from(wait.as_millis()).map_or(STAY - 1, |millis| millis.clamp(1, STAY - 1))
        }
    };
    COUNT_DOWN.store(millis, Ordering::Relaxed);
}

/// Ends a panic.
pub fn panic(info: &PanicInfo<'_>) -> ! {
    let mut line = Line::kmsg(Level::Error);
    let _ = write!(line, "panic: {}", info.message());
    if let Some(place) = info.location() {
        let _ = write!(line, " at {}:{}", place.file(), place.line());
    }
    die(&line)
}

/// Ends a fault of the processor's: the handler of `SEGV` and its like.
pub fn fault(number: i32) -> ! {
    let mut line = Line::kmsg(Level::Error);
    line.push("fault: ");
    match u8::try_from(number).ok().and_then(Signal::from_number) {
        Some(signal) => line.push(signal.name().unwrap_or("signal")),
        None => line.push("signal"),
    }
    die(&line)
}

fn write(line: &Line) {
    let mut sink = Sink::new();
    if IS_MACHINE.load(Ordering::Relaxed) {
        sink.use_kmsg(paths::KMSG);
    }
    sink.write(line.as_bytes());
}

fn die(epitaph: &Line) -> ! {
    if IS_SUPERVISED.load(Ordering::Relaxed) && !process::is_init() {
        // A child of PID 1: its end is told to PID 1 by the kernel, and what is written
        // here could be PID 1's as well.
        task::exit(CODE);
    }
    let has_failed = HAS_FAILED.swap(true, Ordering::Relaxed);
    if !has_failed {
        write(epitaph);
    }
    if !IS_MACHINE.load(Ordering::Relaxed) {
        task::exit(CODE);
    }
    if has_failed {
        match COUNT_DOWN.load(Ordering::Relaxed) {
            STAY => stay(),
            _ => restart(),
        }
    }
    let cleaner = task::fork(|| {
        let _ = kill::all(Signal::KILL);
        mount::sync();
        0
    });
    if let Ok(cleaner) = cleaner {
        poll::wait_readable(&cleaner.pidfd, CLEAN_UP);
    }
    let millis = match COUNT_DOWN.load(Ordering::Relaxed) {
        STAY => stay(),
        0 => UNSAID,
        millis => millis,
    };
    let mut line = Line::kmsg(Level::Error);
    let _ = write!(line, "restarting in {} s", millis.div_ceil(1000));
    write(&line);
    kmsg::pause(Duration::from_millis(u64::from(millis)));
    restart()
}

/// Reaps for ever, for somebody to look at what happened.
fn stay() -> ! {
    let mut line = Line::kmsg(Level::Error);
    line.push("staying as it is (panic=0)");
    write(&line);
    loop {
        while reap::next().is_some() {}
        kmsg::pause(Duration::from_secs(1));
    }
}

/// Restarts by a child, since the kernel ends who asks; by itself when there can
/// be no child.
fn restart() -> ! {
    let restarter = task::fork(|| {
        power::reboot(Command::Restart);
        1
    });
    if let Ok(restarter) = restarter {
        poll::wait_readable(&restarter.pidfd, CLEAN_UP);
    }
    loop {
        power::reboot(Command::Restart);
        kmsg::pause(Duration::from_secs(1));
    }
}
