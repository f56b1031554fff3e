//! Whoever runs the container is told how it goes: `$NOTIFY_SOCKET`.
//!
//! Each message is a datagram of its own from PID 1 itself, since some who run
//! containers listen to nobody else. What can't be told is told to nobody.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::time::Instant;
use crate::format::line::Line;
use crate::format::upward;
use crate::pid1::log::Log;
use crate::policy::machine::Machine;
use crate::policy::upward::{Mood, Upward};
use crate::sys::notify;

/// The first wait until it is looked again whether the host has become its
/// program, or there is room for a message; each is twice as long.
const FIRST: Duration = Duration::from_millis(10);

/// The longest of these waits.
const LONGEST: Duration = Duration::from_secs(1);

/// How often a message that there is no room for is sent again: for half a minute.
const TRIES: u8 = 36;

/// Who is told, and what was told last.
pub struct Manager {
    /// The name of the socket; none when nobody listens.
    socket: Option<&'static [u8]>,
    is_ready: bool,
    is_stopping: bool,
    mood: Option<Mood>,
    /// When there is more to tell, whether or not anything happens until then.
    due: Option<Instant>,
    wait: Duration,
    tries: u8,
    /// Whether it was said that nobody can be told.
    has_failed: bool,
}

impl Manager {
    /// One who listens at the socket of this name, or nobody.
    pub const fn new(socket: Option<&'static [u8]>) -> Self {
        Self {
            socket,
            is_ready: false,
            is_stopping: false,
            mood: None,
            due: None,
            wait: FIRST,
            tries: TRIES,
            has_failed: false,
        }
    }

    /// When to come back to [`Manager::tell`], if there is anything more to tell.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Tells what has changed. A host is ready when its process is no child of
    /// host-init's any more that may fail to become the program.
    pub fn tell(&mut self, machine: &Machine, is_in_flight: bool, now: Instant, log: &Log) {
        self.due = None;
        let Upward {
            is_ready,
            is_stopping,
            mood,
        } = Upward::of(machine);
        if is_ready && is_in_flight {
            self.look_again(now);
            return;
        }
        if is_ready && !self.is_ready {
            self.is_ready = self.send(upward::READY.as_bytes(), now, log);
        }
        if is_stopping && !self.is_stopping {
            self.is_stopping = self.send(upward::STOPPING.as_bytes(), now, log);
        }
        if let Some(new) = mood
            && mood != self.mood
            && self.send(upward::status(new).as_bytes(), now, log)
        {
            self.mood = mood;
        }
        if self.due.is_none() {
            self.wait = FIRST;
        }
    }

    /// Tells the code that the container ends with.
    pub fn tell_exit(&mut self, code: u8, now: Instant, log: &Log) {
        let mut line = Line::new();
        line.push(upward::EXIT);
        line.push_number(u64::from(code));
        self.send(line.as_bytes(), now, log);
    }

    /// Sends a message; whether it is done with: a queue that is full is tried
    /// again, but not for ever.
    fn send(&mut self, message: &[u8], now: Instant, log: &Log) -> bool {
        let Some(socket) = self.socket else {
            return true;
        };
        match notify::send(socket, message) {
            Ok(()) => self.has_failed = false,
            Err(Errno::EAGAIN) if self.tries > 0 => {
                self.tries -= 1;
                self.look_again(now);
                return false;
            }
            Err(errno) => {
                if !self.has_failed {
                    log.failed(Level::Notice, "notify", socket, errno);
                }
                self.has_failed = true;
            }
        }
        true
    }

    fn look_again(&mut self, now: Instant) {
        if self.socket.is_some() && self.due.is_none() {
            self.due = Some(now.after(self.wait));
            self.wait = self.wait.saturating_mul(2).min(LONGEST);
        }
    }
}
