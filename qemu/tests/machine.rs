//! The machine around the guest: its buttons, its disks, its end.

use std::fs;
use std::thread;

use qemu::{Boot, Disk, Ending, Value};

mod image;

use image::{BOUND, script};

/// Counts its boots on the disk, then does as it is told.
fn counting(disk: &Disk) -> Boot {
    let body = "mount -t ext4 /dev/nvme0n1 /mnt\n\
                echo boot >>/mnt/boots\n\
                sync\n\
                echo \"boots: $(wc -l </mnt/boots)\"\n\
                read x\n\
                umount /mnt\n\
                poweroff -f";
    script(body).disk(disk)
}

#[test]
fn a_disk_keeps_what_was_written_over_a_pulled_plug_and_a_power_off() {
    let disk = Disk::ext4(16).unwrap();
    let mut first = counting(&disk).start().unwrap();
    first.wait_line("boots: 1", BOUND).unwrap();
    first.pull_plug();
    drop(first);

    let mut second = counting(&disk).start().unwrap();
    second.wait_line("boots: 2", BOUND).unwrap();
    second.type_line("").unwrap();

    second.expect_end(&Ending::PoweredOff, BOUND).unwrap();
}

#[test]
fn ctrl_alt_delete_reaches_the_guest() {
    // Left on, the three keys restart the machine without asking init.
    let body = "echo 1 >/proc/sys/kernel/ctrl-alt-del\necho up\nread x";
    let mut guest = script(body).start().unwrap();
    guest.wait_line("up", BOUND).unwrap();

    guest.press_ctrl_alt_delete().unwrap();

    guest.expect_end(&Ending::Restarted, BOUND).unwrap();
}

#[test]
fn the_reset_button_is_no_restart_of_the_guests() {
    let mut guest = script("echo up\nread x")
        .through_restarts()
        .start()
        .unwrap();
    guest.wait_line("up", BOUND).unwrap();

    guest.press_reset().unwrap();

    let event = guest.wait_event("RESET", BOUND).unwrap();
    assert_eq!(event.reason(), Some("host-qmp-system-reset"));
    assert_eq!(guest.wait_end(BOUND), Ending::Killed);
    guest.wait_line("up", BOUND).unwrap();
}

#[test]
fn the_power_button_is_announced() {
    let mut guest = script("echo up\nread x").start().unwrap();
    guest.wait_line("up", BOUND).unwrap();

    guest.press_power().unwrap();

    guest.wait_event("POWERDOWN", BOUND).unwrap();
    assert_eq!(guest.status().unwrap(), "running");
}

#[test]
fn a_command_that_the_monitor_refuses_is_an_error() {
    let mut guest = script("read x").start().unwrap();

    let error = guest.monitor("no-such-command", Value::Null).unwrap_err();

    assert!(error.to_string().contains("has not been found"), "{error}");
}

#[test]
fn a_dropped_guest_leaves_nothing_behind() {
    let guest = script("read x").start().unwrap();
    let path = format!("/proc/{}", guest.process_id());
    assert!(fs::exists(&path).unwrap());

    drop(guest);

    assert!(!fs::exists(&path).unwrap());
}

#[test]
fn two_boots_that_count_instructions_agree_to_the_nanosecond() {
    let instructions = || {
        let mut guest = script("grep -m 1 'now at' /proc/timer_list\npoweroff -f")
            .counting_instructions()
            .start()
            .unwrap();
        let line = guest.wait_line("now at", BOUND).unwrap();
        guest.expect_end(&Ending::PoweredOff, BOUND).unwrap();
        line
    };

    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(instructions);
        (instructions(), other.join().unwrap())
    });

    assert_eq!(one, other);
}
