//! The plug is pulled at some moment, and the next boot goes on.

use qemu::{Disk, Ending};

use crate::disk::{State, assert_clean, read, state};
use crate::image::Image;
use crate::session::Session;

#[test]
fn a_machine_whose_plug_was_pulled_boots_and_has_what_was_synced() {
    let disk = Disk::ext4(32).unwrap();
    let image = Image::with_shell(
        "[[mount]]\nsource = \"/dev/nvme0n1\"\ntarget = \"/data\"\ntype = \"ext4\"\nwait = \"30s\"\n",
    );
    let write = "(while :; do echo line >>/data/busy; cp /data/busy /data/copy; done) & true";

    // While the host writes, and just after it has synced something.
    for boots in 1..=2 {
        let mut machine = Session::up(image.boot().disk(&disk));
        machine.ask(&format!("{write}; echo boot >>/data/boots; sync"));
        assert_eq!(machine.ask("grep -c . /data/boots"), boots.to_string());
        machine.pull_plug();
        machine.ends(&Ending::Killed);
        drop(machine);
        assert_eq!(state(&disk), State::Dirty);
    }
    // While it is being stopped, and as the last steps are taken.
    for (number, moment) in [
        "host-init: rebooting",
        "host-init: host: killed by TERM",
        "unmounting filesystem",
    ]
    .into_iter()
    .enumerate()
    {
        let mut machine = Session::up(image.boot().disk(&disk));
        machine.ask(&format!("{write}; echo boot >>/data/boots; sync"));
        assert_eq!(
            machine.ask("grep -c . /data/boots"),
            (number + 3).to_string()
        );
        machine.signal("TERM");
        machine.line(moment);
        machine.pull_plug();
        drop(machine);
    }

    let mut machine = Session::up(image.boot().disk(&disk));
    assert_eq!(machine.ask("grep -c . /data/boots"), "5");
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
    drop(machine);
    assert_clean(&disk);
    assert_eq!(read(&disk, "/boots").lines().count(), 5);
}
