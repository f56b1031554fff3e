//! What others are told, as files in `/run/host-init`.
//!
//! | file | what | when |
//! |---|---|---|
//! | `status/host` (and `rescue`) | how the host ended last, as a shell's number | at each end |
//! | `status/host.json` | the exit record | at each end |
//! | `state.json` | what the machine and its services are doing | at each change |
//!
//! Each is replaced at once: a reader sees the old content or the new. A change
//! is told within 2 ms; of changes that are faster than that, the last.

use core::ffi::CStr;
use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::level::Level;
use crate::base::paths;
use crate::base::time::Instant;
use crate::format::notify::STATUS_BYTES;
use crate::format::record::{self, Asker, Record};
use crate::format::state::State;
use crate::pid1::log::{self, Log};
use crate::policy::event::{Cause, SERVICES, ServiceId};
use crate::policy::machine::{Machine, Stage};
use crate::policy::service::Saved;
use crate::policy::vigil::Lapse;
use crate::sys::{Fd, clock, files};

/// Bytes of a record or a state, in which the host's own words may take six for each
/// character.
type Text = heapless::String<1024>;

/// How long a change may stay untold. A start is not to wait for a file, and
/// changes that follow each other are told together.
const DELAY: Duration = Duration::from_millis(2);

/// What is told, and what was told last.
#[derive(Default)]
pub struct Status {
    /// Opened when there is something to tell.
    directory: Option<Fd>,
    /// Whether it was said that nothing can be written.
    has_failed: bool,
    lives: [Life; SERVICES.len()],
    told: Option<State>,
    /// What the host says of itself in this life.
    words: heapless::Vec<u8, STATUS_BYTES>,
    /// Whether that is to be told.
    has_new_words: bool,
    /// When what has changed is told.
    due: Option<Instant>,
}

/// One life of a service.
#[derive(Clone, Copy, Default)]
struct Life {
    started: Instant,
    pid: Option<u32>,
    /// How the life before this one ended, when that is not written down yet.
    ended: Option<Ended>,
    restarts: u32,
}

#[derive(Clone, Copy)]
struct Ended {
    exit: Exit,
    cause: Cause,
    at: Instant,
    started: Instant,
    pid: Option<u32>,
    restarts: u32,
}

impl Status {
    /// A life begins.
    pub fn started(&mut self, id: ServiceId, now: Instant) {
        if id == ServiceId::Host {
            self.says(b"");
        }
        let life = self.life(id);
        life.restarts = match life.started {
            Instant::BOOT => 0,
            _ => life.restarts.saturating_add(1),
        };
        life.started = now;
        life.pid = None;
    }

    /// The host says this of itself.
    pub fn says(&mut self, words: &[u8]) {
        if self.words != words {
            self.has_new_words = true;
            self.words.clear();
            // There is room: the parser cuts it.
            let _ = self.words.extend_from_slice(words);
        }
    }

    /// A life that began before this one of host-init's goes on.
    pub fn adopted(&mut self, id: ServiceId, pid: u32, saved: Saved) {
        *self.life(id) = Life {
            started: saved.since,
            pid: Some(pid),
            ended: None,
            restarts: saved.starts.saturating_sub(1),
        };
    }

    /// The life has a process.
    pub fn has_pid(&mut self, id: ServiceId, pid: u32) {
        self.life(id).pid = Some(pid);
    }

    /// The life has ended.
    pub fn ended(&mut self, id: ServiceId, exit: Exit, cause: Cause) {
        let life = self.life(id);
        life.ended = Some(Ended {
            exit,
            cause,
            at: clock::now(),
            started: life.started,
            pid: life.pid,
            restarts: life.restarts,
        });
    }

    /// Notes what has changed, to be told soon. While the last steps are taken
    /// there is nobody left to tell.
    pub fn note(&mut self, machine: &Machine, pid: Option<u32>, now: Instant) {
        let is_leaving = matches!(machine.stage(), Stage::Leaving { .. });
        let has_changed = self.told != Some(State::new(machine, pid))
            || self.has_new_words
            || self.lives.iter().any(|life| life.ended.is_some());
        self.due = match self.due {
            _ if is_leaving || !has_changed => None,
            Some(due) => Some(due),
            None => Some(now.after(DELAY)),
        };
    }

    /// When to come back to [`Status::tell`], if there is anything to tell.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Tells what has changed.
    pub fn tell(&mut self, machine: &Machine, pid: Option<u32>, log: &Log) {
        self.due = None;
        self.tell_ends(log);
        let state = State::new(machine, pid);
        if self.told == Some(state) && !self.has_new_words {
            return;
        }
        let mut text = Text::new();
        let _ = state.write_json(&self.words, &mut text);
        self.told = Some(state);
        self.has_new_words = false;
        self.write(log, |directory| {
            let (name, aside) = (c"state.json", c".state.json");
            files::replace(directory, name, aside, text.as_bytes())
        });
    }

    /// Tells the ends that are not told yet.
    pub fn tell_ends(&mut self, log: &Log) {
        for id in SERVICES {
            if let Some(ended) = self.life(id).ended.take() {
                self.write(log, |directory| write_end(directory, id, &ended));
            }
        }
    }

    /// Writes something into the directory, which is made when it is not there.
    /// Says once that it can't be had.
    fn write(&mut self, log: &Log, write: impl FnOnce(&Fd) -> Result<(), Errno>) {
        let written = match &self.directory {
            Some(directory) => write(directory),
            None => open().and_then(|directory| {
                let written = write(&directory);
                self.directory = Some(directory);
                written
            }),
        };
        match written {
            Ok(()) => self.has_failed = false,
            Err(errno) => {
                if !self.has_failed {
                    log.failed(Level::Warning, "write", paths::STATE.to_bytes(), errno);
                }
                self.has_failed = true;
                // It may have been removed: the next change looks for it anew.
                self.directory = None;
            }
        }
    }

    fn life(&mut self, id: ServiceId) -> &mut Life {
        let [host, rescue] = &mut self.lives;
        match id {
            ServiceId::Host => host,
            ServiceId::Rescue => rescue,
        }
    }
}

fn open() -> Result<Fd, Errno> {
    files::make_directory(paths::STATE, 0o755)?;
    files::make_directory(paths::STATUS, 0o755)?;
    files::open_directory(paths::STATE)
}

fn write_end(directory: &Fd, id: ServiceId, ended: &Ended) -> Result<(), Errno> {
    let (number, json): (&CStr, &CStr) = match id {
        ServiceId::Host => (c"status/host", c"status/host.json"),
        ServiceId::Rescue => (c"status/rescue", c"status/rescue.json"),
    };
    let mut text = Text::new();
    let _ = record::write_status(&mut text, ended.exit);
    let numbered = files::replace(directory, number, c"status/.new", text.as_bytes());
    text.clear();
    let record = Record {
        service: log::name(id).as_bytes(),
        pid: ended.pid,
        started: ended.started,
        ended: ended.at,
        exit: ended.exit,
        asked: match ended.cause {
            Cause::Itself | Cause::Unready | Cause::Watchdog => Asker::Nobody,
            Cause::Stop | Cause::Timeout => Asker::Operator,
        },
        lapse: match ended.cause {
            Cause::Unready => Some(Lapse::Unready),
            Cause::Watchdog => Some(Lapse::Silent),
            Cause::Itself | Cause::Stop | Cause::Timeout => None,
        },
        restarts: ended.restarts,
    };
    let _ = record.write_json(&mut text);
    numbered.and(files::replace(
        directory,
        json,
        c"status/.new",
        text.as_bytes(),
    ))
}
