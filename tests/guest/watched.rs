//! A host that must say that it is ready and alive, clocks that jump, and a disk that
//! can't be written.

use std::fs;

use qemu::{Boot, Disk, Ending};

use crate::image::{Image, SHELL};
use crate::session::{Session, time};
use crate::trials::{
    TRIAL, choose, config, confirm, failures, is_halted, is_taken_back, power_off,
};
use crate::versions;

/// The good version: says that it is ready and need not say that it is alive, and is
/// the shell then.
const SPEAKS: &str = "#!/bin/sh\nexec /bin/probe say 'READY=1|WATCHDOG_USEC=0' /shell\n";

/// A version that does nothing, for ever.
const HANGS: &str = "#!/bin/sh\necho 'host: hangs'\nexec sleep 1000\n";

/// A version that is ready, and then the same. In every other life it can't be told to
/// abort.
const FALLS_SILENT: &str = "\
#!/bin/sh
if rm /run/deaf; then trap '' ABRT; else echo >/run/deaf; fi
echo 'host: falls silent'
exec /bin/probe say READY=1 /silent
";

/// A machine whose host is watched, with two versions of it on this disk.
fn boot(disk: &Disk, rest: &str) -> Boot {
    let trial = format!("ready = \"notify\"\nstop-grace = \"1s\"\n{rest}{TRIAL}");
    let image = Image::new(&config(&trial)).probe().program("/shell", SHELL);
    let image = image.program("/silent", "#!/bin/sh\nexec sleep 1000\n");
    image.boot().disk(disk)
}

/// How the last life of the host ended, as others are told.
fn record(machine: &mut Session, part: &str) -> String {
    machine.ask(&format!(
        "sed 's/.*\"{part}\":\"\\([^\"]*\\)\".*/\\1/' /run/host-init/status/host.json"
    ))
}

#[test]
fn a_version_that_never_becomes_ready_is_taken_back() {
    let disk = versions::disk(&[("1", SPEAKS), ("2", HANGS)]);
    let mut machine = Session::up(boot(&disk, "ready-timeout = \"3s\"\n"));
    confirm(&mut machine);

    choose(&mut machine, "2");
    machine.tell("exit 0");
    for _ in 1..=3 {
        let start = time(&machine.line("host-init: host: started"));
        machine.line("host: hangs");
        let told = time(&machine.line("host-init: host: not ready in time, told to end"));
        assert!(told - start > 2.9, "{start} {told}");
    }

    is_taken_back(&mut machine);
    assert_eq!(record(&mut machine, "result"), "timeout");
    assert_eq!(record(&mut machine, "signal"), "TERM");
    power_off(machine, &disk);
}

#[test]
fn a_version_that_falls_silent_is_told_to_abort_and_taken_back() {
    let disk = versions::disk(&[("1", SPEAKS), ("2", FALLS_SILENT)]);
    let mut machine = Session::up(boot(&disk, "watchdog = \"2s\"\n"));
    confirm(&mut machine);

    choose(&mut machine, "2");
    machine.tell("exit 0");
    for signal in ["ABRT", "KILL", "ABRT"] {
        machine.lines(&[
            "host: falls silent",
            "host-init: host: watchdog: not heard of in time, told to abort",
            &format!("host-init: host: killed by {signal}"),
        ]);
    }

    is_taken_back(&mut machine);
    assert_eq!(record(&mut machine, "result"), "watchdog");
    assert_eq!(record(&mut machine, "signal"), "ABRT");
    power_off(machine, &disk);
}

#[test]
fn no_wait_is_longer_or_shorter_for_a_clock_that_jumps() {
    /// Sets the clock far ahead and then far back, each for a second, by a process that
    /// outlives the host. (A kernel refuses a time before its own boot, such as 0.)
    const JUMPS: &str = "setsid sh -c 'echo 0 >/sys/fs/cgroup/cgroup.procs; echo >/run/out; \
         for T in 2147483647 86400 2147483647 86400; do date -s @$T; sleep 1; done' >/dev/null & \
         until rm /run/out 2>/dev/null; do usleep 1000; done; ";

    let image = Image::new(
        "[host]\ncommand = [\"/host\"]\nready = \"fd:3\"\nbackoff = \"5s\"\n\
         healthy-after = \"6s\"\nstart-limit = 3\n",
    );
    let image = image.program("/host", SHELL.replace("cd /\n", "cd /\necho >&3\n"));
    let mut machine = Session::up(image.boot());

    // The second failure in a row is waited after.
    machine.tell("exit 1");
    machine.line("host: up");
    machine.tell(&format!("{JUMPS} exit 1"));
    let failed = time(&machine.line("host-init: host: exit 1"));
    let started = time(&machine.line("host-init: host: started"));
    assert!(
        (5.0..15.0).contains(&(started - failed)),
        "{failed} {started}"
    );
    machine.line("host: up");
    assert_eq!(failures(&mut machine), "2");
    assert_eq!(machine.ask("date +%Y"), "1970");
    machine.ask("date -s @1700000000");

    machine.tell(&format!("{JUMPS} true"));
    let healthy = time(&machine.line("host-init: host: healthy"));
    assert!(
        (6.0..16.0).contains(&(healthy - started)),
        "{started} {healthy}"
    );
    machine.ask("until grep -q 'failures.:0' /run/host-init/state.json; do usleep 1000; done");
    assert_eq!(machine.ask("date +%Y"), "1970");
    assert!(!machine.console().contains("not ready in time"));
}

#[test]
fn a_clock_that_is_wrong_at_boot_changes_nothing() {
    let disk = versions::disk(&[("1", SHELL)]);
    let trial = config(TRIAL);

    for (failure, year) in [("1", "2038"), ("2", "1970")] {
        let base = format!("base={year}-01-02,clock=vm");
        let boot = Image::new(&trial)
            .boot()
            .disk(&disk)
            .arguments(["-rtc", &base]);
        let mut machine = Session::up(boot);
        assert_eq!(machine.ask("date +%Y"), year);
        machine.tell("exit 1");
        machine.line("host: up");
        assert_eq!(failures(&mut machine), failure);
        power_off(machine, &disk);
    }
}

#[test]
fn a_record_on_a_disk_that_can_not_be_written_is_kept_in_memory() {
    let disk = Disk::blank(1).unwrap();
    let drive = format!(
        "file={},if=none,id=fixed,format=raw,readonly=on",
        disk.path().display()
    );
    let image = Image::with_shell(&TRIAL.replace("/data/record", "/dev/nvme0n1"));
    let words = ["-drive", &drive, "-device", "nvme,drive=fixed,serial=fixed"];
    let mut machine = Session::up(image.boot().arguments(words));

    for failure in ["1", "2"] {
        machine.tell("exit 1");
        machine.line("host: up");
        assert_eq!(failures(&mut machine), failure);
    }
    machine.tell("exit 1");
    is_halted(&mut machine, "no version to go back to");
    machine.press_ctrl_alt_delete().unwrap();
    machine.ends(&Ending::Restarted);

    let console = machine.console();
    assert_eq!(console.matches("host-init: record: ").count(), 1);
    assert!(console.contains("failures are counted until the power goes"));
    drop(machine);
    assert!(fs::read(disk.path()).unwrap().iter().all(|byte| *byte == 0));
}
