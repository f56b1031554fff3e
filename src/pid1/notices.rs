//! What the host says of itself, at a socket of its own: `$NOTIFY_SOCKET`.
//!
//! Each life of a host that is to be heard has a new socket, there before the host is:
//! what somebody has removed is there again, and nothing is left in it of a life
//! before.

use core::ffi::CStr;
use core::fmt::Write;
use core::time::Duration;

use heapless::Vec;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::paths;
use crate::format::notify::{self, Message};
use crate::pid1::groups::Groups;
use crate::pid1::log::{Log, Part};
use crate::pid1::status::Status;
use crate::pid1::watch::Watch;
use crate::policy::event::ServiceId;
use crate::policy::notice::{Access, Notice, Sender};
use crate::sys::notify::{Inbox, Letter, NAME_BYTES};
use crate::sys::{Fd, files};

/// Bytes of the longest message that is read.
const MESSAGE_BYTES: usize = 4096;

/// Messages that are taken before anything else is looked at again: a flood does not
/// keep a stop from being heard. As many as the longest queue that machines are
/// configured with has, so that what a process sent before it ended is among them.
const HEARD_AT_ONCE: usize = 512;

/// Lines of the log that one life of the host has for what it says.
const LINES: u8 = 8;

/// What is heard of the host.
#[derive(Default)]
pub struct Notices {
    inbox: Option<Inbox>,
    access: Access,
    /// Whether it was said that something of it is not for host-init.
    has_refused: bool,
    /// How many lines were logged of what it says.
    lines: u8,
    /// Whether it was said that there was more.
    has_more: bool,
}

/// What a host that is heard finds in its environment.
#[derive(Default)]
pub struct Environment {
    socket: Vec<u8, { NAME_BYTES + 16 }>,
    interval: Vec<u8, 48>,
    /// Whether it also finds its own pid, as that of the process to be heard of.
    pub has_pid: bool,
}

impl Notices {
    /// Gets ready for a life of the host.
    pub fn open(&mut self, watch: &Watch, log: &Log) {
        self.close(watch);
        let inbox = match at_path() {
            Ok(inbox) => Ok(inbox),
            Err(errno) => {
                log.failed(Level::Notice, "bind", paths::NOTIFY.to_bytes(), errno);
                Inbox::anywhere()
            }
        };
        match inbox.and_then(|inbox| watch.add_notices(inbox.fd()).map(|()| inbox)) {
            Ok(inbox) => self.inbox = Some(inbox),
            Err(errno) => log.failed(Level::Error, "listen to", b"the host", errno),
        }
    }

    /// Nothing more is heard.
    pub fn close(&mut self, watch: &Watch) {
        // A child in flight may have it open still, and it would go on waking.
        if let Some(inbox) = self.inbox.take() {
            watch.remove(inbox.fd());
        }
        *self = Self::default();
    }

    /// Goes on with the socket of the life before.
    pub fn adopt(&mut self, socket: Fd, access: Access, watch: &Watch) {
        if watch.add_notices(&socket).is_ok() {
            self.inbox = Some(Inbox::adopt(socket));
            self.access = access;
        }
    }

    /// Its socket, for the next life.
    pub fn socket(&self) -> Option<&Fd> {
        self.inbox.as_ref().map(Inbox::fd)
    }

    /// Whose messages count.
    pub const fn access(&self) -> Access {
        self.access
    }

    /// What the host finds in its environment.
    pub fn environment(&self, watchdog: Duration) -> Environment {
        let mut environment = Environment::default();
        let mut name = [0; NAME_BYTES];
        let Some(Ok(name)) = self.inbox.as_ref().map(|inbox| inbox.name(&mut name)) else {
            return environment;
        };
        let socket = &mut environment.socket;
        // There is room for both.
        let _ = socket.extend_from_slice(b"NOTIFY_SOCKET=");
        let _ = socket.extend_from_slice(name);
        let _ = socket.push(0);
        if !watchdog.is_zero() {
            // A config has no interval for which that is not enough. (Numbers of 128 bits
            // take a kilobyte to write.)
            let micros = u64::try_from(watchdog.as_micros()).unwrap_or(u64::MAX);
            let _ = write!(environment.interval, "WATCHDOG_USEC={micros}\0");
            environment.has_pid = true;
        }
        environment
    }

