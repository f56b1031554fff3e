//! Stops and other signals.

use crate::docker::engine::Engine;
use crate::scripts::{HONEST, STUBBORN};
use crate::tree::Tree;

#[test]
fn docker_stops_a_command_that_honours_it_at_once() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run(&[], &["sh", "-c", HONEST]);
    container.says("up");

    container.stop();

    container.says("asked");
    container.ends_with(3);
    assert_eq!(container.inspect("{{.State.ExitCode}}"), "3");
}

#[test]
fn docker_stops_a_command_that_says_nothing_of_signals_at_once() {
    // As PID 1 it would have to be killed.
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run(&[], &["sh", "-c", "echo up; exec sleep 1000"]);
    container.says("up");

    container.stop();

    container.ends_with(143);
}

#[test]
fn a_stubborn_command_is_killed_before_docker_would() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let by_option: (&[&str], &[&str]) = (
        &["--entrypoint", "/host-init"],
        &["--kill-after", "100ms", "--", "sh", "-c", STUBBORN],
    );
    let by_variable: (&[&str], &[&str]) = (
        &["--env", "HOST_INIT_KILL_AFTER=100ms"],
        &["sh", "-c", STUBBORN],
    );
    for (options, words) in [by_option, by_variable] {
        let mut container = image.run(options, words);
        container.says("up");

        container.stop();

        container.ends_with(137);
        assert_eq!(container.inspect("{{.State.ExitCode}}"), "137");
    }
}

#[test]
fn a_command_that_is_more_stubborn_than_docker_is_patient_is_killed() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run(&["--stop-timeout", "1"], &["sh", "-c", STUBBORN]);
    container.says("up");

    container.stop_as_configured();

    container.ends_with(137);
}

#[test]
fn docker_stops_with_the_signal_that_the_container_names() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let script = "trap 'echo asked; exit 5' 37; echo up; sleep 1000 & wait";
    let options = ["--stop-signal", "RTMIN+3"];
    let mut container = image.run(&options, &["sh", "-c", script]);
    container.says("up");

    container.stop();

    container.says("asked");
    container.ends_with(5);
}

#[test]
fn each_signal_that_docker_sends_reaches_the_command() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let script = "
        for number in 1 2 3 10 12 15 28 30 34 37 64; do
            trap \"echo got $number.\" $number
        done
        echo up
        while :; do sleep 1000 & wait; done";
    let mut container = image.run(&[], &["sh", "-c", script]);
    container.says("up");

    for (name, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("USR1", 10),
        ("USR2", 12),
        ("TERM", 15),
        ("WINCH", 28),
        ("PWR", 30),
        ("RTMIN", 34),
        ("RTMIN+3", 37),
        ("RTMAX", 64),
    ] {
        container.signal(name);
        container.says(&format!("got {number}."));
    }
    container.signal("KILL");
    container.ends_with(137);
}

#[test]
fn a_signal_to_the_client_reaches_the_command() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let image = engine.image(&Tree::new());
    let mut container = image.run(&[], &["sh", "-c", HONEST]);
    container.says("up");

    container.signals(libc::SIGTERM);

    container.says("asked");
    container.ends_with(3);
}
