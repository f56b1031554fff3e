//! How commands end, and what the engine makes of it.

use crate::docker::engine::Engine;
use crate::tree::Tree;

#[test]
fn docker_ends_as_the_command_does() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let tree = Tree::new();
    tree.write("plain", "not a program\n");
    let image = engine.image(&tree);
    let cases: [(&[&str], i32); 6] = [
        (&["sh", "-c", "exit 0"], 0),
        (&["sh", "-c", "exit 42"], 42),
        (&["sh", "-c", "kill -USR1 $$"], 138),
        (&["sh", "-c", "kill -KILL $$"], 137),
        (&["no-such-program"], 127),
        (&["/plain"], 126),
    ];
    for (words, code) in cases {
        let mut container = image.run(&[], words);

        container.ends_with(code);

        assert_eq!(
            container.inspect("{{.State.ExitCode}}"),
            code.to_string(),
            "{words:?}"
        );
    }
}

#[test]
fn docker_restarts_a_command_that_fails() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let options = ["--detach", "--restart", "on-failure:2"];
    let mut container = image.run(&options, &["sh", "-c", "exit 5"]);
    container.ends_with(0);

    let mut events = container.events();
    for _ in 0..3 {
        events.says("die 5");
    }

    let known = "{{.State.ExitCode}} {{.RestartCount}} {{.State.Status}}";
    assert_eq!(container.inspect(known), "5 2 exited");
}

#[test]
fn docker_does_not_restart_a_command_that_was_done() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let options = ["--detach", "--restart", "on-failure:2"];
    let mut container = image.run(&options, &["sh", "-c", "exit 0"]);
    container.ends_with(0);

    container.events().says("die 0");

    let known = "{{.State.ExitCode}} {{.RestartCount}} {{.State.Status}}";
    assert_eq!(container.inspect(known), "0 0 exited");
}

#[test]
fn a_command_that_takes_too_much_memory_is_killed_and_told() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let options = ["--memory", "32m", "--memory-swap", "32m"];
    // It keeps the last line, which has no end.
    let mut container = image.run(&options, &["tail", "/dev/zero"]);

    container.ends_with(137);

    let known = "{{.State.ExitCode}} {{.State.OOMKilled}}";
    assert_eq!(container.inspect(known), "137 true");
}
