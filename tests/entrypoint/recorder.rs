//! What inits run in these tests: this test program itself, run again.
//!
//! A program of that name with a FIFO beside it never reaches the test harness: it
//! becomes a recorder in a constructor, before there are threads, output capture or
//! a signal disposition of Rust's own (`SIGPIPE`), so that what it finds is what the
//! init gave it.

use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process;

use crate::place::{RECORDER, TOLD};
use crate::system::{
    bit, block, exit, fork, kill, lead_group, parent, pid, pipe, raise, set_signal, stay, take,
};

/// How long a recorder waits for what must come, in seconds: longer than a test.
const PATIENCE: i64 = 60;

#[used]
// SAFETY: the section holds functions of this type, which the C library calls
// with the program's arguments before `main`.
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

extern "C" fn begin(count: c_int, words: *const *const c_char, variables: *const *const c_char) {
    if told().is_none() {
        return;
    }
    let words = strings(words);
    assert_eq!(c_int::try_from(words.len()), Ok(count));
    let role = words.get(1).and_then(|word| word.to_str().ok());
    be(role.unwrap_or(""), words.get(2..).unwrap_or(&[]), variables);
    process::exit(0);
}

/// The strings of an array that ends with a null pointer.
fn strings(mut array: *const *const c_char) -> Vec<&'static CStr> {
    let mut found = Vec::new();
    loop {
        // SAFETY: the array ends with a null pointer, which was not met yet.
        let string = unsafe { array.read() };
        if string.is_null() {
            return found;
        }
        // SAFETY: each is a C string that lives as long as the program.
        found.push(unsafe { CStr::from_ptr(string) });
        // SAFETY: as for the read.
        array = unsafe { array.add(1) };
    }
}

/// The FIFO beside this program, by the path that it was executed by: its name in
/// `argv` is whatever a test likes.
fn told() -> Option<PathBuf> {
    // SAFETY: takes a number.
    let executed = unsafe { libc::getauxval(libc::AT_EXECFN) } as *const c_char;
    // SAFETY: the kernel gives every program this string.
    let executed = unsafe { CStr::from_ptr(executed) };
    let path = Path::new(OsStr::from_bytes(executed.to_bytes()));
    let name = path.file_name()?.to_str()?;
    let fifo = path.with_file_name(TOLD);
    (name.starts_with(RECORDER) && fifo.exists()).then_some(fifo)
}

fn be(role: &str, words: &[&CStr], variables: *const *const c_char) {
    let number = |at: usize| -> c_int { words[at].to_str().unwrap().parse().unwrap() };
    match role {
        "exit" => exit(number(0)),
        // Ends by a signal.
        "signal" => {
            set_signal(number(0), libc::SIG_DFL);
            block(0);
            raise(number(0));
        }
        // Stays until a signal ends it.
        "up" => {
            tell("up");
            stay();
        }
        // Tells when it goes on after a stop.
        "continued" => {
            let told = tell_continued as extern "C" fn(c_int);
            set_signal(libc::SIGCONT, told as libc::sighandler_t);
            block(0);
            tell("up");
            stay();
        }
        // Says on standard output and standard error.
        "says" => {
            println!("it says this");
            eprintln!("it complains of that");
        }
        // Tells how its life began.
        "report" => report(words, variables),
        // Tells what its words and its environment are.
        "words" => {
            tell(&format!("words: {}", sum(words)));
            tell(&format!("variables: {}", sum(&strings(variables))));
        }
        // Tells each signal that comes, and ends with the last of so many.
        "records" => record("", number(0)),
        // So do two more, one in its group and one in a group of its own.
        "family" => {
            have(Kin::Member);
            have(Kin::Stranger);
            record("it ", c_int::MAX);
        }
        // Ends, and leaves two behind.
        "leaves" => {
            have(Kin::Member);
            have(Kin::Stranger);
            exit(number(0));
        }
        // So too, and these end when they are told to.
        "leaves-mortals" => {
            have(Kin::Mortal);
            have(Kin::Mortal);
            exit(number(0));
        }
        // So too, with so many, each of whom a signal ends.
        "leaves-many" => {
            for _ in 0..number(1) {
                have(Kin::Mortal);
            }
            exit(number(0));
        }
        // Leaves a line of so many, each the child of the one before, that hear nothing.
        "leaves-line" => {
            block(u64::MAX);
            leave_line(number(1));
            exit(number(0));
        }
        // So too, and a signal ends each.
        "leaves-mortal-line" => {
            leave_line(number(1));
            exit(number(0));
        }
        // Makes an orphan, which tells whose it is then.
        "orphan" => orphan(false),
        "reaped" => orphan(true),
        // Sends its parent a signal, and stays.
        "asks" => {
            tell("up");
            kill(parent(), number(0));
            stay();
        }
        // Starts a program, and stays.
        "parent" => {
            if fork() == 0 {
                execute(words);
            }
            stay();
        }
        // Ends as by TERM when it is sent one, whether it comes or waits.
        "ends" => end(),
        // Reads from the terminal, and stays when it could.
        "reads" => {
            tell("up");
            await_end(&std::io::stdin());
            tell("read");
            stay();
        }
        // Takes the terminal's signals, and tells whose the terminal is.
        "terminal" => {
            block(u64::MAX);
            tell_terminal();
            record("", c_int::MAX);
        }
        _ => tell(&format!("no such role: {role}")),
    }
}

