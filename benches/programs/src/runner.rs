//! Measures an entrypoint, `/entry`, as the first process of pid namespaces.
//!
//! This is the guest's first process, so that no init of the guest is measured with
//! it. Standard streams are `/dev/null`, as those of most containers are no terminals.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

use linux_raw_sys::general::{O_CREAT, O_RDWR, O_TRUNC, O_WRONLY, SIGKILL, SIGTERM};

use crate::tracing::Calls;
use crate::{boot, command, kernel, text};

/// Runs of the program that ends at once. The figure is their median: the clock's
/// tick falls into some of them.
const ROUNDS: usize = 41;

/// Stops of each kind; the figure is their median.
const STOPS: usize = 5;

/// How long an entrypoint and its command may take to have nothing left to do.
const SETTLE_NANOS: i64 = 1_000_000_000;

/// The grace of a stubborn command, where an entrypoint has one.
const GRACE_NANOS: i64 = 1_000_000_000;

/// How long a stubborn command is waited for.
const PATIENCE_NANOS: i64 = 4_000_000_000;

/// Where the program that ends at once leaves word.
const STAMP: &CStr = c"/run/stamp";

/// Measures everything, and powers off.
pub fn run() -> ! {
    if kernel::pid() != 1 {
        kernel::exit(1);
    }
    boot::run();
    let null = kernel::open(c"/dev/null", O_RDWR);
    for number in 0..3 {
        kernel::duplicate(null, number);
    }
    kernel::close(null);
    text::tell_kernel();
    let began = &AtomicU64::new(0);
    if kernel::look(c"/trace") == 0 {
        trace(began);
    } else {
        measure(began);
    }
    kernel::power_off();
    kernel::exit(0)
}

fn measure(began: &AtomicU64) {
    text::tell("alone", median(|| to_end(began, &[END])));
    text::tell("to-child", median(|| to_child(began)));
    text::tell("to-end", median(|| to_end(began, &RUN)));
    tell_calls(began);
    watch(began);
    for (name, size) in [("stop-1", c"1"), ("stop-10", c"10"), ("stop-100", c"100")] {
        let mut took = [0; STOPS];
        for took in &mut took {
            let words = [ENTRY, c"--", COMMAND, c"family", size];
            *took = stop(&Running::start(began, &words)).unwrap_or(-1);
        }
        took.sort_unstable();
        text::tell(name, took[STOPS / 2]);
    }
    let late = stop(&start_stubborn(began)).map_or(-1, |took| took - GRACE_NANOS);
    text::tell("stubborn", late);
}

/// Starts a command that does not end when it is asked to, with the options that have
/// it killed: words with a NUL behind each, as the image has them.
fn start_stubborn(began: &AtomicU64) -> Running {
    let mut bytes = [0; 64];
    let mut options = text::read_file(OPTIONS, &mut bytes);
    let mut words = [ENTRY; 8];
    let mut count = 1;
    while let Ok(word) = CStr::from_bytes_until_nul(options)
        && count < 5
    {
        words[count] = word;
        count += 1;
        options = options.get(word.count_bytes() + 1..).unwrap_or_default();
    }
    words[count..count + 3].copy_from_slice(&[c"--", COMMAND, c"stubborn"]);
    Running::start(began, &words[..count + 3])
}

const ENTRY: &CStr = c"/entry";
const COMMAND: &CStr = c"/command";
const END: &CStr = c"/end";
const RUN: [&CStr; 3] = [ENTRY, c"--", END];
const OPTIONS: &CStr = c"/options";

/// From the exec of the entrypoint to the first instruction of its command.
fn to_child(began: &AtomicU64) -> i64 {
    let running = Running::start(began, &[ENTRY, c"--", END, STAMP]);
    kernel::wait(running.pid, 0);
    kernel::close(running.pidfd);
    let mut bytes = [0; 8];
    text::read_file(STAMP, &mut bytes);
    since(began, u64::from_le_bytes(bytes))
}

/// From the exec of a program to its end, as its parent sees it.
fn to_end(began: &AtomicU64, words: &[&CStr]) -> i64 {
    let running = Running::start(began, words);
    kernel::wait(running.pid, 0);
    let end = kernel::ticks();
    kernel::close(running.pidfd);
    since(began, end)
}

/// The system calls of an entrypoint and its command from the first instruction to
/// the end, the exec of the command included.
fn tell_calls(began: &AtomicU64) {
    let calls = Calls::begin(b"common_pid != 1");
    to_end(began, &RUN);
    // One is the exec of the entrypoint itself.
    text::tell("calls", calls.end() - 1);
}

/// Has the command measure the entrypoint that it runs under.
fn watch(began: &AtomicU64) {
    let running = Running::start(began, &[ENTRY, c"--", COMMAND, c"watch"]);
    let mut line = text::Line::new();
    let _ = core::fmt::Write::write_fmt(&mut line, format_args!("{}", running.pid));
    let file = kernel::open(command::PID, O_WRONLY | O_CREAT | O_TRUNC);
    kernel::write(file, line.as_bytes());
    kernel::close(file);
    kernel::wait(running.pid, 0);
    kernel::close(running.pidfd);
}

/// From the signal to the end; none when it does not end in time, and is killed.
fn stop(running: &Running) -> Option<i64> {
    kernel::sleep(SETTLE_NANOS);
    let asked = kernel::ticks();
    kernel::kill(running.pid, SIGTERM);
    let has_ended = kernel::wait_readable(running.pidfd, Some(PATIENCE_NANOS)) == 1;
    let took = kernel::ticks() - asked;
    kernel::kill(running.pid, SIGKILL);
    kernel::wait(running.pid, 0);
    kernel::close(running.pidfd);
    has_ended.then_some(took.cast_signed())
}

/// One run with the kernel's trace, told to whoever reads the console.
fn trace(began: &AtomicU64) {
    // What is measured finds everything in memory.
    to_end(began, &RUN);
    to_end(began, &RUN);
    crate::traced::record(|| {
        to_end(began, &RUN);
    });
}

fn median(mut round: impl FnMut() -> i64) -> i64 {
    let mut all = [0; ROUNDS];
    // The first finds nothing in memory.
    round();
    for one in &mut all {
        *one = round();
    }
    all.sort_unstable();
    all[ROUNDS / 2]
}

fn since(began: &AtomicU64, ticks: u64) -> i64 {
    let began = began.load(Ordering::Relaxed);
    ticks.cast_signed() - began.cast_signed()
}

/// An entrypoint that was started.
struct Running {
    pid: isize,
    pidfd: isize,
}

impl Running {
    /// Starts a program in a pid namespace of its own, and writes down when.
    fn start(began: &AtomicU64, words: &[&CStr]) -> Self {
        let mut pidfd = -1;
        Self {
            pid: kernel::spawn_apart(words, began, &mut pidfd),
            pidfd: pidfd as isize,
        }
    }
}