    /// Takes what has come from the host with this main process; all of it as one.
    pub fn hear(
        &mut self,
        main: Option<u32>,
        groups: &Groups,
        status: &mut Status,
        log: &Log,
    ) -> Option<Notice> {
        let mut heard = None;
        for _ in 0..HEARD_AT_ONCE {
            let mut buffer = [0; MESSAGE_BYTES];
            let letter = match self.inbox.as_ref()?.receive(&mut buffer) {
                Ok(Some(letter)) => letter,
                Ok(None) => {
                    self.refuse("a message of more than 4096 bytes", log);
                    continue;
                }
                Err(Errno::EINTR) => continue,
                Err(_) => break,
            };
            if self.lets(&letter, main, groups) {
                let message = notify::parse(letter.text);
                self.take(&message, status, log);
                // Also one with nothing for the rules: what it says is to be told.
                heard = Some(heard.unwrap_or(Notice::default()).and(message.notice));
            }
        }
        heard
    }

    fn lets(&self, letter: &Letter<'_>, main: Option<u32>, groups: &Groups) -> bool {
        let sender = letter.sender;
        self.access.lets(if main == Some(sender) {
            Sender::Main
        // Asked only when it matters: it takes a look at the whole group.
        } else if self.access == Access::All && groups.has(ServiceId::Host, sender) {
            Sender::Other
        } else {
            Sender::Stranger
        })
    }

    /// What of a message is not for the rules.
    fn take(&mut self, message: &Message<'_>, status: &mut Status, log: &Log) {
        if let Some(text) = message.status {
            status.says(text);
        }
        if let Some(access) = message.access {
            self.access = access;
        }
        if message.is_reloading && self.has_line(log) {
            log.say(Level::Info, &[Part::Text("host says: it reloads")]);
        }
        if let Some(errno) = message.errno
            && self.has_line(log)
        {
            log.say(
                Level::Notice,
                &[Part::Text("host says: "), Part::Reason(errno)],
            );
        }
        if message.main_pid.is_some() {
            // Only the end of its own child is told to host-init without loss.
            self.refuse("another main process", log);
        }
    }

    /// Whether there is a line left for what it says; that there is none is said once.
    fn has_line(&mut self, log: &Log) -> bool {
        let has_line = self.lines < LINES;
        if has_line {
            self.lines = self.lines.saturating_add(1);
        } else if !core::mem::replace(&mut self.has_more, true) {
            say_ignored("more", log);
        }
        has_line
    }

    fn refuse(&mut self, what: &str, log: &Log) {
        if !core::mem::replace(&mut self.has_refused, true) {
            say_ignored(what, log);
        }
    }
}

impl Environment {
    /// Its entries, but for the pid's.
    pub fn entries(&self) -> impl Iterator<Item = &CStr> {
        [self.socket.as_slice(), self.interval.as_slice()]
            .into_iter()
            .filter_map(|entry| CStr::from_bytes_with_nul(entry).ok())
    }
}

fn say_ignored(what: &str, log: &Log) {
    log.say(
        Level::Warning,
        &[
            Part::Text("host says: "),
            Part::Text(what),
            Part::Text(": ignored"),
        ],
    );
}

fn at_path() -> Result<Inbox, Errno> {
    files::make_directory(paths::STATE, 0o755)?;
    Inbox::at(paths::NOTIFY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_has_so_many_lines_and_what_was_refused_takes_none() {
        let mut notices = Notices::default();
        let log = Log::new();
        notices.refuse("another main process", &log);

        let lines = (0..1_000).filter(|_| notices.has_line(&log));

        assert_eq!(lines.count(), 8);
        assert!(notices.has_more);
    }
}
