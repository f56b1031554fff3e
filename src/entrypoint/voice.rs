//! What an entrypoint says, each persona's way. Nothing here waits for a reader.

use core::ffi::CStr;
use core::fmt::Write;

use crate::base::errno::Errno;
use crate::base::exit::{Exit, Failure, Step};
use crate::base::signal::Signal;
use crate::format::line::Line;
use crate::format::options::persona::{Persona, Voice};
use crate::format::options::{Error, Flag, Wish};
use crate::sys::{Result, process, stdio, task};

/// How much a message matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Fatal,
    Warning,
    Info,
    Debug,
}

/// Who speaks, and how much.
pub struct Speaker {
    persona: &'static Persona,
    verbosity: u8,
    /// How much it matters that an orphan was reaped.
    reaped: Weight,
}

impl Speaker {
    /// A speaker that says what weighs enough, which may be true of each orphan.
    pub const fn new(persona: &'static Persona, verbosity: u8, warns_of_reaped: bool) -> Self {
        let reaped = if warns_of_reaped {
            Weight::Warning
        } else {
            Weight::Debug
        };
        Self {
            persona,
            verbosity,
            reaped,
        }
    }

    /// Whom it speaks for.
    pub const fn persona(&self) -> &'static Persona {
        self.persona
    }

    /// What host-init can't be without; else this is its end.
    pub fn need<T>(&self, what: &str, result: Result<T>) -> T {
        match result {
            Ok(value) => value,
            Err(errno) => {
                self.say(Weight::Fatal, |line| {
                    line.push(what);
                    line.push(": ");
                    push_reason(line, errno);
                });
                task::exit(self.persona.codes.own)
            }
        }
    }

    /// Something could not be done.
    pub fn failed(&self, what: &str, errno: Errno) {
        self.say(Weight::Warning, |line| {
            line.push(what);
            line.push(": ");
            push_reason(line, errno);
        });
    }

    /// There is nothing to run.
    pub fn no_command(&self, is_init: bool) {
        match self.persona.voice {
            Voice::Own => self.say(Weight::Fatal, |line| {
                line.push(if is_init {
                    "options for a command, and no command; host-init --help says more"
                } else {
                    "no command, and not PID 1; host-init --help says more"
                });
            }),
            Voice::Catatonit => {
                self.say(Weight::Fatal, |line| line.push("missing program name"));
                print(self.persona.usage);
            }
            Voice::Tini | Voice::DumbInit => print(self.persona.usage),
        }
    }

    /// Orphans go to somebody else.
    pub fn adopts_nobody(&self) {
        self.say(Weight::Warning, |line| {
            line.push("not PID 1, and not told to adopt orphans (-s): zombies are not reaped");
        });
    }

    /// The command was started.
    pub fn spawned(&self, name: &CStr, pid: u32) {
        self.say(Weight::Info, |line| {
            line.push("started ");
            line.push_bytes(name.to_bytes());
            line.push(", pid ");
            line.push_number(u64::from(pid));
        });
    }

    /// A signal is sent.
    pub fn forwarding(&self, signal: Signal) {
        self.say(Weight::Debug, |line| {
            line.push("sending ");
            let _ = write!(line, "{signal}");
        });
    }

    /// An orphan was reaped.
    pub fn reaped(&self, pid: u32) {
        self.say(self.reaped, |line| {
            line.push("reaped ");
            line.push_number(u64::from(pid));
        });
    }

    /// The command never was.
    pub fn unstarted(&self, name: &CStr, failure: Failure) {
        let Failure { step, errno } = failure;
        self.say(Weight::Fatal, |line| {
            if self.persona.voice != Voice::DumbInit {
                line.push(step.word());
                line.push(" ");
            }
            if step == Step::Exec {
                line.push_bytes(name.to_bytes());
            }
            line.push(": ");
            push_reason(line, errno);
        });
    }

    /// The command has ended.
    pub fn ended(&self, exit: Exit) {
        self.say(Weight::Info, |line| match exit {
            Exit::Code(code) => {
                line.push("the command ended, exit ");
                line.push_number(u64::from(code));
            }
            Exit::Signal { signal, .. } => {
                let _ = write!(line, "the command ended, killed by {signal}");
            }
            Exit::Unstarted(_) | Exit::Unknown => line.push("the command ended"),
        });
    }

    fn say(&self, weight: Weight, mut write: impl FnMut(&mut Line)) {
        if self.verbosity >= weight.least() {
            self.write(weight, &mut write);
        }
    }

    /// Apart, so that whoever might say something has no room for a line on its stack.
    #[cold]
    #[inline(never)]
    fn write(&self, weight: Weight, write: &mut dyn FnMut(&mut Line)) {
        let mut line = Line::new();
        let pid = u64::from(process::pid());
        match self.persona.voice {
            Voice::Own => line.push("host-init: "),
            Voice::DumbInit => line.push("[dumb-init] "),
            Voice::Tini => {
                line.push("[");
                line.push(weight.padded());
                line.push(" tini (");
                line.push_number(pid);
                line.push(")] ");
            }
            Voice::Catatonit => {
                line.push(weight.word());
                line.push(" (catatonit:");
                line.push_number(pid);
                line.push("): ");
            }
        }
        write(&mut line);
        let stream = match (self.persona.voice, weight) {
            (Voice::Tini, Weight::Info | Weight::Debug) => 1,
            _ => 2,
        };
        // What nobody takes is lost.
        let _ = stdio::write_line(stream, line.as_bytes());
    }
}

