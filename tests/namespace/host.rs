//! The hosts: this test program itself, run again inside the namespace.
//!
//! A program that is called `/host` never reaches the test harness: it becomes a
//! host in a constructor, before there are threads, output capture or a signal
//! disposition of Rust's own (`SIGPIPE`), so that what it finds is what host-init
//! gave it.

use std::ffi::{OsStr, c_char, c_int};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process;

use crate::{arguments, voice};

/// What the program is called when it is to be a host.
pub(crate) const PATH: &str = "/host";

/// Where a host says something: a FIFO that the test reads.
pub(crate) const TOLD: &str = "/told";

/// Where hosts that live more than once count their lives.
const COUNT: &str = "/run/lives";

#[used]
// SAFETY: the section holds functions of this type, which the C library calls
// with the program's arguments before `main`.
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

extern "C" fn begin(count: c_int, words: *const *const c_char, _: *const *const c_char) {
    // SAFETY: the C library hands over `count` C strings.
    let arguments = unsafe { arguments::of(count, words) };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let [PATH, role, rest @ ..] = arguments.as_slice() {
        be(role, rest);
        process::abort();
    }
}

fn be(role: &str, words: &[&str]) {
    match (role, words) {
        // Stays until a signal ends it.
        ("up", _) => up(),
        // Says how its life began.
        ("report", _) => report(words),
        // Says something on its own standard output and error, again and again.
        ("shouts", _) => shout(),
        // Says this on its own standard error, a life each.
        ("says", [line]) => {
            eprintln!("{line}");
            process::exit(1);
        }
        // Stays whatever it is asked.
        ("stubborn", _) => {
            set_signal(libc::SIGTERM, libc::SIG_IGN);
            up();
        }
        // Stops itself, and then stays.
        ("stopped", _) => {
            set_signal(libc::SIGTERM, libc::SIG_DFL);
            tell(&format!("up {}", process::id()));
            raise(libc::SIGSTOP);
            stay();
        }
        // Ends as each of the words says, a life each, and then stays.
        ("lives", _) => live(words),
        // Takes a version back, or says that it did not.
        ("back", [code]) => {
            tell("back");
            eprintln!("back, it says");
            process::exit(code.parse().unwrap());
        }
        // Ends at once for this many lives, and then stays.
        ("quick", [number]) => quick(number.parse().unwrap()),
        // Ends at once, for ever.
        ("dead", _) => process::exit(1),
        // Makes this many orphans.
        ("orphans", [number]) => orphans(number.parse().unwrap()),
        // Ends when asked, and makes processes that do not.
        ("breeds", _) => breed(),
        // Ends and leaves a process behind, and says in the next life of it.
        ("leaves", _) => leave(),
        // Sends a signal to PID 1.
        ("asks", [number]) => {
            tell("up");
            kill(1, number.parse().unwrap());
            stay();
        }
        // Has host-init's client do something, and stays.
        ("client", words) => {
            process::Command::new("/init").args(words).status().unwrap();
            stay();
        }
        // Sends signals to PID 1 again and again.
        ("hammers", numbers) => {
            let numbers: Vec<c_int> = numbers.iter().map(|word| word.parse().unwrap()).collect();
            for _ in 0..5_000 {
                for number in &numbers {
                    kill(1, *number);
                }
            }
            tell("done");
            stay();
        }
        // Ignores TERM, and floods PID 1 with signals that mean nothing to it.
        ("floods", _) => {
            set_signal(libc::SIGTERM, libc::SIG_IGN);
            tell("floods");
            for _ in 0..3 {
                // SAFETY: this process has one thread.
                if unsafe { libc::fork() } == 0 {
                    break;
                }
            }
            loop {
                // SAFETY: takes numbers; a full queue is what this is for.
                unsafe { libc::kill(1, 35) };
            }
        }
        // Dumps its memory.
        ("dumps", _) => {
            if life() == 1 {
                raise(libc::SIGSEGV);
            }
            tell(&record(0));
            stay();
        }
        _ => voice::be(role, words),
    }
}

pub(crate) fn up() {
    tell(&format!("up {}", process::id()));
    stay();
}

fn shout() {
    let bytes = [b'!'; 4096];
    tell("shouts");
    loop {
        for number in [1, 2] {
            // SAFETY: the buffer has that many bytes.
            let _ = unsafe { libc::write(number, bytes.as_ptr().cast(), bytes.len()) };
        }
    }
}

fn stay() -> ! {
    loop {
        // SAFETY: has no arguments.
        unsafe { libc::pause() };
    }
}

/// Says one line, in one write.
pub(crate) fn tell(line: &str) {
    let mut told = OpenOptions::new().write(true).open(TOLD).unwrap();
    told.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn report(words: &[&str]) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    for line in status.lines() {
        if line.starts_with("Sig")
            || line.starts_with("Shd")
            || line.starts_with("NoNewPrivs")
            || line.starts_with("Umask")
        {
            tell(line);
        }
    }
    // SAFETY: asks about this process.
    let session = unsafe { libc::getsid(0) };
    // SAFETY: has no arguments.
    let group = unsafe { libc::getpgrp() };
    // SAFETY: has no arguments.
    let parent = unsafe { libc::getppid() };
    let pid = i32::try_from(process::id()).unwrap();
    tell(&format!("leads: {}", session == pid && group == pid));
    tell(&format!("parent: {parent}"));
    tell(&format!("words: {words:?}"));
    tell(&format!(
        "directory: {}",
        fs::read_link("/proc/self/cwd").unwrap().display()
    ));
    for (number, target) in descriptors() {
        tell(&format!("fd {number}: {target}"));
    }
    for (name, value) in std::env::vars_os() {
        let mut line = String::from("variable ");
        let _ = write!(line, "{}=", name.to_string_lossy());
        // A long value is said by its length: a line of a FIFO is whole only up
        // to a page.
        if value.len() > 200 {
            let _ = write!(line, "<{} bytes>", value.len());
        } else {
            let _ = write!(line, "{}", value.to_string_lossy());
        }
        tell(&line);
    }
    tell("end");
    stay();
}

