//! How services are stopped, and in what state the disks are left.

use qemu::{Boot, Disk, Ending, tools};

use crate::disk::{assert_clean, read};
use crate::image::Image;
use crate::session::{Session, time};

/// Where the disk is, in the images of this file.
const DATA: &str = "\
[[mount]]
source = \"/dev/nvme0n1\"
target = \"/data\"
type = \"ext4\"
wait = \"30s\"
";

#[test]
fn a_host_and_what_it_leaves_are_ended_in_turn_and_in_time() {
    let disk = Disk::ext4(16).unwrap();
    let image = Image::with_shell(&format!("stop-grace = \"1s\"\n{DATA}")).probe();
    let mut machine = Session::start(image.boot().disk(&disk).through_restarts());

    // Deaf to its stop signal, it is killed when its time is over.
    machine.line("host: up");
    machine.ask("trap '' TERM; exec 5>/data/open");
    machine.signal("TERM");
    let asked = machine.line("host-init: rebooting");
    let killed = machine.line("host-init: host: did not end in time, killed");
    machine.line("host-init: host: killed by KILL");
    machine.ends(&Ending::Restarted);
    let grace = time(&killed) - time(&asked);
    assert!((0.9..5.0).contains(&grace), "{grace} s");

    // Stopped, it goes on to hear its stop signal.
    machine.line("host: up");
    assert_eq!(machine.ask("dmesg | grep -c recover"), "0");
    machine.tell("P=$$; (until grep -q 'T (stopped)' /proc/$P/status; do usleep 1000; done; kill -TERM 1) & kill -STOP $$");
    machine.lines(&["host-init: rebooting", "host-init: host: killed by TERM"]);
    machine.ends(&Ending::Restarted);

    // What it leaves is asked to end, stopped or not, in whatever session.
    machine.line("host: up");
    machine.ask(
        "leave() { trap \"echo $1: TERM >/dev/kmsg; exit\" TERM; echo $1: here >/dev/kmsg; while :; do sleep 1; done; }; \
         leave one & (leave two) & P=$!; until dmesg | grep -q 'two: here'; do usleep 1000; done; kill -STOP $P",
    );
    let before = machine.console().len();
    machine.ask("trap 'echo main: TERM >/dev/kmsg; exit' TERM");
    machine.signal("TERM");
    machine.ends(&Ending::Restarted);
    let console = machine.console();
    let at = |text| {
        console[before..]
            .find(text)
            .unwrap_or_else(|| panic!("{text}"))
    };
    assert!(at("main: TERM") < at("one: TERM") && at("main: TERM") < at("two: TERM"));
    assert!(at("host-init: host: exit 0") > at("main: TERM"));

    // What is deaf is killed with it, at the same moment.
    machine.line("host: up");
    machine.ask(
        "(trap '' TERM; : >/run/deaf; while :; do sleep 1; done) & until [ -e /run/deaf ]; do usleep 1000; done",
    );
    machine.signal("TERM");
    let asked = machine.line("host-init: rebooting");
    machine.line("host-init: host: killed by TERM");
    machine.ends(&Ending::Restarted);
    let last = machine.console();
    let last = last
        .lines()
        .rfind(|line| line.contains("reboot: Restarting"))
        .unwrap();
    assert!((0.9..5.0).contains(&(time(last) - time(&asked))), "{last}");

    // And what has another pid each time one looks.
    machine.line("host: up");
    machine.ask("probe hydra 5; trap '' TERM");
    machine.signal("USR2");
    machine.line("host-init: host: did not end in time, killed");
    machine.ends(&Ending::PoweredOff);
    let console = machine.console();
    assert!(!console.contains("can't be killed"), "{console}");
    assert!(!console.contains("busy"));
    assert_clean(&disk);
}

#[test]
fn a_process_of_no_service_is_killed_before_its_disk_is_unmounted() {
    let disk = Disk::ext4(16).unwrap();
    let mut machine = Session::up(Image::with_shell(DATA).boot().disk(&disk));
    let pid = machine.ask(
        "mkdir /sys/fs/cgroup/other /data/in; \
         (trap '' TERM HUP; echo 0 >/sys/fs/cgroup/other/cgroup.procs; cd /data/in; exec >file; while :; do echo line; done) & echo $!",
    );
    let group = machine.ask(&format!(
        "until grep -q other /proc/{pid}/cgroup; do usleep 1000; done; cat /proc/{pid}/cgroup"
    ));
    assert_eq!(group, "0::/other");

    machine.signal("USR2");

    machine.line("host-init: powering off");
    machine.ends(&Ending::PoweredOff);
    assert!(!machine.console().contains("busy"));
    assert_clean(&disk);
}

#[test]
fn a_busy_filesystem_is_named_with_its_holder_and_made_read_only() {
    let module = tools::kernel().unwrap().module("loop").expect("loop.ko");
    let disk = Disk::ext4(16).unwrap();
    let image = Image::with_shell(DATA).program_from("/lib/loop.ko", &module);
    let mut machine = Session::up(image.boot().disk(&disk));
    machine.ask("insmod /lib/loop.ko; dd if=/dev/zero of=/data/file bs=1M count=1; losetup /dev/loop0 /data/file; echo kept >/data/note");
    assert_eq!(
        machine.ask("cat /sys/block/loop0/loop/backing_file"),
        "/data/file"
    );

    machine.signal("USR2");

    machine.line("host-init: unmount /data: device busy, held by loop0");
    machine.ends(&Ending::PoweredOff);
    assert_clean(&disk);
    assert_eq!(read(&disk, "/note"), "kept\n");
}

#[test]
fn nested_bound_and_oddly_named_mounts_and_swap_are_given_back() {
    /// Ends of targets, as in TOML.
    const NAMES: [&str; 6] = [
        "a b",
        "tab\\there",
        "new\\nline",
        "back\\\\slash",
        "gone (deleted)",
        "\\u00fc#",
    ];
    let disks: Vec<Disk> = NAMES.iter().map(|_| Disk::ext4(16).unwrap()).collect();
    let mut config = String::new();
    let mut target = String::new();
    for (number, name) in NAMES.iter().enumerate() {
        // Each in the one before, so that none can go before those after it.
        target = format!("{target}/{name}");
        config += &format!(
            "[[mount]]\nsource = \"/dev/nvme{number}n1\"\ntarget = \"{target}\"\ntype = \"ext4\"\nwait = \"30s\"\n"
        );
    }
    let boot = Image::with_shell(&config).boot();
    let boot = disks.iter().fold(boot, Boot::disk);
    let mut machine = Session::up(boot);
    assert_eq!(machine.ask("grep -c ext4 /proc/mounts"), "6");
    machine.ask("dd if=/dev/zero of='/a b/swap' bs=1M count=4; chmod 600 '/a b/swap'; mkswap '/a b/swap'; swapon '/a b/swap'");
    assert_eq!(machine.ask("grep -c file /proc/swaps"), "1");
    machine.ask(
        "mkdir /bound /over; mount -o bind '/a b' /bound; mount -o bind /bound /over; mount -t tmpfs none /over; \
         mount -t ext4 /dev/nvme5n1 /over; mount -t tmpfs none /over; touch /bound/bound",
    );

    machine.signal("USR2");

    machine.line("host-init: powering off");
    machine.ends(&Ending::PoweredOff);
    let console = machine.console();
    for word in ["busy", "swap off", "read-only", "given up"] {
        assert!(!console.contains(&format!("host-init: {word}")), "{word}");
    }
    assert!(!console.contains("held by"));
    for disk in &disks {
        assert_clean(disk);
    }
}
