//! A host on trial, over boots of one disk.

use core::time::Duration;
use std::fs;

use qemu::{Boot, Disk, Ending};

use crate::disk::{assert_clean, read};
use crate::image::{Image, SHELL};
use crate::session::Session;
use crate::versions::{self, HOST};

/// Three failures, a record on the disk, and a host that is healthy when it is said.
pub(crate) const TRIAL: &str = "\
backoff = \"0s\"
backoff-max = \"0s\"
start-limit = 3
healthy-after = \"1h\"
record = \"/data/record\"
";

/// Where the disk is.
const DATA: &str = "\
[[mount]]
source = \"/dev/nvme0n1\"
target = \"/data\"
type = \"ext4\"
wait = \"30s\"
";

/// How long a person has to look at a halted host, and more.
const LOOKING: Duration = Duration::from_secs(15);

/// The number of `host-init confirm`.
const CONFIRM: &str = "42";

/// A host that ends at once.
const BAD: &str = "#!/bin/sh\necho \"host: $(readlink /data/app/current) ends\"\nexit 1\n";

/// A host that takes the machine with it.
const FATAL: &str = "#!/bin/sh\necho 'host: panics'\necho c >/proc/sysrq-trigger\n";

/// The config of a host with versions: these lines, then those of every trial.
pub(crate) fn config(trial: &str) -> String {
    format!("[host]\ncommand = [\"{HOST}\"]\ncurrent = \"/data/app/current\"\n{trial}{DATA}")
}

/// A machine with versions of its host on this disk.
fn boot(disk: &Disk, trial: &str) -> Boot {
    let boot = Image::new(&config(trial)).boot();
    boot.disk(disk).through_restarts()
}

/// Says that what runs is healthy.
pub(crate) fn confirm(machine: &mut Session) {
    machine.signal(CONFIRM);
    machine.line("host-init: host: healthy");
}

/// Makes another version current, as an updater does.
pub(crate) fn choose(machine: &mut Session, version: &str) {
    machine.ask(&format!(
        "cd /data/app; {}; cd /",
        versions::choose(version)
    ));
}

/// Failures in a row, when host-init has come to tell of this start.
pub(crate) fn failures(machine: &mut Session) -> String {
    machine.ask(
        "F=/run/host-init/state.json; until grep -q \"pid.:$$,\" $F; do usleep 1000; done; \
         sed 's/.*trial.:{.failures.:\\([0-9]*\\).*/\\1/' $F",
    )
}

/// Waits until the first version is back, with attempts of its own.
pub(crate) fn is_taken_back(machine: &mut Session) {
    machine.line("host-init: host: failed too often, taking it back");
    machine.line("host: up");
    assert_eq!(machine.ask("readlink /data/app/current"), "versions/1");
    assert_eq!(failures(machine), "0");
}

/// Waits until the host is not started any more, and why.
pub(crate) fn is_halted(machine: &mut Session, why: &str) {
    let line = machine.line("host-init: host: halted: ");
    assert!(line.contains(why), "{line}");
}

/// Restarts a machine that nobody can type at.
fn restart(machine: &mut Session) {
    machine.press_ctrl_alt_delete().unwrap();
    machine.line("host-init: rebooting");
    machine.ends(&Ending::Restarted);
}

pub(crate) fn power_off(mut machine: Session, disk: &Disk) {
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
    drop(machine);
    assert_clean(disk);
}

#[test]
fn a_bad_version_is_taken_back_to_the_good_one_once() {
    let disk = versions::disk(&[("1", SHELL), ("2", BAD)]);
    let mut machine = Session::up(boot(&disk, TRIAL));
    confirm(&mut machine);

    choose(&mut machine, "2");
    machine.tell("exit 0");
    for _ in 1..=3 {
        machine.line("host: versions/2 ends");
    }
    is_taken_back(&mut machine);

    // An orderly restart changes nothing of it.
    machine.signal("TERM");
    machine.ends(&Ending::Restarted);
    machine.line("host: up");
    assert_eq!(machine.ask("readlink /data/app/current"), "versions/1");

    // It is remembered, and does not happen again by itself.
    choose(&mut machine, "2");
    machine.tell("exit 0");
    for _ in 1..=3 {
        machine.line("host: versions/2 ends");
    }
    is_halted(&mut machine, "after it was taken back");
    restart(&mut machine);
    is_halted(&mut machine, "after it was taken back");
}