impl Weight {
    /// The verbosity from which it is said.
    const fn least(self) -> u8 {
        match self {
            Self::Fatal => 0,
            Self::Warning => 1,
            Self::Info => 2,
            Self::Debug => 3,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Fatal => "ERROR",
            Self::Warning => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
        }
    }

    /// The word as tini writes it, five letters wide.
    const fn padded(self) -> &'static str {
        match self {
            Self::Fatal => "FATAL",
            Self::Warning => "WARN ",
            Self::Info => "INFO ",
            Self::Debug => "DEBUG",
        }
    }
}

/// Says what is wrong with a command line.
pub fn refuse(persona: &'static Persona, own: &CStr, error: &Error<'_>) {
    let own = if persona.is_own() { c"host-init" } else { own };
    let mut line = Line::new();
    match *error {
        Error::UnknownLetter(letter) => option(&mut line, own, "invalid option -- '", &[letter]),
        Error::UnknownName(name) => {
            option(&mut line, own, "unrecognized option '--", name);
        }
        Error::LetterNeedsValue(letter) => {
            option(
                &mut line,
                own,
                "option requires an argument -- '",
                &[letter],
            );
        }
        Error::NameNeedsValue(name) => {
            option(
                &mut line,
                own,
                "option requires an argument '--",
                name.as_bytes(),
            );
        }
        Error::NameTakesNone(name) => {
            option(
                &mut line,
                own,
                "option takes no argument '--",
                name.as_bytes(),
            );
        }
        Error::BadValue(flag, _) if flag.wish == Wish::Rewrite && !persona.is_own() => {
            print(
                "Usage: -r option takes <signum>:<signum>, where <signum> is between 1 and 31.\n\
                 This option can be specified multiple times.\n\
                 Use --help for full usage.\n",
            );
            return;
        }
        Error::BadValue(flag, value) => {
            bad_value(persona, flag, value, |line| match (flag.long, flag.short) {
                (Some(long), _) => {
                    line.push("--");
                    line.push(long);
                }
                (None, Some(short)) => {
                    line.push("-");
                    line.push(short.encode_utf8(&mut [0; 4]));
                }
                (None, None) => {}
            });
            return;
        }
        Error::BadVariable(flag, value) => {
            bad_value(persona, flag, value, |line| {
                line.push("HOST_INIT_");
                for letter in flag.long.unwrap_or_default().chars() {
                    let letter = match letter {
                        '-' => '_',
                        letter => letter.to_ascii_uppercase(),
                    };
                    line.push(letter.encode_utf8(&mut [0; 4]));
                }
            });
            return;
        }
        Error::ConfigAndCommand => line.push("host-init: --config and a command"),
        Error::Reserved(name) => {
            Speaker::new(persona, 0, false).say(Weight::Fatal, |line| {
                line.push_bytes(name);
                line.push(" is reserved for future use");
            });
            return;
        }
    }
    if persona.is_own() {
        line.push(persona.usage);
    }
    let _ = stdio::write_line(2, line.as_bytes());
    match persona.voice {
        // dumb-init says no more than that.
        Voice::Own | Voice::DumbInit => {}
        Voice::Tini | Voice::Catatonit => print(persona.usage),
    }
}

/// A value that an option or a variable of this name does not take.
fn bad_value(persona: &'static Persona, flag: Flag, value: &[u8], name: impl Fn(&mut Line)) {
    Speaker::new(persona, 0, false).say(Weight::Fatal, |line| {
        line.push("not a valid value for ");
        name(line);
        line.push(": ");
        line.push_bytes(value);
        if let Some(expected) = flag.wish.expected() {
            line.push("; expected ");
            line.push(expected);
        }
    });
}

/// `PROGRAM: what 'name'`, as `getopt(3)` says it.
fn option(line: &mut Line, own: &CStr, what: &str, name: &[u8]) {
    line.push_bytes(own.to_bytes());
    line.push(": ");
    line.push(what);
    line.push_bytes(name);
    line.push("'");
}

/// Prints lines to standard error.
fn print(text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let _ = stdio::write_line(2, text.as_bytes());
}

fn push_reason(line: &mut Line, errno: Errno) {
    match errno.words() {
        Some(words) => line.push(words),
        None => {
            line.push("errno ");
            line.push_number(u64::from(errno.number()));
        }
    }
}
