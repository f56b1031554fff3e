//! What the program does when a person runs it: it checks configs, asks PID 1 for
//! something, switches versions.

#![forbid(unsafe_code)]

mod switch;

use core::ffi::CStr;
use core::fmt::Write;

use crate::base::errno::Errno;
use crate::base::signal::Signal;
use crate::base::{limits, paths};
use crate::format::config;
use crate::format::options::persona::OWN;
use crate::policy::config::Config;
use crate::policy::request;
use crate::sys::arguments::Arguments;
use crate::sys::memory::Scratch;
use crate::sys::{Result, files, kill, stdio, task};

/// Exit codes.
mod code {
    /// All is well.
    pub(super) const GOOD: u8 = 0;
    /// It could not be done.
    pub(super) const FAILED: u8 = 1;
    /// The config is bad, or the command line.
    pub(super) const BAD: u8 = 2;
}

/// Whether the program is asked for something that is the client's, by its name or
/// by the first word.
pub fn is_asked(arguments: Arguments) -> bool {
    let mut words = arguments.words().map(CStr::to_bytes);
    let own = words.next().unwrap_or_default();
    applet(own).is_some() || words.next().is_some_and(|word| VERBS.contains(&word))
}

/// The words that are the client's in the first place; behind `--` they are
/// programs.
const VERBS: [&[u8]; 5] = [b"check", b"confirm", b"clear", b"restart", b"switch"];

/// Does what the arguments ask for, and ends.
pub fn main(arguments: Arguments) -> ! {
    let _ = stdio::repair();
    let own = arguments.words().next().map_or(&b""[..], CStr::to_bytes);
    // Behind the name and the verb.
    let mut words = arguments.words().skip(1);
    let code = match applet(own) {
        Some((name, asked)) => ask(name, asked, words),
        None => match words.next().map(CStr::to_bytes) {
            Some(verb) if words.clone().next().is_some_and(is_help) => help(verb),
            Some(b"confirm") => ask_own("host-init: confirm", request::CONFIRM, words),
            Some(b"clear") => ask_own("host-init: clear", request::CLEAR, words),
            Some(b"restart") => ask_own("host-init: restart", request::RESTART, words),
            Some(b"switch") => switch::switch(words),
            _ => check(words),
        },
    };
    task::exit(code)
}

fn is_help(word: &CStr) -> bool {
    matches!(word.to_bytes(), b"--help" | b"-h")
}

/// Prints what the help says of a verb: its line, and the one below.
fn help(verb: &[u8]) -> u8 {
    let is_its = |line: &str| {
        let usage = line.strip_prefix("  host-init ");
        usage.is_some_and(|usage| usage.as_bytes().starts_with(verb))
    };
    let lines = OWN.help.split_inclusive('\n');
    lines
        .skip_while(|line| !is_its(line))
        .take(2)
        .map(|line| print(1, line.as_bytes(), code::GOOD))
        .fold(code::GOOD, u8::max)
}

/// The names under which the program asks PID 1 for an ending, each with the
/// real-time signal it sends.
const APPLETS: [(&str, u8); 3] = [("halt", 3), ("poweroff", 4), ("reboot", 5)];

fn applet(own: &[u8]) -> Option<(&'static str, u8)> {
    let name = own.rsplit(|byte| *byte == b'/').next()?;
    APPLETS
        .into_iter()
        .find(|(applet, _)| applet.as_bytes() == name)
}

/// Sends the signal, unless there is a word that might mean something else.
fn ask(name: &str, asked: u8, mut words: impl Iterator<Item = &'static CStr>) -> u8 {
    let mut out = Text(2);
    match words.next() {
        None => {}
        Some(word) if is_help(word) => {
            let _ = writeln!(
                Text(1),
                "{name}: asks PID 1 for it, by a signal; takes no options"
            );
            return code::GOOD;
        }
        Some(word) => {
            let _ = write!(out, "{name}: ");
            out.bytes(word.to_bytes());
            let _ = writeln!(out, ": no such option");
            return code::BAD;
        }
    }
    signal(name, asked)
}

/// As [`ask`], for what no other init knows: there the signal may mean anything, or
/// end it.
fn ask_own(name: &str, asked: u8, words: impl Iterator<Item = &'static CStr>) -> u8 {
    if is_init_own(name) {
        ask(name, asked, words)
    } else {
        code::FAILED
    }
}

/// Whether PID 1 is host-init, by the name that it gives itself; said if not.
fn is_init_own(name: &str) -> bool {
    let mut buffer = [0; 32];
    match files::read(paths::INIT_NAME, &mut buffer) {
        Ok(b"host-init\n") => return true,
        Ok(_) => {
            let _ = writeln!(Text(2), "{name}: PID 1 is not host-init");
        }
        Err(errno) => {
            let _ = writeln!(Text(2), "{name}: read /proc/1/comm: {errno}");
        }
    }
    false
}

/// Sends PID 1 a real-time signal.
fn signal(name: &str, asked: u8) -> u8 {
    match Signal::realtime(asked)
        .ok_or(Errno::EINVAL)
        .and_then(kill::init)
    {
        Ok(()) => code::GOOD,
        Err(errno) => {
            let _ = writeln!(Text(2), "{name}: signal PID 1: {errno}");
            code::FAILED
        }
    }
}

fn print(number: i32, text: &[u8], code: u8) -> u8 {
    match files::print(number, text) {
        Ok(()) => code,
        Err(_) => code::FAILED,
    }
}

fn check(paths: impl Iterator<Item = &'static CStr>) -> u8 {
    let mut worst = code::GOOD;
    let mut count = 0_u32;
    for path in paths {
        count = count.saturating_add(1);
        worst = worst.max(with_config(path, |_| code::GOOD));
    }
    if count == 0 {
        return print(2, b"host-init: check: expected a file\n", code::BAD);
    }
    worst
}

/// What `then` makes of a config, or that it is bad; what is wrong with it is said.
fn with_config(path: &CStr, then: impl FnOnce(&Config<'_>) -> u8) -> u8 {
    let read = || -> Result<Option<u8>> {
        let mut scratch = Scratch::new(limits::CONFIG_BYTES + 1)?;
        let mut arena = Scratch::new(limits::CONFIG_BYTES + 1)?;
        let text = files::read(path, scratch.bytes())?;
        let config = config::parse(text, arena.bytes(), &mut |error| {
            let mut line = Text(2);
            line.bytes(path.to_bytes());
            let _ = writeln!(line, ":{error}");
        });
        Ok(config.map(|config| then(&config)))
    };
    match read() {
        Ok(code) => code.unwrap_or(code::BAD),
        Err(errno) => {
            let mut line = Text(2);
            let _ = line.write_str("host-init: read ");
            line.bytes(path.to_bytes());
            let _ = writeln!(line, ": {errno}");
            code::BAD
        }
    }
}

/// A descriptor to write text to.
struct Text(i32);

impl Text {
    fn bytes(&mut self, bytes: &[u8]) {
        let _ = files::print(self.0, bytes);
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}