/// Says one line, in one write.
fn tell(line: &str) {
    let fifo = told().unwrap();
    let mut told = OpenOptions::new().write(true).open(fifo).unwrap();
    told.write_all(format!("{line}\n").as_bytes()).unwrap();
}

extern "C" fn tell_continued(_: c_int) {
    tell("continued");
}

fn report(words: &[&CStr], variables: *const *const c_char) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    for name in [
        "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "Umask", "Uid", "Gid", "Groups",
    ] {
        let line = status.lines().find(|line| line.starts_with(name));
        tell(line.unwrap());
    }
    // SAFETY: asks about this process.
    let session = unsafe { libc::getsid(0) };
    // SAFETY: has no arguments.
    let group = unsafe { libc::getpgrp() };
    tell(&format!("pid: {}", pid()));
    tell(&format!("parent: {}", parent()));
    tell(&format!("session: {session}"));
    tell(&format!("group: {group}"));
    let directory = fs::read_link("/proc/self/cwd").unwrap();
    tell(&format!("directory: {}", directory.display()));
    for word in words {
        tell(&format!("word: {}", word.to_bytes().escape_ascii()));
    }
    for variable in strings(variables) {
        tell(&format!("variable: {}", variable.to_bytes().escape_ascii()));
    }
    for (number, target) in descriptors() {
        tell(&format!("fd {number}: {target}"));
    }
    tell("end");
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
            let target = fs::read_link(path).ok()?.display().to_string();
            // The number of a pipe is another each time.
            let kind = target.split(":[").next()?;
            Some((number, kind.to_owned()))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Says how many strings there are, how long together, and a sum over every byte
/// in its place (FNV-1a).
pub(crate) fn sum(strings: &[&CStr]) -> String {
    let (mut length, mut sum) = (0, 0xcbf2_9ce4_8422_2325_u64);
    for string in strings {
        for byte in string.to_bytes_with_nul() {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            length += 1;
        }
    }
    format!("{} {length} {sum:016x}", strings.len())
}

/// Tells each signal that comes, until so many came.
fn record(who: &str, count: c_int) {
    block(u64::MAX);
    tell(&format!("{who}up"));
    for _ in 0..count {
        let Some((number, sender)) = take(u64::MAX, PATIENCE) else {
            tell(&format!("{who}no signal"));
            exit(99);
        };
        tell(&format!("{who}signal {number} from {sender}"));
    }
}

