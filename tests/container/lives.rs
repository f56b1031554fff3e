//! What every runtime of the OCI shows.

use crate::keys;
use crate::runtime::{Bundle, Runtime};
use crate::scripts::{ADOPTED, HONEST, STUBBORN};
use crate::tree::Tree;

/// A command without a terminal is stopped.
pub(crate) fn stops_a_command(runtime: &Runtime) {
    let script = format!("{ADOPTED} {HONEST}");
    let words = ["/host-init", "--", "sh", "-c", &script];
    let tree = Tree::new();
    let bundle = Bundle::new(runtime, &tree, false, &words);
    let mut container = bundle.run();
    container.session.says("adopted");
    container.session.says("up");

    container.signal("TERM");

    container.session.says("asked");
    container.session.ends_with(3);
}

/// A command that does not hear is killed.
pub(crate) fn kills_a_command(runtime: &Runtime) {
    let words = [
        "/host-init",
        "--kill-after",
        "100ms",
        "--",
        "sh",
        "-c",
        STUBBORN,
    ];
    let tree = Tree::new();
    let bundle = Bundle::new(runtime, &tree, false, &words);
    let mut container = bundle.run();
    container.session.says("up");

    container.signal("TERM");

    container.session.ends_with(137);
}

/// A command with a terminal has its keys, and hears of a new size as the runtime
/// tells it.
pub(crate) fn gives_a_terminal(runtime: &Runtime, size: &str) {
    let tree = Tree::new();
    let bundle = Bundle::new(
        runtime,
        &tree,
        true,
        &["/host-init", "--", "sh", "-c", keys::SCRIPT],
    );
    let mut container = bundle.run();

    keys::reach(&mut container.session, size);
}
