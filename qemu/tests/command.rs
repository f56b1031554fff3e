//! The command `boot`, with an image of one's own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use qemu::Scratch;

mod image;

use image::{BOUND, archive};

/// Starts the command with a script for an init.
fn boot(scratch: &Scratch, body: &str) -> Child {
    let path = scratch.path().join("image");
    fs::write(&path, archive(body)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_boot"))
        .arg("--image")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn piped_input_reaches_the_guest_and_a_power_off_is_success() {
    let scratch = Scratch::new().unwrap();
    let mut child = boot(
        &scratch,
        "echo up\nread name\necho \"hello, $name\"\npoweroff -f",
    );

    child.stdin.take().unwrap().write_all(b"world\n").unwrap();
    let output = child.wait_with_output().unwrap();

    let console = String::from_utf8_lossy(&output.stdout);
    assert!(console.contains("hello, world"), "{console}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "boot: the machine powered off\n"
    );
}

#[test]
fn a_panic_is_no_success() {
    let scratch = Scratch::new().unwrap();

    let output = boot(&scratch, "exit 1").wait_with_output().unwrap();

    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("boot: run the machine: it panicked: "),
        "{complaint}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_guest_does_not_outlive_a_program_that_is_killed() {
    let scratch = Scratch::new().unwrap();
    let mut child = boot(&scratch, "echo up\nread x");
    let mut console = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(console.any(|line| line.unwrap().contains("up")));
    let guest = only_child_of(&child);

    child.kill().unwrap();
    child.wait().unwrap();

    // It is killed at once; how soon it is gone is up to the system.
    let deadline = Instant::now() + BOUND;
    while is_alive(&guest) {
        assert!(
            Instant::now() < deadline,
            "{} is still there",
            guest.display()
        );
        thread::yield_now();
    }
}

fn only_child_of(parent: &Child) -> PathBuf {
    let tasks = fs::read_dir(format!("/proc/{}/task", parent.id())).unwrap();
    let children: String = tasks
        .flatten()
        .map(|task| fs::read_to_string(task.path().join("children")).unwrap())
        .collect();
    PathBuf::from(format!("/proc/{}", children.trim()))
}

/// A dead process that nobody has collected yet is not alive.
fn is_alive(process: &std::path::Path) -> bool {
    fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
