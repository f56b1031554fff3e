//! The programs that guests run, each built once for all tests.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use qemu::tools;
use serde_json::Value;

/// The program as its users have it: the release build.
pub(crate) fn host_init() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build("guest", &[]))
}

/// The same, with faults that a signal commits.
pub(crate) fn with_faults() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build("guest-faults", &["--features", "inject-faults"]))
}

/// `probe.rs` beside this file: what a shell in a guest can't do, or not as fast.
pub(crate) fn probe() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/probe.rs");
        let directory = tools::target().join("guest");
        fs::create_dir_all(&directory).unwrap();
        let program = directory.join("probe");
        let mut rustc = Command::new(variable("RUSTC", "rustc"));
        rustc
            .args([
                "--edition",
                "2024",
                "-C",
                "opt-level=2",
                "-C",
                "panic=abort",
            ])
            // A guest has no shared libraries.
            .args(["-C", "target-feature=+crt-static", "-o"])
            .args([&program, &source]);
        run(&mut rustc);
        program
    })
}

/// Builds into a directory of its own: with other features cargo would build the
/// tests' own program anew.
fn build(directory: &str, features: &[&str]) -> PathBuf {
    let mut cargo = Command::new(variable("CARGO", "cargo"));
    cargo
        .args(["build", "--release", "--package", "host-init"])
        .args(["--bin", "host-init", "--quiet"])
        .args(["--message-format", "json-render-diagnostics"])
        .args(features)
        .arg("--target-dir")
        .arg(tools::target().join(directory))
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let messages = run(&mut cargo);
    messages
        .lines()
        .filter_map(|line| line.parse::<Value>().ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo names the program that it built")
}

/// Runs a command to its end, and gives what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}",
        output.status
    );
    text
}

fn variable(name: &str, usual: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| usual.into())
}
