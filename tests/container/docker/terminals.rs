//! Keys, sizes and jobs on a container's terminal.

use crate::docker::engine::Engine;
use crate::keys::{self, SIZE};
use crate::tree::Tree;

#[test]
fn keys_and_sizes_reach_the_command_through_docker() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run_on_terminal(keys::SCRIPT);

    keys::reach(&mut container, SIZE);
}

#[test]
fn a_key_ends_a_command_that_says_nothing_of_signals() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    for (key, code) in [("\x03", 130), ("\x1c", 131)] {
        let mut container = image.run_on_terminal("echo up; exec cat");
        container.says("up");
        // Once from the terminal, and once from a program that is there for good.
        container.types("on\n");
        container.says("on\r\non");
        // The engine starts nothing that has ended by then.
        container.events().says("start");

        container.types(key);

        container.ends_with(code);
    }
}

#[test]
fn a_shell_in_docker_has_its_jobs() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run_on_terminal("PS1='ready> ' exec sh -i");
    container.says("ready> ");
    assert!(
        !container.heard().contains("job control"),
        "{}",
        container.heard()
    );

    container.types("echo in; cat\n");
    container.says("\nin");
    // Each line comes back from the job when it has the terminal.
    container.types("one\n");
    container.says("one\r\none");
    container.types("\x1a");
    container.says("Stopped");
    container.says("ready> ");
    container.types("fg\n");
    container.says("\ncat");
    container.types("two\n");
    container.says("two\r\ntwo");
    container.types("\x03");
    container.says("ready> ");
    container.types("exit 9\n");

    container.ends_with(9);
}
