//! Disks that are late or missing, and a person who is asked for them.

use qemu::{Boot, Disk, Ending};
use serde_json::json;

use crate::disk::{assert_clean, read};
use crate::image::Image;
use crate::session::Session;

/// A machine with a slot that a disk can be put into while it runs.
fn with_slot(boot: Boot, disk: &Disk) -> Boot {
    let drive = format!("if=none,id=late,format=raw,file={}", disk.path().display());
    boot.arguments([
        "-device",
        "pcie-root-port,id=bay,chassis=1,slot=1",
        "-drive",
        &drive,
    ])
}

/// Puts it in: `/dev/nvme0n1`.
fn plug_in(machine: &mut Session) {
    let device = json!({"driver": "nvme", "drive": "late", "serial": "late", "bus": "bay"});
    machine.monitor("device_add", device).unwrap();
}

fn entry(target: &str, rest: &str) -> String {
    format!(
        "[[mount]]\nsource = \"/dev/nvme0n1\"\ntarget = \"{target}\"\ntype = \"ext4\"\n{rest}\n"
    )
}

#[test]
fn a_missing_disk_is_told_and_a_person_is_asked_until_it_is_there() {
    let disk = Disk::ext4(16).unwrap();
    let optional = "[[mount]]\nsource = \"/dev/none\"\ntarget = \"/optional\"\ntype = \"ext4\"\nrequired = false\n";
    let unknown = "[[mount]]\nsource = \"none\"\ntarget = \"/unknown\"\ntype = \"nonefs\"\nrequired = false\n";
    let image = Image::with_shell(&format!(
        "{optional}{unknown}{}",
        entry("/data", "wait = \"1s\"")
    ));
    let mut machine = Session::start(with_slot(image.boot(), &disk));

    machine.line("host-init: mount /optional from /dev/none: ");
    machine.line("host-init: mount /unknown from none: no such device");
    machine.line("host-init: mount /data: no such device /dev/nvme0n1 (waited 1 s)");
    machine.line("host-init: the host is not started: a person is needed");
    machine.prompt("# ");

    // In vain.
    machine.tell("exit");
    machine.line("host-init: mount /data: no such device /dev/nvme0n1 (waited 1 s)");
    machine.prompt("# ");

    plug_in(&mut machine);
    machine.tell("until [ -b /dev/nvme0n1 ]; do usleep 10000; done; exit");
    machine.lines(&["host-init: mounted /data from /dev/nvme0n1", "host: up"]);
    assert_eq!(
        machine.ask("F=/run/host-init/status/rescue; until [ -e $F ]; do :; done; cat $F"),
        "0"
    );
    machine.ask("echo kept >/data/note");
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
    drop(machine);
    assert_clean(&disk);
    assert_eq!(read(&disk, "/note"), "kept\n");
}

#[test]
fn a_late_disk_is_waited_for_and_a_person_may_come_first() {
    let disk = Disk::ext4(16).unwrap();
    let image = Image::with_shell(&entry("/data", "wait = \"5min\""));
    let boot = with_slot(image.boot().append("host_init.rescue"), &disk);
    let mut machine = Session::start(boot);

    // The shell is there before anything was tried.
    machine.line("host-init: the host is not started: a person is needed");
    machine.prompt("# ");
    machine.tell("echo nothing is $(grep -c /data /proc/mounts) times mounted");
    machine.line("nothing is 0 times mounted");
    // Its end is where the boot begins, which now waits.
    machine.tell("echo waits >/dev/kmsg; exit");
    machine.line("] waits");
    machine.line("host-init: rescue: exit 0");
    plug_in(&mut machine);
    machine.lines(&["host-init: mounted /data from /dev/nvme0n1", "host: up"]);
    machine.signal("TERM");
    machine.ends(&Ending::Restarted);
    drop(machine);
    assert_clean(&disk);
}

#[test]
fn an_ending_does_not_wait_for_a_disk_that_never_comes() {
    let image = Image::with_shell(&entry("/data", "wait = \"5min\"")).probe();
    let words = "rdinit=/bin/probe -- early 38 300000";
    let mut machine = Session::start(image.boot().append(words));

    machine.line("host-init: powering off");

    machine.ends(&Ending::PoweredOff);
}
