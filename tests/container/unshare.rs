//! unshare(1): a pid namespace, and nothing else of a container.

use std::process::Command;

use crate::client::{found, works};
use crate::keys::{self, SIZE};
use crate::scripts::{ADOPTED, HONEST, STUBBORN};
use crate::session::Session;
use crate::tree::HOST_INIT;

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