#[test]
fn failures_of_a_version_are_counted_over_restarts() {
    let disk = versions::disk(&[("1", SHELL), ("2", BAD)]);
    // The second in a row is waited after for longer than the test is here.
    let patient = TRIAL.replace("\"0s\"", "\"1h\"");
    let mut machine = Session::up(boot(&disk, &patient));
    confirm(&mut machine);
    choose(&mut machine, "2");
    machine.signal("TERM");
    machine.ends(&Ending::Restarted);

    for _ in 1..=2 {
        machine.line("host: versions/2 ends");
    }
    machine.line("host-init: host: next start in");
    restart(&mut machine);

    machine.line("host: versions/2 ends");
    is_taken_back(&mut machine);
    power_off(machine, &disk);
}

#[test]
fn orderly_restarts_are_no_failures_of_a_new_version() {
    let disk = versions::disk(&[("1", SHELL), ("2", SHELL)]);
    let mut machine = Session::up(boot(&disk, TRIAL));
    confirm(&mut machine);
    choose(&mut machine, "2");
    machine.tell("exit 0");
    machine.line("host: up");

    for signal in ["TERM", "INT", "TERM"] {
        assert_eq!(failures(&mut machine), "0");
        machine.signal(signal);
        machine.ends(&Ending::Restarted);
        machine.line("host: up");
    }

    assert_eq!(failures(&mut machine), "0");
    assert_eq!(machine.ask("readlink /data/app/current"), "versions/2");
    // Failures are, and what is confirmed has none.
    machine.tell("exit 1");
    machine.line("host: up");
    assert_eq!(failures(&mut machine), "1");
    confirm(&mut machine);
    power_off(machine, &disk);
}

#[test]
fn a_version_that_brings_the_kernel_down_is_taken_back() {
    let disk = versions::disk(&[("1", SHELL), ("2", FATAL)]);
    let mut machine = Session::up(boot(&disk, TRIAL));
    confirm(&mut machine);
    choose(&mut machine, "2");
    machine.tell("exit 0");

    for _ in 1..=3 {
        machine.line("host: panics");
        machine.ends(&Ending::Panicked {
            reason: "sysrq triggered crash".into(),
        });
    }

    is_taken_back(&mut machine);
    power_off(machine, &disk);
}

#[test]
fn a_clock_that_jumps_changes_nothing() {
    let disk = versions::disk(&[("1", SHELL), ("2", SHELL)]);
    let mut machine = Session::up(boot(&disk, TRIAL));
    confirm(&mut machine);
    choose(&mut machine, "2");
    machine.tell("exit 0");
    machine.line("host: up");

    // The last second of 32 bits, the second day of all (no time before the kernel's own
    // boot can be set), and a year before the image's.
    for (failure, time, year) in [("1", "@2147483647", "2038"), ("2", "@86400", "1970")] {
        machine.ask(&format!("date -s {time}"));
        assert_eq!(machine.ask("date +%Y"), year);
        machine.tell("exit 1");
        machine.line("host: up");
        assert_eq!(failures(&mut machine), failure);
        machine.ask("date -s @1700000000");
        machine.signal("TERM");
        machine.ends(&Ending::Restarted);
        machine.line("host: up");
        assert_eq!(failures(&mut machine), failure);
    }

    machine.ask("date -s @2147483647");
    assert_eq!(machine.ask("readlink /data/app/current"), "versions/2");
    assert!(!machine.console().contains("taking it back"));
    confirm(&mut machine);
    power_off(machine, &disk);
}

