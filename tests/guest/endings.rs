//! Every way to ask for an ending, and the ending that follows.

use qemu::{Disk, Ending};

use crate::disk::assert_clean;
use crate::image::Image;
use crate::session::{Session, time};

/// A disk for what is to survive, with a note of each boot.
const DATA: &str = "\
[[mount]]
source = \"/dev/nvme0n1\"
target = \"/data\"
type = \"ext4\"
wait = \"30s\"
";

/// What each request says in the log, and what becomes of the host, which dies of
/// its stop signal if it gets one.
struct Asked {
    by: &'static str,
    said: &'static str,
    host: &'static str,
}

const fn orderly(by: &'static str, said: &'static str) -> Asked {
    let host = "host: killed by TERM";
    Asked { by, said, host }
}

const fn at_once(by: &'static str, said: &'static str) -> Asked {
    let host = "host: killed by KILL";
    Asked { by, said, host }
}

/// Asks on one disk after the other boot, each of which finds it as it was left.
fn ends(requests: &[Asked], ending: &Ending) {
    let disk = Disk::ext4(16).unwrap();
    let image = Image::with_shell(DATA);
    for (number, request) in requests.iter().enumerate() {
        let mut machine = Session::up(image.boot().disk(&disk));
        assert_eq!(
            machine.ask("echo boot >>/data/boots; wc -l </data/boots"),
            format!("{}", number + 1)
        );
        assert_eq!(machine.ask("dmesg | grep -c recover"), "0");

        machine.tell(request.by);

        machine.lines(&[request.said, request.host]);
        machine.ends(ending);
        drop(machine);
        assert_clean(&disk);
    }
}

#[test]
fn every_request_to_power_off_powers_off() {
    let requests = [
        orderly("kill -USR2 1", "host-init: powering off"),
        orderly("kill -PWR 1", "host-init: powering off"),
        orderly("kill -38 1", "host-init: powering off"),
        at_once("kill -48 1", "host-init: powering off"),
        orderly("poweroff", "host-init: powering off"),
    ];

    ends(&requests, &Ending::PoweredOff);
}

#[test]
fn every_request_to_halt_halts_and_leaves_the_power_on() {
    let requests = [
        orderly("kill -USR1 1", "host-init: halting"),
        orderly("kill -37 1", "host-init: halting"),
        at_once("kill -47 1", "host-init: halting"),
        orderly("halt", "host-init: halting"),
    ];

    ends(&requests, &Ending::Halted);
}

#[test]
fn every_request_to_restart_restarts() {
    let requests = [
        orderly("kill -TERM 1", "host-init: rebooting"),
        orderly("kill -INT 1", "host-init: rebooting"),
        orderly("kill -39 1", "host-init: rebooting"),
        at_once("kill -49 1", "host-init: rebooting"),
        orderly("reboot", "host-init: rebooting"),
    ];

    ends(&requests, &Ending::Restarted);
}

#[test]
fn without_a_loaded_kernel_a_request_to_start_it_restarts() {
    let requests = [
        orderly("kill -40 1", "host-init: starting the loaded kernel"),
        at_once("kill -50 1", "host-init: starting the loaded kernel"),
    ];
    let mut machine = Session::up(Image::with_shell("").boot().through_restarts());

    for request in requests {
        machine.tell(request.by);

        machine.lines(&[request.said, request.host]);
        machine.line("host-init: no kernel is loaded: rebooting");
        machine.ends(&Ending::Restarted);
        machine.line("host: up");
    }
}

#[test]
fn a_stubborn_host_lives_as_long_as_the_patience_of_whoever_asks() {
    let image = Image::with_shell("stop-grace = \"5min\"");
    let mut machine = Session::start(image.boot().through_restarts());
    let up = |machine: &mut Session| {
        machine.line("host: up");
        machine.ask("trap '' TERM");
    };

    // Asked twice, it has two seconds.
    up(&mut machine);
    machine.signal("TERM");
    machine.line("host-init: rebooting");
    machine.signal("TERM");
    let hurried = machine.line("host-init: asked again: less time");
    let killed = machine.line("host-init: host: did not end in time, killed");
    machine.line("host-init: host: killed by KILL");
    machine.ends(&Ending::Restarted);
    let left = time(&killed) - time(&hurried);
    assert!((1.9..10.0).contains(&left), "{left} s");

    // Asked three times, none.
    up(&mut machine);
    machine.tell("kill -TERM 1; kill -INT 1; kill -39 1");
    machine.lines(&["host-init: rebooting", "asked again: less time"]);
    let asked = machine.line("asked again: less time");
    let killed = machine.line("host-init: host: did not end in time, killed");
    machine.ends(&Ending::Restarted);
    assert!(time(&killed) - time(&asked) < 1.0);

    // A power-off wins over a restart that is under way.
    up(&mut machine);
    machine.signal("TERM");
    machine.line("host-init: rebooting");
    machine.signal("USR2");
    machine.line("host-init: powering off");
    machine.signal("TERM");
    machine.line("host-init: reboot: refused");
    machine.signal("37");
    machine.line("host-init: halt: refused");
    machine.signal("48");
    machine.ends(&Ending::PoweredOff);
}

#[test]
fn ctrl_alt_del_is_a_request_and_eight_of_them_are_an_order() {
    let image = Image::with_shell("stop-grace = \"5min\"");
    let mut machine = Session::up(image.boot().through_restarts());

    machine.press_ctrl_alt_delete().unwrap();
    machine.lines(&["host-init: rebooting", "host-init: host: killed by TERM"]);
    machine.ends(&Ending::Restarted);

    machine.line("host: up");
    machine.ask("trap '' TERM");
    for _ in 0..8 {
        machine.press_ctrl_alt_delete().unwrap();
    }
    machine.line("host-init: rebooting");
    machine.line("host-init: host: did not end in time, killed");
    machine.ends(&Ending::Restarted);
}
