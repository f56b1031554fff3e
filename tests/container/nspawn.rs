//! systemd-nspawn, without a systemd around it.

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::found;
use crate::keys::{self, SIZE};
use crate::place::Place;
use crate::scripts::{ADOPTED, HONEST};
use crate::session::{BOUND, Session};
use crate::tree::Tree;

/// A machine of systemd-nspawn's, from a tree.
struct Machine<'t> {
    path: PathBuf,
    tree: &'t Tree,
}

impl<'t> Machine<'t> {
    fn found(tree: &'t Tree) -> Option<Self> {
        let path = found("systemd-nspawn")?;
        Some(Self { path, tree })
    }

    fn command(&self, options: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(["--quiet", "--register=no", "--keep-unit"])
            .args(["--machine", &self.tree.name(), "--directory"])
            .arg(self.tree.root())
            .args(options)
            .args(words);
        command
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // It leaves its places behind where /run is not a memory of the kernel's.
        let places = Path::new("/run/systemd/nspawn/propagate");
        let _ = std::fs::remove_dir_all(places.join(self.tree.name()));
    }
}

#[test]
fn systemd_nspawn_ends_as_the_command_does() {
    let tree = Tree::new();
    let Some(machine) = Machine::found(&tree) else {
        return;
    };
    let script = format!("{ADOPTED} exit 7");
    let words = ["/host-init", "--", "/bin/sh", "-c", &script];
    for (options, parent) in [(&["--pipe"][..], 1), (&["--pipe", "--as-pid2"], 2)] {
        let mut session = Session::piped(machine.command(options, &words));

        session.says(&format!("adopted by {parent}."));
        session.ends_with(7);
    }
}

#[test]
fn systemd_nspawn_stops_a_command() {
    let tree = Tree::new();
    let Some(machine) = Machine::found(&tree) else {
        return;
    };
    let words = ["/host-init", "--", "/bin/sh", "-c", HONEST];
    let options = ["--pipe", "--kill-signal=SIGTERM"];
    let mut session = Session::piped(machine.command(&options, &words));
    session.says("up");

    session.signals(libc::SIGTERM);

    session.says("asked");
    session.ends_with(3);
}

#[test]
fn systemd_nspawn_gives_a_command_its_terminal() {
    let tree = Tree::new();
    let Some(machine) = Machine::found(&tree) else {
        return;
    };
    let words = ["/host-init", "--", "/bin/sh", "-c", keys::SCRIPT];
    let mut session = Session::on_terminal(machine.command(&[], &words));

    keys::reach(&mut session, SIZE);
}

/// Boots a machine whose host is up, and has it told something; how it ends.
fn booted(signal: impl FnOnce(&Session), code: i32) {
    let tree = Tree::new();
    tree.supervise();
    let Some(machine) = Machine::found(&tree) else {
        return;
    };
    let mut session = Session::piped(machine.command(&["--console=pipe", "--boot"], &[]));
    session.says("host: up");

    signal(&session);

    session.says("host: asked");
    session.ends_with(code);
}

#[test]
fn systemd_nspawn_powers_a_host_off() {
    // RTMIN+4, as systemctl(1) does.
    booted(|session| session.signals_host_init(38), 0);
}

#[test]
fn systemd_nspawn_hears_of_a_reboot() {
    // RTMIN+5. Its unit would start it again for this code.
    booted(|session| session.signals_host_init(39), 133);
}

#[test]
fn systemd_nspawn_that_is_to_end_ends_a_host() {
    // It sends RTMIN+3 to what boots.
    booted(|session| session.signals(libc::SIGTERM), 0);
}

#[test]
fn systemd_nspawn_hears_that_a_host_is_ready_and_tells_it() {
    let tree = Tree::new();
    tree.supervise();
    let Some(machine) = Machine::found(&tree) else {
        return;
    };
    let place = Place::of(&tree);
    let path = place.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(BOUND)).unwrap();
    let options = ["--console=pipe", "--notify-ready=yes", "--boot"];
    let mut command = machine.command(&options, &[]);
    command.env("NOTIFY_SOCKET", path);
    let mut session = Session::piped(command);

    // systemd-nspawn has a word of its own before.
    let mut told = String::new();
    while !told.contains("READY=1") {
        let mut bytes = [0; 4096];
        let count = socket.recv(&mut bytes).expect(&told);
        told += &String::from_utf8_lossy(&bytes[..count]);
        told.push('\n');
    }

    session.says("host: up");
    session.signals_host_init(38);
    session.ends_with(0);
}