/// What one process is to another that it made.
enum Kin {
    /// In its group.
    Member,
    /// In a group of its own.
    Stranger,
    /// In its group, and with the signals that the init gave.
    Mortal,
}

/// Makes a process that records, and waits until it does.
fn have(kin: Kin) {
    let (ready, is_ready) = pipe();
    if fork() == 0 {
        drop(ready);
        let who = match kin {
            Kin::Member => "member ",
            Kin::Stranger => {
                lead_group(0);
                "stranger "
            }
            Kin::Mortal => {
                drop(is_ready);
                stay();
            }
        };
        block(u64::MAX);
        drop(is_ready);
        record(who, c_int::MAX);
        exit(0);
    }
    drop(is_ready);
    await_end(&ready);
}

/// Makes a line of processes, and waits until all are there.
fn leave_line(length: c_int) {
    let (ready, is_ready) = pipe();
    if fork() == 0 {
        drop(ready);
        for _ in 1..length {
            if fork() != 0 {
                drop(is_ready);
                stay();
            }
        }
        drop(is_ready);
        stay();
    }
    drop(is_ready);
    await_end(&ready);
}

/// Waits for a byte, or until nobody has the other end of a pipe.
fn await_end(pipe: &impl AsRawFd) {
    let mut byte = 0_u8;
    // SAFETY: the kernel writes one byte at most.
    unsafe { libc::read(pipe.as_raw_fd(), (&raw mut byte).cast(), 1) };
}

/// Makes an orphan. With a wish for its end, waits until it was reaped.
fn orphan(is_reaped: bool) {
    let (ready, is_ready) = pipe();
    let middle = fork();
    if middle == 0 {
        let middle = pid();
        if fork() == 0 {
            drop(ready);
            while parent() == middle {
                std::thread::yield_now();
            }
            tell(&format!("adopted by {}", parent()));
            File::from(is_ready)
                .write_all(&pid().to_ne_bytes())
                .unwrap();
            exit(0);
        }
        exit(0);
    }
    drop(is_ready);
    let mut status = 0;
    // SAFETY: the kernel writes one status.
    assert_eq!(unsafe { libc::waitpid(middle, &raw mut status, 0) }, middle);
    let mut bytes = [0; 4];
    File::from(ready).read_exact(&mut bytes).unwrap();
    let orphan = Path::new("/proc").join(i32::from_ne_bytes(bytes).to_string());
    while is_reaped && orphan.exists() {
        std::thread::yield_now();
    }
}

/// The first of these words is the program's path; the others are its `argv`.
fn execute(words: &[&CStr]) -> ! {
    let words: Vec<CString> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut arguments: Vec<*const c_char> = words[1..].iter().map(|word| word.as_ptr()).collect();
    arguments.push(std::ptr::null());
    // SAFETY: the path is a C string, and the array ends with a null pointer.
    unsafe { libc::execv(words[0].as_ptr(), arguments.as_ptr()) };
    exit(98);
}

fn end() -> ! {
    let blocked = block(bit(libc::SIGTERM));
    if blocked & bit(libc::SIGTERM) == 0 {
        // One that came meanwhile ends it now.
        block(blocked);
        stay();
    }
    match take(bit(libc::SIGTERM), PATIENCE) {
        Some(_) => exit(128 + libc::SIGTERM),
        None => exit(99),
    }
}

fn tell_terminal() {
    // SAFETY: asks about a descriptor.
    let foreground = unsafe { libc::tcgetpgrp(0) };
    // SAFETY: has no arguments.
    let group = unsafe { libc::getpgrp() };
    // SAFETY: asks about this process.
    let session = unsafe { libc::getsid(0) };
    let can_open = OpenOptions::new().write(true).open("/dev/tty").is_ok();
    tell(&format!(
        "foreground {} leads-group {} leads-session {} controlled {can_open}",
        foreground == group,
        group == pid(),
        session == pid(),
    ));
}
