//! runc, which podman and Docker start a container by.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::image::{UP, made, unpacked};
use crate::keys::SIZE;
use crate::lives;
use crate::runtime::{Bundle, Runtime};
use crate::tree::Tree;

#[test]
fn a_runtime_runs_the_host_and_stops_it() {
    live(&Value::Null);
}

#[test]
fn a_host_runs_where_clone3_is_hidden() {
    // As Docker's own filter does, which cannot look into the call's structure.
    live(&json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            { "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": libc::ENOSYS },
        ],
    }));
}

/// The whole life of an image's host with this filter of system calls. It has a
/// terminal, so that its console and its standard output are one place to read from.
fn live(seccomp: &Value) {
    let Some(runc) = Runtime::runc() else {
        return;
    };
    let tree = Tree::new();
    let config = unpacked(&made(&tree), &tree);
    let mode = fs::metadata(tree.root().join("init"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o7777, 0o755);
    let bundle = Bundle::new(&runc, &tree, true, &[]);
    bundle.change(|spec| {
        let process = &mut spec["process"];
        process["args"] = config["Entrypoint"].clone();
        process["env"] = config["Env"].clone();
        process["cwd"] = config["WorkingDir"].clone();
        spec["linux"]["seccomp"] = seccomp.clone();
    });

    let mut container = bundle.run();

    container.session.says(UP);
    container.signal(config["StopSignal"].as_str().unwrap());
    container.session.says("host: asked to end");
    container.session.ends_with(0);
}

#[test]
fn runc_stops_a_command() {
    if let Some(runc) = Runtime::runc() {
        lives::stops_a_command(&runc);
    }
}

#[test]
fn under_runc_a_stubborn_command_is_killed() {
    if let Some(runc) = Runtime::runc() {
        lives::kills_a_command(&runc);
    }
}

#[test]
fn runc_gives_a_command_its_terminal() {
    if let Some(runc) = Runtime::runc() {
        lives::gives_a_terminal(&runc, SIZE);
    }
}
