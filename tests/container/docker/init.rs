//! `docker run --init`.

use std::fs;

use crate::docker::daemon::Daemon;
use crate::scripts::HONEST;
use crate::tree::{HOST_INIT, Tree};

#[test]
fn docker_runs_it_as_its_init() {
    let tree = Tree::new();
    let init = tree.beside("docker-init");
    fs::copy(HOST_INIT, &init).unwrap();
    let Some(daemon) = Daemon::start(&tree, &init) else {
        return;
    };
    let image = daemon.engine().image(&tree);
    let options = ["--init", "--entrypoint", ""];
    let script = format!("tr '\\0' ' ' </proc/1/cmdline; {HONEST}");

    let mut container = image.run(&options, &["sh", "-c", &script]);

    container.says("/sbin/docker-init -- sh -c");
    container.says("up");
    container.stop();
    container.says("asked");
    container.ends_with(3);
    let mut container = image.run(&options, &["no-such-program"]);
    container.says("[FATAL tini");
    container.ends_with(127);
}
