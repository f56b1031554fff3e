//! Containers that are less, or more, than usual.

use crate::docker::engine::Engine;
use crate::scripts::{ADOPTED, HONEST};
use crate::tree::Tree;

#[test]
fn a_container_that_nobody_can_write_to_runs() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let script = "echo >/file || exit 4";
    let mut container = image.run(&["--read-only"], &["sh", "-c", script]);

    container.says("Read-only");
    container.ends_with(4);
}

#[test]
fn a_container_runs_as_the_user_that_docker_is_told() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let script = format!("id -u; id -g; {HONEST}");
    let mut container = image.run(&["--user", "1000:1001"], &["sh", "-c", &script]);
    container.says("1000\n1001\n");
    container.says("up");

    container.stop();

    container.ends_with(3);
}

#[test]
fn a_container_without_a_capability_changes_nothing() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let options = [
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        "--pids-limit",
        "16",
    ];
    let mut container = image.run(&options, &["sh", "-c", HONEST]);
    container.says("up");

    container.stop();

    container.ends_with(3);
}

#[test]
fn in_the_pid_namespace_of_the_machine_orphans_are_adopted() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let script = format!("{ADOPTED} {HONEST}");
    let mut container = image.run(&["--pid", "host"], &["sh", "-c", &script]);
    container.says("adopted");
    container.says("up");

    container.stop();

    container.says("asked");
    container.ends_with(3);
}

#[test]
fn what_docker_executes_beside_the_command_leaves_no_zombie() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run(&[], &["sh", "-c", HONEST]);
    container.says("up");

    // The shell is gone before what it started, of which some end by themselves.
    let orphan = container.execute("sleep 0 & sleep 0 & sleep 1000 >/dev/null 2>&1 & echo $!");
    let parent = container.execute(&format!("grep PPid: /proc/{orphan}/status"));
    assert_eq!(parent, "PPid:\t1");

    container.execute(&format!("kill {orphan}"));

    // It goes on for as long as there is one, and the engine waits for it.
    let mut watch = container
        .beside("while grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null; do :; done; echo none");
    watch.says("none");
    watch.ends_with(0);
    container.execute(&format!("! [ -e /proc/{orphan} ]"));
    container.stop();
    container.ends_with(3);
}
