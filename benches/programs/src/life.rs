//! One life of an init, seen by its host: boot, memory, idling, orphans, the stop.

use core::ffi::CStr;

use crate::clock::Clock;
use crate::tracing::Calls;
use crate::{kernel, orphans, stop, text};

/// How long an init may take to have nothing left to do after a start.
const SETTLE_NANOS: i64 = 2_000_000_000;

/// How long it is watched while nothing happens: the tables say "a minute".
const IDLE_NANOS: i64 = 60_000_000_000;

/// Measures everything, and asks the init to power off.
pub fn run(start: u64) -> ! {
    let clock = Clock::new();
    text::tell_kernel();
    text::tell("exec-to-host", clock.since_start(start));
    kernel::sleep(SETTLE_NANOS);
    tell_memory();
    tell_idling();
    orphans::tell();
    tell_services();
    stop::ask()
}

/// What PID 1 holds, in kB.
fn tell_memory() {
    let mut buffer = [0; 4096];
    let rollup = text::read_file(c"/proc/1/smaps_rollup", &mut buffer);
    for (name, word) in [
        ("memory-rss", b"\nRss:".as_slice()),
        ("memory-pss", b"\nPss:"),
        ("memory-anonymous", b"\nAnonymous:"),
    ] {
        tell_field(name, rollup, word);
    }
    let mut buffer = [0; 4096];
    let status = text::read_file(STATUS, &mut buffer);
    for (name, word) in [
        ("memory-data", b"\nVmData:".as_slice()),
        ("memory-tables", b"\nVmPTE:"),
    ] {
        tell_field(name, status, word);
    }
}

fn tell_field(name: &str, file: &[u8], word: &[u8]) {
    text::tell(name, text::behind(file, word).map_or(-1, text::number));
}

const STATUS: &CStr = c"/proc/1/status";

/// How often PID 1 waited so far: each wait but the last ended with a wake-up.
pub fn wakes() -> i64 {
    let mut buffer = [0; 4096];
    let status = text::read_file(STATUS, &mut buffer);
    text::behind(status, b"\nvoluntary_ctxt_switches:").map_or(-1, text::number)
}

/// Processor time of PID 1 so far, in nanoseconds.
pub fn cpu() -> i64 {
    let mut buffer = [0; 256];
    text::number(text::read_file(c"/proc/1/schedstat", &mut buffer))
}

fn tell_idling() {
    let calls = Calls::begin();
    let before = wakes();
    kernel::sleep(IDLE_NANOS);
    text::tell("idle-wakes", wakes() - before);
    text::tell("idle-calls", calls.end());
}

/// What is there of the kernel's own filesystems, to see that the job was done.
fn tell_services() {
    let mut buffer = [0; 8192];
    let mounts = text::read_file(c"/proc/mounts", &mut buffer);
    let wanted = [
        b" /proc ".as_slice(),
        b" /sys ",
        b" /dev ",
        b" /dev/pts ",
        b" /run ",
        b" /tmp ",
        b" /sys/fs/cgroup ",
    ];
    let missing = wanted
        .iter()
        .filter(|place| text::behind(mounts, place).is_none())
        .count();
    text::tell("mounts-missing", i64::try_from(missing).unwrap_or(-1));
    let mut buffer = [0; 64];
    let name = text::read_file(c"/proc/sys/kernel/hostname", &mut buffer);
    text::tell("hostname-set", i64::from(name == b"bench\n"));
    let mut buffer = [0; 64];
    let flags = text::read_file(c"/sys/class/net/lo/flags", &mut buffer);
    text::tell("loopback-up", i64::from(flags == b"0x9\n"));
}