#[test]
fn failures_are_counted_where_nothing_can_be_written() {
    let disk = versions::disk(&[("1", BAD)]);
    let trial = TRIAL.to_owned() + DATA + "options = \"ro\"\n";
    let config = format!("[host]\ncommand = [\"{HOST}\"]\n{trial}");
    let mut machine = Session::start(Image::new(&config).boot().disk(&disk).through_restarts());
    let told = "host-init: record: read-only filesystem; failures are counted until the power goes";

    // Each boot begins anew.
    for _ in 1..=2 {
        let before = machine.console().len();
        machine.line(told);
        for _ in 1..=3 {
            machine.line("host: versions/1 ends");
        }
        is_halted(&mut machine, "no version to go back to");
        restart(&mut machine);
        let console = machine.console();
        assert_eq!(console[before..].matches("record: ").count(), 1);
    }
}

#[test]
fn a_record_may_have_a_disk_of_its_own() {
    let record = Disk::blank(1).unwrap();
    let trial = TRIAL.replace("/data/record", "/dev/nvme0n1");
    let image = Image::with_shell(&trial);
    let mut machine = Session::up(image.boot().disk(&record).through_restarts());

    machine.tell("exit 1");
    machine.line("host: up");
    for _ in 1..=2 {
        machine.signal("TERM");
        machine.ends(&Ending::Restarted);
        machine.line("host: up");
        assert_eq!(failures(&mut machine), "1");
    }
    machine.press_reset().unwrap();
    machine.ends(&Ending::Killed);
    machine.line("host: up");
    assert_eq!(failures(&mut machine), "2");
    machine.tell("exit 1");
    is_halted(&mut machine, "no version to go back to");
    restart(&mut machine);
    is_halted(&mut machine, "no version to go back to");
    drop(machine);

    let bytes = fs::read(record.path()).unwrap();
    for slot in bytes[..8192].chunks(4096) {
        assert!(slot.starts_with(b"hostboot"));
    }
    assert!(bytes[8192..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_disk_with_something_else_is_no_place_for_a_record() {
    let disk = versions::disk(&[("1", BAD)]);
    let before = fs::read(disk.path()).unwrap();
    let trial = TRIAL.replace("/data/record", "/dev/nvme0n1");
    let image = Image::new(&format!("[host]\ncommand = [\"/bin/false\"]\n{trial}"));
    let mut machine = Session::start(image.boot().disk(&disk));

    machine.line("host-init: record: something else is there; failures are counted until the");
    is_halted(&mut machine, "no version to go back to");
    machine.press_ctrl_alt_delete().unwrap();
    machine.ends(&Ending::Restarted);
    drop(machine);

    assert!(before == fs::read(disk.path()).unwrap());
}

/// A host that never starts, and what follows then.
fn hopeless(on_halt: &str) -> Image {
    Image::new(&format!(
        "[host]\ncommand = [\"/bin/false\"]\non-halt = \"{on_halt}\"\n{TRIAL}{DATA}"
    ))
}

#[test]
fn a_machine_whose_host_is_halted_restarts_three_times_and_stays() {
    let disk = Disk::ext4(16).unwrap();
    let image = hopeless("reboot");
    let mut machine = Session::start(image.boot().disk(&disk).through_restarts());

    for _ in 1..=3 {
        is_halted(&mut machine, "no version to go back to");
        machine.ends(&Ending::Restarted);
    }

    // A fourth round, which is the last, also after a restart.
    machine.line("host-init: host: started");
    is_halted(&mut machine, "no version to go back to");
    let before = machine.console().len();
    restart(&mut machine);
    is_halted(&mut machine, "no version to go back to");
    assert!(!machine.console()[before..].contains("host: started"));
    assert_eq!(machine.wait_end(LOOKING), Ending::Hung);
}

#[test]
fn a_machine_whose_host_is_halted_powers_off() {
    let disk = Disk::ext4(16).unwrap();
    let mut machine = Session::start(hopeless("poweroff").boot().disk(&disk));

    is_halted(&mut machine, "no version to go back to");
    machine.line("host-init: powering off");
    machine.ends(&Ending::PoweredOff);

    drop(machine);
    assert_clean(&disk);
    assert!(read(&disk, "/record").starts_with("hostboot"));
}
