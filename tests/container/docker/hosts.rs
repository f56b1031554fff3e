//! A host that is supervised in a container.

use crate::docker::engine::Engine;
use crate::tree::Tree;

#[test]
fn docker_stops_a_host() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let tree = Tree::new();
    tree.supervise();
    let image = engine.image(&tree);
    for options in [&[][..], &["--read-only"]] {
        let mut container = image.run(options, &[]);
        container.says("host: up");

        container.stop();

        container.says("host: asked");
        container.ends_with(0);
    }
}

#[test]
fn docker_hears_of_a_reboot() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let tree = Tree::new();
    tree.supervise();
    let image = engine.image(&tree);
    let mut container = image.run(&[], &[]);
    container.says("host: up");

    container.signal("RTMIN+5");

    // Docker does not let it call reboot(2).
    container.ends_with(133);
    assert_eq!(container.inspect("{{.State.ExitCode}}"), "133");
}

#[test]
fn docker_restarts_what_asks_for_a_reboot() {
    let Some(engine) = Engine::found() else {
        return;
    };
    let tree = Tree::new();
    tree.supervise();
    let image = engine.image(&tree);
    let mut container = image.run(&["--detach", "--restart", "on-failure"], &[]);
    container.ends_with(0);
    let mut events = container.events();
    let mut log = container.follow();
    log.says("host: up");

    // From inside: what the engine sends itself it takes for a stop.
    container.execute("kill -39 1");

    events.says("start");
    events.says("die 133");
    events.says("start");
    let mut log = container.follow();
    log.says("host: up");
    log.says("host: up");
    container.stop();
    log.says("host: asked");
}
