//! A fault of host-init's own: it is said, and is the end.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::init::End;
use crate::options::host_init;
use crate::peer::Program;
use crate::place::Place;
use crate::start::{ROLES, Start};

/// host-init with a fault that a signal commits, built into a directory of its own:
/// with other features cargo would build the tests' own program anew.
fn with_faults() -> Program {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("entrypoint-faults");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--package", "host-init", "--bin", "host-init"])
        .args(["--features", "inject-faults"])
        // Everything is there: these tests were built from it.
        .args(["--frozen", "--quiet", "--target-dir"])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
    ] {
        cargo.env_remove(name);
    }
    assert!(cargo.status().unwrap().success());
    Program {
        path: target.join("debug/host-init"),
        ..host_init()
    }
}

#[test]
fn a_panic_is_said_and_is_the_end() {
    let program = with_faults();
    let mut place = Place::new();
    for role in ROLES {
        let start = Start::new(&place, &program).role(role);
        let init = start.words(&["--", &place.recorder(), "up"]).spawn();
        assert_eq!(place.told.next(), "up");

        init.signal(libc::SIGURG);

        let seen = init.seen();
        assert_eq!(seen.end, End::Code(254), "{role:?}");
        let said = "host-init: panic: injected by URG at src/entrypoint/life.rs:";
        assert!(seen.complaints.starts_with(said), "{role:?}: {seen:?}");
        assert_eq!(seen.complaints.lines().count(), 1, "{role:?}: {seen:?}");
    }
}