/// The open descriptors of this process but the one that lists them.
fn descriptors() -> Vec<(i32, String)> {
    let entries: Vec<PathBuf> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let mut found: Vec<(i32, String)> = entries
        .into_iter()
        .filter_map(|path| {
            let number = path.file_name()?.to_str()?.parse().ok()?;
            // That of the directory is closed by now.
            Some((number, fs::read_link(path).ok()?.display().to_string()))
        })
        .collect();
    found.sort_unstable();
    found
}

/// The number of this life, from 1.
fn life() -> usize {
    let lives = fs::read_to_string(COUNT).map_or(0, |text| text.trim().parse().unwrap());
    fs::write(COUNT, format!("{}", lives + 1)).unwrap();
    lives + 1
}

/// Ends as the word for this life says (`exit N` or `signal N`), and before it
/// tells how the life before ended, as the records have it.
fn live(words: &[&str]) {
    let life = life();
    if let Some(before) = life.checked_sub(2) {
        let record = record(before);
        let status = fs::read_to_string("/run/host-init/status/host").unwrap();
        tell(&format!("{} {record}", status.trim()));
    }
    let end = words.get(life - 1).copied().unwrap_or("stay");
    if let Some(code) = end.strip_prefix("exit ") {
        process::exit(code.parse().unwrap());
    } else if let Some(number) = end.strip_prefix("signal ") {
        raise(number.parse().unwrap());
    }
    tell("stays");
    stay();
}

/// The record of the life that had so many before it. It is written soon after
/// the end: the next life may be sooner.
fn record(before: usize) -> String {
    loop {
        let text = fs::read_to_string("/run/host-init/status/host.json").unwrap_or_default();
        if text.contains(&format!("\"restarts\":{before}}}")) {
            return text.trim().to_owned();
        }
        std::thread::yield_now();
    }
}

pub(crate) fn quick(lives: usize) {
    if life() <= lives {
        process::exit(3);
    }
    tell("done");
    stay();
}

/// Half of the orphans end before their parent does and half after it: PID 1
/// inherits zombies as well as the living.
fn orphans(number: usize) {
    /// Orphans of one parent.
    const BATCH: usize = 100;
    for _ in 0..number / BATCH {
        let parent = fork();
        if parent == 0 {
            let mut ends = [0; 2];
            // SAFETY: the kernel writes two descriptors.
            assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
            let [read, write] = ends;
            for index in 0..BATCH {
                if fork() == 0 {
                    if index % 2 == 0 {
                        close(write);
                        wait_for_end_of(read);
                    }
                    exit(0);
                }
            }
            exit(0);
        }
        let mut status = 0;
        // SAFETY: the kernel writes one status.
        assert_eq!(unsafe { libc::waitpid(parent, &raw mut status, 0) }, parent);
    }
    tell("done");
    stay();
}

extern "C" fn breed_and_end(_: c_int) {
    for _ in 0..20 {
        if fork() == 0 {
            set_signal(libc::SIGTERM, libc::SIG_IGN);
            stay();
        }
    }
    exit(0);
}

fn breed() {
    set_signal(
        libc::SIGTERM,
        breed_and_end as *const () as libc::sighandler_t,
    );
    up();
}

fn leave() {
    const LEFT: &str = "/run/left";
    if let Ok(left) = fs::read_to_string(LEFT) {
        // It was killed before this life began, which is not to say that it has
        // ended: it does before the test's patience does.
        let stat = format!("/proc/{left}/stat");
        while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
            std::thread::yield_now();
        }
        tell("gone");
        stay();
    }
    let child = fork();
    if child == 0 {
        set_signal(libc::SIGTERM, libc::SIG_IGN);
        set_signal(libc::SIGHUP, libc::SIG_IGN);
        stay();
    }
    fs::write(LEFT, child.to_string()).unwrap();
    tell("left");
    process::exit(0);
}

pub(crate) fn set_signal(number: c_int, action: libc::sighandler_t) {
    // SAFETY: the actions of this file are safe in a process of one thread.
    unsafe { libc::signal(number, action) };
}

fn raise(number: c_int) {
    kill(i32::try_from(process::id()).unwrap(), number);
}

fn kill(pid: i32, number: c_int) {
    // SAFETY: takes numbers.
    unsafe { libc::kill(pid, number) };
}

pub(crate) fn fork() -> i32 {
    // SAFETY: this process has one thread.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    pid
}

pub(crate) fn close(number: c_int) {
    // SAFETY: the number is a descriptor of this process's own.
    unsafe { libc::close(number) };
}

pub(crate) fn wait_for_end_of(pipe: c_int) {
    let mut byte = 0_u8;
    // SAFETY: the kernel writes one byte at most.
    unsafe { libc::read(pipe, (&raw mut byte).cast(), 1) };
}

pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: ends this process.
    unsafe { libc::_exit(code) }
}

/// A word of a config as TOML.
pub(crate) fn quoted(word: &str) -> String {
    let bytes = OsStr::new(word).as_bytes();
    assert!(bytes.iter().all(|byte| !matches!(byte, b'"' | b'\\')));
    format!("\"{word}\"")
}
