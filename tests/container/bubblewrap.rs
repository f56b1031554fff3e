//! bubblewrap, which is PID 1 itself or lets the command be it.

use std::process::Command;

use crate::client::found;
use crate::keys::{self, SIZE};
use crate::scripts::{ADOPTED, HONEST};
use crate::session::Session;
use crate::tree::Tree;

/// Runs a script in a sandbox of a tree.
fn sandbox(tree: &Tree, options: &[&str], script: &str) -> Option<Command> {
    let mut command = Command::new(found("bwrap")?);
    command
        .arg("--bind")
        .arg(tree.root())
        .args(["/", "--proc", "/proc", "--dev", "/dev"])
        .args(["--die-with-parent", "--unshare-pid"])
        .args(options)
        .args(["/host-init", "--", "sh", "-c", script]);
    Some(command)
}

#[test]
fn bubblewrap_lets_it_be_the_first_process() {
    let tree = Tree::new();
    let script = format!("{ADOPTED} {HONEST}");
    let Some(command) = sandbox(&tree, &["--as-pid-1"], &script) else {
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
fn below_bubblewrap_it_adopts_orphans() {
    let tree = Tree::new();
    let script = format!("{ADOPTED} {HONEST}");
    let Some(command) = sandbox(&tree, &[], &script) else {
        return;
    };
    let mut session = Session::piped(command);
    session.says("adopted by 2.");
    session.says("up");

    session.signals_host_init(libc::SIGTERM);

    session.says("asked");
    session.ends_with(3);
}

#[test]
fn bubblewrap_shares_its_terminal() {
    for options in [&["--as-pid-1"][..], &[]] {
        let tree = Tree::new();
        let Some(command) = sandbox(&tree, options, keys::SCRIPT) else {
            return;
        };
        let mut session = Session::on_terminal(command);

        keys::reach(&mut session, SIZE);
    }
}
