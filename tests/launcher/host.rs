//! The host and the helper: this test program itself, run again in the namespace.
//!
//! A program that is called `/host` never reaches the test harness, nor does one that
//! is called `/libexec/rollback`: each does in a constructor what a file says.

use std::ffi::{OsStr, c_char, c_int};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::arguments;

/// What the program is called when it is to be the host.
pub(crate) const PATH: &str = "/host";

/// What it is called when it is to take the host back.
pub(crate) const HELPER: &str = "/libexec/rollback";

/// Where either says something: a FIFO that the test reads.
pub(crate) const TOLD: &str = "/told";

/// What the host does, a line a life; after the last line it stays.
pub(crate) const PLAN: &str = "/plan";

/// What the helper does.
pub(crate) const HELP: &str = "/help";

#[used]
// SAFETY: the section holds functions of this type, which the C library calls
// with the program's arguments before `main`.
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

extern "C" fn begin(count: c_int, words: *const *const c_char, _: *const *const c_char) {
    // SAFETY: the C library hands over `count` C strings.
    let arguments = unsafe { arguments::of(count, words) };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [PATH, "run"] => {
            let plan = fs::read_to_string(PLAN).unwrap();
            let mut lines = plan.lines();
            let now = lines.next().unwrap_or("stay").to_owned();
            let rest: String = lines.map(|line| format!("{line}\n")).collect();
            fs::write(PLAN, rest).unwrap();
            act(&now);
        }
        [HELPER] => {
            tell("rollback");
            act(&fs::read_to_string(HELP).unwrap());
        }
        _ => {}
    }
}

/// Set by TERM.
static STOPPING: AtomicBool = AtomicBool::new(false);

extern "C" fn note_stop(_: c_int) {
    STOPPING.store(true, Ordering::Relaxed);
}

/// Does what a line says, and ends.
fn act(line: &str) -> ! {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["exit", code] => process::exit(code.parse().unwrap()),
        ["signal", number] => raise(number.parse().unwrap()),
        // Takes so many milliseconds to end when it is asked to, with code 0.
        ["slow", millis] => {
            on_stop(note_stop as *const () as libc::sighandler_t);
            tell("slow");
            while !STOPPING.load(Ordering::Relaxed) {
                pause();
            }
            std::thread::sleep(Duration::from_millis(millis.parse().unwrap()));
            tell("ended");
            process::exit(0);
        }
        // Takes so many milliseconds, whatever it is asked.
        ["takes", millis, "exit", code] => {
            on_stop(libc::SIG_IGN);
            tell("begins");
            std::thread::sleep(Duration::from_millis(millis.parse().unwrap()));
            process::exit(code.parse().unwrap());
        }
        ["stubborn"] => {
            on_stop(libc::SIG_IGN);
            tell("stubborn");
        }
        ["stay"] => {
            on_stop(libc::SIG_DFL);
            tell("stay");
        }
        // Writes a file of the launcher's, as the host or the helper may.
        ["write", name, text, "exit", code] => {
            fs::write(format!("/state/{name}"), format!("{text}\n")).unwrap();
            process::exit(code.parse().unwrap());
        }
        _ => panic!("no such plan: {line}"),
    }
    loop {
        pause();
    }
}

/// Says one line, in one write.
pub(crate) fn tell(line: &str) {
    let mut told = OpenOptions::new().write(true).open(TOLD).unwrap();
    told.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn on_stop(action: libc::sighandler_t) {
    // SAFETY: the action sets a flag, in a process of one thread.
    unsafe { libc::signal(libc::SIGTERM, action) };
}

fn raise(number: c_int) -> ! {
    // SAFETY: takes a number.
    unsafe { libc::signal(number, libc::SIG_DFL) };
    // SAFETY: as above.
    unsafe { libc::raise(number) };
    process::abort()
}

fn pause() {
    // SAFETY: has no arguments.
    unsafe { libc::pause() };
}

/// A word of a config as TOML.
pub(crate) fn quoted(word: &str) -> String {
    let bytes = OsStr::new(word).as_bytes();
    assert!(bytes.iter().all(|byte| !matches!(byte, b'"' | b'\\')));
    format!("\"{word}\"")
}
