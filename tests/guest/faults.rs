//! Faults of host-init's own, and what is left of the machine after one.

use qemu::{Disk, Ending};

use crate::disk::read;
use crate::image::{Image, SHELL};
use crate::programs;
use crate::session::{Session, time};

/// A shell for the host, on an init that commits a fault when a signal says so.
fn image() -> Image {
    let config = "[host]\ncommand = [\"/host\"]\n\
                  [[mount]]\nsource = \"/dev/nvme0n1\"\ntarget = \"/data\"\ntype = \"ext4\"\nwait = \"30s\"\n";
    Image::with_init(programs::with_faults(), config).program("/host", SHELL)
}

#[test]
fn a_panic_and_a_fault_are_told_and_the_machine_restarts() {
    let disk = Disk::ext4(16).unwrap();
    let boot = image().boot().append("panic=2").disk(&disk);
    let mut machine = Session::up(boot.through_restarts());
    for (signal, epitaph) in [
        (
            "URG",
            "host-init: panic: injected by URG at src/pid1/events.rs:",
        ),
        ("WINCH", "host-init: fault: SEGV"),
    ] {
        // What was written, but not yet to the disk, is.
        machine.ask(&format!("trap '' TERM; echo {signal} >>/data/note; (trap '' TERM HUP; while :; do sleep 1; done) &"));

        machine.signal(signal);

        let told = machine.line(epitaph);
        machine.line("host-init: restarting in 2 s");
        machine.ends(&Ending::Restarted);
        let console = machine.console();
        let last = console
            .lines()
            .rfind(|line| line.contains("reboot: Restarting"))
            .unwrap();
        let wait = time(last) - time(&told);
        assert!((1.9..20.0).contains(&wait), "{wait} s");
        machine.line("host: up");
    }
    assert_eq!(machine.ask("cat /data/note"), "URG\nWINCH");
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
    drop(machine);
    assert_eq!(read(&disk, "/note"), "URG\nWINCH\n");
}

#[test]
fn where_it_is_told_to_stay_a_fault_is_the_end_of_everything_but_the_machine() {
    let disk = Disk::ext4(16).unwrap();
    let mut machine = Session::up(image().boot().append("panic=0").disk(&disk));

    machine.signal("WINCH");

    machine.line("host-init: fault: SEGV");
    machine.line("host-init: staying as it is (panic=0)");
    assert_eq!(machine.ending(), None);
    assert_eq!(machine.status().unwrap(), "running");
    assert!(!machine.console().contains("Kernel panic"));
}
