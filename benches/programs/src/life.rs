//! One life of an init, seen by its host: boot, memory, idling, orphans, the stop.

use crate::clock::Clock;
use crate::process::Process;
use crate::{kernel, orphans, stop, text};

/// How long an init may take to have nothing left to do after a start.
const SETTLE_NANOS: i64 = 2_000_000_000;

/// The init.
const INIT: Process = Process(1);

/// Measures everything, and asks the init to power off.
pub fn run(start: u64) -> ! {
    let clock = Clock::new();
    text::tell_kernel();
    text::tell("exec-to-host", clock.since_start(start));
    kernel::sleep(SETTLE_NANOS);
    INIT.tell_memory();
    INIT.tell_idling();
    orphans::tell(INIT);
    tell_services();
    stop::ask()
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
