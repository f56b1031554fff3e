//! unshare(1): a pid namespace, and nothing else of a container.

use std::fs;
use std::process::Command;

use crate::client::{found, may, works};
use crate::keys::{self, SIZE};
use crate::scripts::{ADOPTED, HONEST, STUBBORN};
use crate::session::Session;
use crate::tree::{HOST_INIT, Tree};

/// Runs a command in namespaces of its own.
fn unshared(options: &[&str], words: &[&str]) -> Option<Command> {
    let mut command = Command::new(found("unshare")?);
    command
        .args(options)
        .arg("--kill-child")
        .arg(HOST_INIT)
        .args(words);
    Some(command)
}

/// With a `/proc` of the namespace.
const OWN: [&str; 2] = ["-pf", "--mount-proc"];

/// As a user that is root only there, with the machine's `/proc`.
const ROOTLESS: [&str; 1] = ["-Urpf"];

#[test]
fn under_unshare_a_command_is_stopped() {
    let script = format!("{ADOPTED} {HONEST}");
    let Some(command) = unshared(&OWN, &["--", "sh", "-c", &script]) else {
        return;
    };
    let mut session = Session::piped(command);
    session.says("adopted by 1.");
    session.says("up");

    session.signals_host_init(libc::SIGTERM);

    session.says("asked");
    session.ends_with(3);
}

#[test]
fn in_a_user_namespace_a_command_is_stopped() {
    if !works(Command::new("unshare").args(ROOTLESS).arg("true")) {
        return;
    }
    for (patience, script, code) in [("60s", HONEST, 3), ("100ms", STUBBORN, 137)] {
        let words = ["--kill-after", patience, "--", "sh", "-c", script];
        let Some(command) = unshared(&ROOTLESS, &words) else {
            return;
        };
        let mut session = Session::piped(command);
        session.says("up");

        session.signals_host_init(libc::SIGTERM);

        session.ends_with(code);
    }
}

#[test]
fn unshare_shares_its_terminal() {
    if !works(Command::new("unshare").args(ROOTLESS).arg("true")) {
        return;
    }
    for options in [&OWN[..], &ROOTLESS] {
        let Some(command) = unshared(options, &["--", "sh", "-c", keys::SCRIPT]) else {
            return;
        };
        let mut session = Session::on_terminal(command);

        keys::reach(&mut session, SIZE);
    }
}

/// Gives the shell a cgroup of its own below a hierarchy of version 2, and runs what
/// follows with nothing but that in sight.
const DELEGATED: &str = "mount -t tmpfs none /run; umount -l /sys/fs/cgroup; \
    mount -t cgroup2 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/$0 && \
    echo $$ >/sys/fs/cgroup/$0/cgroup.procs && \
    exec unshare --cgroup sh -c 'umount -l /sys/fs/cgroup; \
    mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\"' \"$0\" \"$@\"";

/// Removes that again.
const REMOVE: &str = "umount -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; \
    rmdir /sys/fs/cgroup/$0/*/ /sys/fs/cgroup/$0";

#[test]
fn a_host_that_leaves_a_process_behind_is_started_again_and_again() {
    if !may("a cgroup") {
        return;
    }
    let tree = Tree::new();
    let (name, config) = (tree.name(), tree.beside("config"));
    let host = "echo up; setsid sleep 1000 & exit 3";
    let text = format!(
        "[host]\ncommand = [\"/bin/sh\", \"-c\", \"{host}\"]\nbackoff = \"0s\"\nstart-limit = 10\n"
    );
    fs::write(&config, text).unwrap();
    let inside = ["--mount-proc", "--mount", "sh", "-c", DELEGATED, &name];
    let mut command = Command::new("unshare");
    command.args(["-pf", "--kill-child"]).args(inside);
    command.arg(HOST_INIT).arg("--config").arg(&config);
    command.env("container", "test");
    let mut session = Session::piped(command);

    // The group of each but the first was killed as a whole before.
    for _ in 0..5 {
        session.says("up");
    }

    session.signals_host_init(libc::SIGTERM);
    session.ends_with(0);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", REMOVE, &name]);
    Session::done(command);
}
