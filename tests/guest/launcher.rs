//! A machine that a launcher script has kept running before.

use std::fs;

use qemu::{Disk, Ending, Scratch};

use crate::disk::{assert_clean, read};
use crate::image::{Image, SHELL};
use crate::session::Session;

const CONFIG: &str = "\
[host]
compat = \"launcher\"
healthy-after = \"1h\"
record = \"/data/record\"

[[mount]]
source = \"/dev/nvme0n1\"
target = \"/data\"
type = \"ext4\"
wait = \"30s\"
";

/// The script's variables, which the kernel puts into the environment of its init.
const WORDS: &str = "MESH_HOST_STATE_DIR=/data/state MESH_HOST_BIN=/host \
     MESH_HOST_LIBEXEC=/helpers MESH_HOST_BACKOFF=0";

#[test]
fn what_a_launcher_counted_goes_on_over_power_cuts() {
    let scratch = Scratch::new().unwrap();
    let state = scratch.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::write(state.join("start-attempts"), "1\n").unwrap();
    let disk = Disk::ext4_with(16, &["-d", scratch.path().to_str().unwrap()]).unwrap();
    let image = Image::new(CONFIG)
        .program("/host", SHELL)
        .program("/helpers/rollback", "#!/bin/sh\necho 'helper: done'\n");
    let boot = image.boot().append(WORDS).disk(&disk).through_restarts();
    let mut machine = Session::start(boot);
    machine.line("host-init: launcher: 1 failures");
    machine.line("host: up");

    // The words are host-init's, and the host has none of them.
    assert_eq!(machine.ask("env | grep -c MESH_HOST"), "0");
    assert_eq!(machine.ask("cat /data/state/start-attempts"), "1");

    // What the script never counted.
    machine.press_reset().unwrap();
    machine.ends(&Ending::Killed);
    machine.line("host: up");
    assert_eq!(machine.ask("cat /data/state/start-attempts"), "2");
    machine.press_reset().unwrap();
    machine.ends(&Ending::Killed);

    machine.line("host-init: host: failed too often, taking it back");
    machine.line("helper: done");
    machine.line("host: up");
    assert_eq!(machine.ask("cat /data/state/start-attempts"), "0");
    assert_eq!(
        machine.ask("cd /data/state; echo *; cd /"),
        "rollback-attempted start-attempts"
    );
    machine.signal("USR2");
    machine.ends(&Ending::PoweredOff);
    drop(machine);
    assert_clean(&disk);
    assert_eq!(read(&disk, "/state/start-attempts"), "0\n");
}
