//! Where messages go, how loud they are, and the words for what policy reports.

use core::cell::RefCell;
use core::fmt::Write;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::level::Level;
use crate::base::paths;
use crate::format::line::Line;
use crate::pid1::readiness::Why;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Cause, Report, ServiceId, Task};
use crate::policy::request::Request;
use crate::policy::trial::Halt;
use crate::sys::kmsg::Sink;

/// The log of host-init itself.
pub struct Log {
    sink: RefCell<Sink>,
    level: Level,
}

/// A part of a message.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// Words.
    Text(&'a str),
    /// A path or a name, which may be any bytes.
    Bytes(&'a [u8]),
    /// A number.
    Number(u64),
    /// The kernel's reason.
    Reason(Errno),
}

impl Log {
    /// A log that reaches standard error.
    pub const fn new() -> Self {
        Self {
            sink: RefCell::new(Sink::new()),
            level: Level::Info,
        }
    }

    /// Writes to the kernel's log from now on.
    pub fn use_kmsg(&mut self) {
        self.sink.get_mut().use_kmsg(paths::KMSG);
    }

    /// Leaves out what matters less than this.
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// Says one line. Never blocks, never fails.
    pub fn say(&self, level: Level, parts: &[Part<'_>]) {
        if level > self.level {
            return;
        }
        let mut record = Line::kmsg(level);
        for part in parts {
            part.write(&mut record);
        }
        if let Ok(mut sink) = self.sink.try_borrow_mut() {
            sink.write(record.as_bytes());
        }
    }

    /// Says that something could not be done: `mount /run: device busy`.
    pub fn failed(&self, level: Level, verb: &str, object: &[u8], reason: Errno) {
        self.say(
            level,
            &[
                Part::Text(verb),
                Part::Text(" "),
                Part::Bytes(object),
                Part::Text(": "),
                Part::Reason(reason),
            ],
        );
    }

    /// Says that a service was started.
    pub fn started(&self, id: ServiceId, pid: u32) {
        self.say(
            Level::Info,
            &[
                Part::Text(name(id)),
                Part::Text(": started, pid "),
                Part::Number(u64::from(pid)),
            ],
        );
    }

    /// Says that this is a next life, and with which host.
    pub fn reexecuted(&self, pid: u32) {
        self.say(
            Level::Notice,
            &[
                Part::Text("re-executed; host: pid "),
                Part::Number(u64::from(pid)),
            ],
        );
    }

    /// Says that a new config is in force.
    pub fn reloaded(&self) {
        self.say(
            Level::Notice,
            &[Part::Text(
                "config: read again; hostname, mounts and directories count from the next boot",
            )],
        );
    }

    /// Says how a service ended.
    pub fn ended(&self, id: ServiceId, exit: Exit, cause: Cause) {
        let name = Part::Text(name(id));
        let level = match (exit, cause) {
            (Exit::Code(0), Cause::Itself | Cause::Timeout) | (_, Cause::Stop) => Level::Notice,
            (_, Cause::Itself | Cause::Timeout | Cause::Unready | Cause::Watchdog) => {
                Level::Warning
            }
        };
        let number = |code: u8| Part::Number(u64::from(code));
        match exit {
            Exit::Code(code) => self.say(level, &[name, Part::Text(": exit "), number(code)]),
            Exit::Signal { signal, dumped } => {
                let dumped = if dumped { ", core dumped" } else { "" };
                let mut word = heapless::String::<16>::new();
                let _ = write!(word, "{signal}");
                self.say(
                    level,
                    &[
                        name,
                        Part::Text(": killed by "),
                        Part::Text(&word),
                        Part::Text(dumped),
                    ],
                );
            }
            Exit::Unstarted(failure) => self.say(
                Level::Error,
                &[
                    name,
                    Part::Text(": "),
                    Part::Text(failure.step.word()),
                    Part::Text(": "),
                    Part::Reason(failure.errno),
                ],
            ),
            Exit::Unknown => self.say(level, &[name, Part::Text(": ended, nobody knows how")]),
        }
    }

    /// Says that the host can't be ready by its descriptor any more.
    pub fn never_ready(&self, why: Why) {
        let did = match why {
            Why::Closed => "closed its descriptor",
            Why::TooMuch => "wrote 1 MiB to its descriptor",
        };
        self.say(
            Level::Notice,
            &[
                Part::Text("host: "),
                Part::Text(did),
                Part::Text(" without a newline: never ready that way"),
            ],
        );
    }

    /// Says how it ended that a version was to be taken back.
    pub fn not_taken_back(&self, exit: Exit) {
        let mut word = heapless::String::<32>::new();
        let _ = match exit {
            Exit::Signal { signal, .. } => write!(word, "killed by {signal}"),
            _ => write!(word, "exit {}", exit.shell_code()),
        };
        let parts = [
            Part::Text("host: could not be taken back: "),
            Part::Text(&word),
        ];
        self.say(Level::Error, &parts);
    }

    /// Says what policy reports.
    pub fn report(&self, report: Report) {
        let say = |level, parts: &[Part<'_>]| self.say(level, parts);
        match report {
            Report::Ending(ending) => say(Level::Notice, &[Part::Text(ending_words(ending))]),
            Report::Again => say(Level::Notice, &[Part::Text("stopping, to start again")]),
            Report::Stubborn(id) => say(
                Level::Warning,
                &[
                    Part::Text(name(id)),
                    Part::Text(": did not end in time, killed"),
                ],
            ),
            Report::Ready(id) => say(Level::Info, &[Part::Text(name(id)), Part::Text(": ready")]),
            Report::Leaving(id) => say(
                Level::Info,
                &[
                    Part::Text(name(id)),
                    Part::Text(": ends by itself, as it says"),
                ],
            ),
            Report::Unready(id) => say(
                Level::Warning,
                &[
                    Part::Text(name(id)),
                    Part::Text(": not ready in time, told to end"),
                ],
            ),
            Report::Silent(id) => say(
                Level::Warning,
                &[
                    Part::Text(name(id)),
                    Part::Text(": watchdog: not heard of in time, told to abort"),
                ],
            ),
            Report::Lost(id) => say(
                Level::Warning,
                &[
                    Part::Text(name(id)),
                    Part::Text(": watchdog: can't go on, as it says, told to abort"),
                ],
            ),
            Report::Unkillable(id) => say(
                Level::Error,
                &[
                    Part::Text(name(id)),
                    Part::Text(": can't be killed, given up"),
                ],
            ),
            Report::TooLong(Task::Mount(number)) => say(
                Level::Error,
                &[
                    Part::Text("mount "),
                    Part::Number(u64::from(number) + 1),
                    Part::Text(" of the config: took too long, given up"),
                ],
            ),
            Report::TooLong(Task::Directories) => say(
                Level::Error,
                &[Part::Text("directories: took too long, given up")],
            ),
            Report::StepTooLong(step) => say(
                Level::Error,
                &[
                    Part::Text(step_word(step)),
                    Part::Text(": took too long, given up"),
                ],
            ),
            Report::Hurried => say(Level::Notice, &[Part::Text("asked again: less time")]),
            Report::Refused(request) => say(
                Level::Warning,
                &[
                    Part::Text(request_words(request)),
                    Part::Text(match request {
                        Request::Reexecute => ": refused, the host is not up",
                        Request::Confirm => ": refused, no host that is on trial is up",
                        Request::Clear => ": refused, the host is not on trial",
                        Request::Restart => ": refused, the host is not to run now",
                        _ => ": refused, another ending is under way",
                    }),
                ],
            ),
            Report::Rescue => say(
                Level::Warning,
                &[Part::Text("the host is not started: a person is needed")],
            ),
            Report::Hopeless => say(
                Level::Error,
                &[Part::Text("there is no shell for a person")],
            ),
            Report::TooLong(Task::Attempt | Task::Remember) => say(
                Level::Error,
                &[Part::Text("record: took too long, stopped")],
            ),
            Report::TooLong(Task::TakeBack) => say(
                Level::Error,
                &[Part::Text("host: took too long to take back, killed")],
            ),
            Report::Halted(halt) => say(
                Level::Error,
                &[
                    Part::Text("host: halted: "),
                    Part::Text(halt_words(halt)),
                    Part::Text("; a person is needed"),
                ],
            ),
            Report::Forgetful(errno) => say(
                Level::Error,
                &[
                    Part::Text("record: "),
                    Part::Reason(errno),
                    Part::Text("; failures are counted until the power goes"),
                ],
            ),
            Report::TakingBack => say(
                Level::Warning,
                &[Part::Text("host: failed too often, taking it back")],
            ),
            Report::Healthy => say(Level::Notice, &[Part::Text("host: healthy")]),
            Report::Cleared => say(
                Level::Notice,
                &[Part::Text("host: its failures are forgotten")],
            ),
            Report::StartIn(id, wait) => say(
                Level::Info,
                &[
                    Part::Text(name(id)),
                    Part::Text(": next start in "),
                    Part::Number(u64::from(wait)),
                    Part::Text(" ms"),
                ],
            ),
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self::new()
    }
}

impl Part<'_> {
    fn write(&self, line: &mut Line) {
        match self {
            Self::Text(text) => line.push(text),
            Self::Bytes(bytes) => line.push_bytes(bytes),
            Self::Number(number) => line.push_number(*number),
            Self::Reason(errno) => match errno.words() {
                Some(words) => line.push(words),
                None => {
                    line.push("errno ");
                    line.push_number(u64::from(errno.number()));
                }
            },
        }
    }
}

/// What a service is called.
pub const fn name(id: ServiceId) -> &'static str {
    match id {
        ServiceId::Host => "host",
        ServiceId::Rescue => "rescue",
    }
}

const fn halt_words(halt: Halt) -> &'static str {
    match halt {
        Halt::NoWayBack => "it failed too often, and there is no version to go back to",
        Halt::WasGood => "it failed too often though it was healthy before: it is not the version",
        Halt::TakenBackBefore => "it failed too often again after it was taken back",
        Halt::TakeBackFailed => "it failed too often, and could not be taken back",
        Halt::TakeBackUnknown => "the power went while it was taken back",
        Halt::Before => "a person or the launcher has done it, by the file halted",
    }
}

const fn ending_words(ending: Ending) -> &'static str {
    match ending {
        Ending::Halt => "halting",
        Ending::PowerOff => "powering off",
        Ending::Reboot => "rebooting",
        Ending::Kexec => "starting the loaded kernel",
    }
}

const fn request_words(request: Request) -> &'static str {
    match request {
        Request::End(Ending::Halt, _) => "halt",
        Request::End(Ending::PowerOff, _) => "power-off",
        Request::End(Ending::Reboot, _) => "reboot",
        Request::End(Ending::Kexec, _) => "kexec",
        Request::Again(_) => "soft reboot",
        Request::Reload => "reload",
        Request::Reexecute => "re-execute",
        Request::Confirm => "confirm",
        Request::Clear => "clear",
        Request::Restart => "restart",
        Request::Verbosity(_) => "log level",
    }
}

/// What a step of the ending is called.
pub const fn step_word(step: Step) -> &'static str {
    match step {
        Step::Kill => "kill",
        Step::Unmount => "unmount",
        Step::Sync => "sync",
        Step::Reboot => "reboot",
        Step::Force => "sysrq",
    }
}
