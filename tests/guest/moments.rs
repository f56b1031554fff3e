//! A request at every moment of the start ends the machine as it asks.
//!
//! A child of PID 1, which is there before host-init is, sends it after so many
//! microseconds: before it is PID 1, while it mounts, as its host starts, later.

use qemu::{Disk, Ending};

use crate::disk::assert_clean;
use crate::image::Image;
use crate::session::Session;

/// Microseconds. host-init needs some 50 ms to its host, and the disk may take
/// longer.
const DELAYS: [u32; 12] = [
    0, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000, 50_000, 80_000, 130_000, 250_000, 500_000,
];

fn always_ends(signal: u8, ending: &Ending) {
    let disk = Disk::ext4(16).unwrap();
    let image = Image::with_shell(
        "stop-grace = \"5s\"\n\
         [[mount]]\nsource = \"/dev/nvme0n1\"\ntarget = \"/data\"\ntype = \"ext4\"\nwait = \"30s\"\n\
         [[directory]]\npath = \"/data/made\"\n",
    )
    .probe();
    for delay in DELAYS {
        let words = format!("rdinit=/bin/probe -- early {signal} {delay}");
        let mut machine = Session::start(image.boot().disk(&disk).append(words));
        eprintln!("after {delay} us:");

        machine.ends(ending);

        let console = machine.console();
        assert!(!console.contains("did not end in time"), "{delay} us");
        drop(machine);
        assert_clean(&disk);
    }
}

#[test]
fn a_power_off_at_any_moment_of_the_start_is_one() {
    always_ends(38, &Ending::PoweredOff);
}

#[test]
fn a_restart_at_any_moment_of_the_start_is_one() {
    always_ends(15, &Ending::Restarted);
}
