//! What others are told, as files in `/run/host-init`.
//!
//! | file | what | when |
//! |---|---|---|
//! | `status/host` | how the host ended last, as a shell's number | at each end |
//! | `status/host.json` | the exit record | at each end |
//! | `state.json` | what the machine and its services are doing | at each change |
//!
//! Each is replaced at once: a reader sees the old content or the new.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::level::Level;
use crate::base::paths;
use crate::base::time::Instant;
use crate::format::record::{self, Asker, Record};
use crate::format::state::State;
use crate::pid1::log::{self, Log};
use crate::policy::event::{Cause, SERVICES, ServiceId};
use crate::policy::machine::{Machine, Stage};
use crate::policy::service::Saved;
use crate::sys::{Fd, clock, files};

/// Bytes of a record or a state.
type Text = heapless::String<512>;

/// What is told, and what was told last.
#[derive(Default)]
pub struct Status {
    directory: Option<Fd>,
    lives: [Life; SERVICES.len()],
    told: Option<State>,
    has_failed: bool,
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
    /// Tells others from now on, in this directory.
    pub fn set_directory(&mut self, directory: Fd) {
        self.directory = Some(directory);
    }

    /// A life begins.
    pub fn started(&mut self, id: ServiceId, now: Instant) {
        let life = self.life(id);
        life.restarts = match life.started {
            Instant::BOOT => 0,
            _ => life.restarts.saturating_add(1),
        };
        life.started = now;
        life.pid = None;
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

    /// Writes down what has changed. While the last steps are taken there is
    /// nobody left to read it.
    pub fn settle(&mut self, machine: &Machine, pid: Option<u32>, log: &Log) {
        if matches!(machine.stage(), Stage::Leaving { .. }) {
            return;
        }
        self.write_ends(log);
        let state = State::new(machine, pid);
        if self.told == Some(state) {
            return;
        }
        self.told = Some(state);
        let Some(directory) = &self.directory else {
            return;
        };
        let mut text = Text::new();
        let _ = state.write_json(&mut text);
        let (name, aside) = (c"state.json", c".state.json");
        let written = files::replace(directory, name, aside, text.as_bytes());
        self.note(written, log);
    }

    /// Writes down the ends that are not written down yet.
    pub fn write_ends(&mut self, log: &Log) {
        let Some(directory) = &self.directory else {
            return;
        };
        let mut result = Ok(());
        for (id, life) in SERVICES.into_iter().zip(&mut self.lives) {
            if let Some(ended) = life.ended.take() {
                result = result.and(write_end(directory, id, &ended));
            }
        }
        self.note(result, log);
    }

    /// Says once that nothing can be written.
    fn note(&mut self, result: Result<(), Errno>, log: &Log) {
        if let Err(errno) = result
            && !self.has_failed
        {
            log.failed(Level::Warning, "write", paths::STATE.to_bytes(), errno);
            self.has_failed = true;
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
            Cause::Itself => Asker::Nobody,
            Cause::Stop | Cause::Timeout => Asker::Operator,
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
