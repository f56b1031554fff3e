//! What the program does when a person runs it: it checks configs, and explains.

#![forbid(unsafe_code)]

use core::ffi::CStr;
use core::fmt::Write;

use crate::base::errno::Errno;
use crate::base::limits;
use crate::base::signal::Signal;
use crate::format::config;
use crate::sys::arguments::Arguments;
use crate::sys::memory::Scratch;
use crate::sys::{Result, files, power, stdio, task};

/// What `--help` says.
const HELP: &str = "\
host-init: the first process of a minimal image

  host-init check FILE...  say what is wrong with configs; exit 0 or 2
  host-init --help         this
  halt, poweroff, reboot   links to it: ask PID 1 for that
  host-init --version      the version

As PID 1 it boots the machine (init=, /init) or runs a container:
  host-init [--config FILE]
";

/// Exit codes.
mod code {
    /// All is well.
    pub(super) const GOOD: u8 = 0;
    /// It could not be done.
    pub(super) const FAILED: u8 = 1;
    /// The config is bad, or the command line.
    pub(super) const BAD: u8 = 2;
}

/// Does what the arguments ask for, and ends.
pub fn main(arguments: Arguments) -> ! {
    let _ = stdio::repair();
    let own = arguments.words().next().map_or(&b""[..], CStr::to_bytes);
    let mut words = arguments.words().skip(1);
    if let Some((name, asked)) = applet(own) {
        task::exit(ask(name, asked, words));
    }
    let code = match words.next().map(CStr::to_bytes) {
        Some(b"check") => check(words),
        Some(b"--help" | b"-h" | b"help") => print(1, HELP.as_bytes(), code::GOOD),
        Some(b"--version" | b"-V" | b"version") => print(
            1,
            concat!("host-init ", env!("CARGO_PKG_VERSION"), "\n").as_bytes(),
            code::GOOD,
        ),
        Some(word) => {
            let _ = files::print(2, b"host-init: ");
            let _ = files::print(2, word);
            print(
                2,
                b": no such command; host-init --help lists them\n",
                code::BAD,
            )
        }
        None => print(
            2,
            b"host-init: not PID 1; host-init --help says more\n",
            code::BAD,
        ),
    };
    task::exit(code)
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
    match words.next().map(CStr::to_bytes) {
        None => {}
        Some(b"--help" | b"-h") => {
            let _ = writeln!(Text(1), "{name}: asks PID 1 to {name}; takes no options");
            return code::GOOD;
        }
        Some(word) => {
            let _ = write!(out, "{name}: ");
            out.bytes(word);
            let _ = writeln!(out, ": no such option");
            return code::BAD;
        }
    }
    match Signal::realtime(asked)
        .ok_or(Errno::EINVAL)
        .and_then(power::signal_init)
    {
        Ok(()) => code::GOOD,
        Err(errno) => {
            let _ = writeln!(out, "{name}: signal PID 1: {errno}");
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
        match check_one(path) {
            Ok(true) => {}
            Ok(false) => worst = code::BAD,
            Err(errno) => {
                let mut line = Text(2);
                let _ = line.write_str("host-init: read ");
                line.bytes(path.to_bytes());
                let _ = writeln!(line, ": {errno}");
                worst = code::BAD;
            }
        }
    }
    if count == 0 {
        return print(2, b"host-init: check: expected a file\n", code::BAD);
    }
    worst
}

/// Says what is wrong with a config; whether nothing is.
fn check_one(path: &CStr) -> Result<bool> {
    let mut scratch = Scratch::new(limits::CONFIG_BYTES + 1)?;
    let mut arena = Scratch::new(limits::CONFIG_BYTES + 1)?;
    let text = files::read(path, scratch.bytes())?;
    let config = config::parse(text, arena.bytes(), &mut |error| {
        let mut line = Text(2);
        line.bytes(path.to_bytes());
        let _ = writeln!(line, ":{error}");
    });
    Ok(config.is_some())
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
