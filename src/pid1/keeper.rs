//! What is kept of the host over power cuts, and which of its versions is current.
//!
//! All of it may block on a dead disk, so children do it, one at a time. What a child
//! found out it writes on a paper that PID 1 reads after the child's end.

mod told;

use core::ffi::CStr;
use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::level::Level;
use crate::base::limits;
use crate::base::slot::{BYTES, Slot};
use crate::format::boot_record::{self, BootRecord, Last, LifeId};
use crate::format::name::Name;
use crate::pid1::keeper::told::{Seen, Told};
use crate::pid1::log::Log;
use crate::pid1::{compat, program};
use crate::policy::config::Host;
use crate::policy::event::{Cause, Event, Found, Outcome, Task};
use crate::policy::machine::Machine;
use crate::policy::settings::Role;
use crate::policy::trial::{Kept, Mark};
use crate::sys::memory::{self, Paper};
use crate::sys::spawn::{self, Program, Stdio};
use crate::sys::{Result, clock, files, mount, random, store, task, versions};

/// How long a device for the record may take to appear, of the time that the first
/// start waits for its answer.
const APPEARING: Duration = Duration::from_secs(5);

/// What PID 1 knows of the record.
#[derive(Clone, Default)]
pub struct Keeper {
    /// Where children write; there when the first of them is forked.
    paper: Option<&'static Paper>,
    /// This life of host-init.
    life: LifeId,
    /// Whether a start has looked for what was kept before.
    has_looked: bool,
    /// The last record that was read or written: nobody writes over another. None as
    /// long as nobody could look.
    known: Option<Known>,
    /// The version that the last start was of.
    current: Seen,
    /// The last version that was healthy.
    good: Option<Name>,
    last: Option<Last>,
    /// The path of the record that the last start is in, with its null byte; nothing
    /// when it is in none. A reload counts from the next start on.
    place: heapless::Vec<u8, { limits::PATH_BYTES }>,
    /// Whether a child that was given up may still write the record.
    is_blocked: bool,
}

/// A record as far as it must be known again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Known {
    sequence: u64,
    life: LifeId,
}

impl Keeper {
    /// Gets ready for a child, which does not touch the record when it is blocked.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory.
    pub fn prepare(&mut self, machine: &Machine, is_blocked: bool) -> Result<()> {
        self.is_blocked = is_blocked;
        if let Some(trial) = machine.trial() {
            self.good = self.good_with(trial.mark());
        }
        let paper = match self.paper {
            Some(paper) => paper,
            None => self.paper.insert(memory::shared()?),
        };
        // What a child before this one has told is not this one's.
        paper.write(&[]);
        if self.life == LifeId::default() {
            self.life = LifeId(random::bytes());
        }
        Ok(())
    }

    /// A child was forked for this, with this path of the record in its config.
    pub fn sent(&mut self, task: Task, record: Option<&CStr>) {
        if task == Task::Attempt && self.place() != record {
            self.move_to(record);
        }
    }

    /// The record that the last start is in.
    fn place(&self) -> Option<&CStr> {
        CStr::from_bytes_with_nul(&self.place).ok()
    }

    fn move_to(&mut self, record: Option<&CStr>) {
        self.place.clear();
        let path = record.map_or(&b""[..], CStr::to_bytes_with_nul);
        // A config has no longer path.
        let _ = self.place.extend_from_slice(path);
        self.known = None;
        self.has_looked = false;
    }

    /// What a child does of it.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn work(
        &self,
        task: Task,
        host: &Host<'_>,
        role: Role,
        machine: &Machine,
        log: &Log,
    ) -> Result<()> {
        match task {
            Task::Attempt => self.attempt(host, machine, log),
            Task::Remember => match machine.trial() {
                Some(_) if self.is_kept(host) && self.known.is_none() => Err(Errno::EAGAIN),
                Some(trial) => self.keep(host, self.there()?, trial.mark(), log),
                None => Ok(()),
            },
            Task::TakeBack if !host.rollback.is_empty() => run(host, role),
            Task::TakeBack => self.take_back(host).inspect_err(|errno| {
                let path = host.current.map_or(&b""[..], CStr::to_bytes);
                log.failed(Level::Error, "take the host back by", path, *errno);
            }),
            Task::Mount(_) | Task::Directories => Err(Errno::EINVAL),
        }
    }

    /// What it means that such a child has ended.
    pub fn done(&mut self, task: Task, outcome: Outcome) -> Event {
        match task {
            Task::Attempt => {
                self.has_looked = true;
                let found = match self.told() {
                    Some(told) => Found {
                        version: told.seen.version,
                        kept: self.learn(told),
                    },
                    None => Found::default(),
                };
                self.wrote(outcome);
                Event::Attempted(found, outcome)
            }
            Task::Remember => {
                self.wrote(outcome);
                Event::Done(task, outcome)
            }
            Task::Mount(_) | Task::Directories | Task::TakeBack => Event::Done(task, outcome),
        }
    }

    /// The host ended.
    pub fn ended(&mut self, exit: Exit, cause: Cause) {
        self.last = Some(Last {
            exit,
            cause,
            at: clock::wall(),
        });
    }

    /// What host-init is to know after it has executed itself: the record that would be
    /// written next, with number 0 when none may be yet.
    pub fn hand_over(&self, mark: &Mark) -> BootRecord {
        let record = self.record(mark);
        let sequence = self.known.map_or(0, |_| record.sequence);
        BootRecord { sequence, ..record }
    }

    /// Goes on from what host-init has handed over to itself.
    pub fn resume(&mut self, record: BootRecord, place: Option<&CStr>) -> Mark {
        self.life = record.life;
        self.move_to(place);
        self.has_looked = true;
        self.known = record.sequence.checked_sub(1).map(|sequence| Known {
            sequence,
            life: record.life,
        });
        self.current = Seen {
            version: record.mark.version,
            name: record.current,
        };
        self.good = record.good;
        self.last = record.last;
        record.mark
    }

    /// Sees which version would be started and what was kept; keeps what the trial says
    /// of them.
    fn attempt(&self, host: &Host<'_>, machine: &Machine, log: &Log) -> Result<()> {
        let told = Told {
            seen: Seen::look(host, log),
            kept: None,
        };
        self.tell(&told);
        if self.is_blocked && (self.is_kept(host) || host.record.is_some()) {
            return Err(Errno::EBUSY);
        }
        let mut own = self.clone();
        if self.place() != host.record {
            if let (Some(old), Some(trial)) = (self.place(), machine.trial()) {
                // What was started with it in force is over. Where it is gone, it need
                // not be told.
                let _ = look(old).and_then(|there| self.write(old, there, trial.mark()));
            }
            own.move_to(host.record);
        }
        own.attempt_in_place(host, machine, told, log)
    }

    fn attempt_in_place(
        &self,
        host: &Host<'_>,
        machine: &Machine,
        mut told: Told,
        log: &Log,
    ) -> Result<()> {
        if !self.is_kept(host) {
            return Ok(());
        }
        if !self.has_looked {
            self.wait_for()?;
        }
        let there = self.there()?;
        if !self.knows(there.as_ref()) {
            let mut kept = there.clone();
            if let (None, None, Some(directory)) = (&kept, machine.trial(), host.launcher) {
                kept = compat::import(directory, told.seen.version, log).map(imported);
            }
            told.kept = Some(kept);
            self.tell(&told);
        }
        // As PID 1 will know it when it has read that.
        let mut known = self.clone();
        let version = told.seen.version;
        let kept = known.learn(told);
        let Some(mut trial) = machine.trial_with(kept) else {
            return Ok(());
        };
        let _ = trial.ask(version);
        known.keep(host, there, trial.mark(), log)
    }

    /// Makes the good version current.
    fn take_back(&self, host: &Host<'_>) -> Result<()> {
        let good = self.good.as_ref().ok_or(Errno::ENOENT)?;
        versions::switch(host.current.ok_or(Errno::ENOENT)?, good.as_bytes())
    }

    /// Keeps the mark where the config says, in place of the record that is there. What
    /// a launcher's files say is for others when there is a record.
    fn keep(
        &self,
        host: &Host<'_>,
        there: Option<BootRecord>,
        mark: &Mark,
        log: &Log,
    ) -> Result<()> {
        let kept = self.place().map(|path| self.write(path, there, mark));
        let mirrored = host.launcher.map(|directory| {
            compat::mirror(directory, mark).inspect_err(|errno| {
                // Once a life: it is tried again with every write.
                if !self.has_looked {
                    log.failed(Level::Warning, "write", directory.to_bytes(), *errno);
                }
            })
        });
        kept.or(mirrored).unwrap_or(Ok(()))
    }

    fn write(&self, path: &CStr, there: Option<BootRecord>, mark: &Mark) -> Result<()> {
        if !self.knows(there.as_ref()) {
            // Of another disk that a person has put there, or another host-init's: the
            // next start reads it.
            return Err(Errno::EMEDIUMTYPE);
        }
        let record = self.record(mark);
        store::write(path, slot_of(record.sequence), &record.to_bytes())
    }

    /// Whether what is there was read before, or written by this life. That may be one
    /// more than is known: when it was not answered for.
    fn knows(&self, record: Option<&BootRecord>) -> bool {
        match (self.known, record) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(known), Some(record)) => {
                let is_same = record.life == known.life && record.sequence == known.sequence;
                let next = known.sequence.saturating_add(1);
                is_same || record.life == self.life && record.sequence == next
            }
        }
    }

    /// Whether what is kept of the host outlasts PID 1.
    fn is_kept(&self, host: &Host<'_>) -> bool {
        self.place().is_some() || host.launcher.is_some()
    }

    /// The record that is there, if there is one.
    fn there(&self) -> Result<Option<BootRecord>> {
        self.place().map_or(Ok(None), look)
    }

    /// Waits for a device that is not there yet: that nothing was kept is something else.
    fn wait_for(&self) -> Result<()> {
        let Some(path) = self.place().filter(|path| store::is_device(path)) else {
            return Ok(());
        };
        let mut directory = [0; limits::PATH_BYTES];
        let directory = files::parent(path, &mut directory)?;
        mount::wait_for_path(path, directory, APPEARING).map_err(|_| Errno::ENODEV)
    }

    fn record(&self, mark: &Mark) -> BootRecord {
        BootRecord {
            sequence: self.known.unwrap_or_default().sequence.saturating_add(1),
            life: self.life,
            mark: *mark,
            good: self.good_with(mark),
            current: self.current.name.clone(),
            last: self.last,
        }
    }

    /// The good version's name, when the mark says which is good now.
    fn good_with(&self, mark: &Mark) -> Option<Name> {
        if mark.good.last() == Some(self.current.version) {
            self.current.name.clone()
        } else {
            self.good.clone()
        }
    }

    fn wrote(&mut self, outcome: Outcome) {
        if let (Outcome::Good, Some(known)) = (outcome, &mut self.known) {
            *known = Known {
                sequence: known.sequence.saturating_add(1),
                life: self.life,
            };
        }
    }

    /// Takes note of what a child has told; what of it is news for the trial.
    fn learn(&mut self, told: Told) -> Option<Kept> {
        self.current = told.seen;
        let record = told.kept?;
        self.known = Some(record.as_ref().map_or_else(Known::default, |record| Known {
            sequence: record.sequence,
            life: record.life,
        }));
        let record = record?;
        self.good = self.good.take().or(record.good);
        self.last = self.last.or(record.last);
        Some(Kept {
            mark: record.mark,
            is_own: record.life == self.life && self.life != LifeId::default(),
        })
    }

    /// Tells PID 1 what was found.
    fn tell(&self, told: &Told) {
        let mut bytes = [0; Told::BYTES];
        if let Some(paper) = self.paper {
            paper.write(told.spell(&mut bytes));
        }
    }

    /// What a child has told; nothing when it was given up before it had.
    fn told(&self) -> Option<Told> {
        let mut bytes = [0; Told::BYTES];
        Told::read(self.paper?.read(&mut bytes))
    }
}

/// A mark of a launcher's as a record that no life of host-init wrote.
fn imported(mark: Mark) -> BootRecord {
    BootRecord {
        sequence: 0,
        life: LifeId::default(),
        mark,
        good: None,
        current: None,
        last: None,
    }
}

/// What is in the slots, if anything is; what is somebody else's is refused
/// (`EMEDIUMTYPE`).
fn look(path: &CStr) -> Result<Option<BootRecord>> {
    let mut memory = [0; 2 * BYTES];
    match store::read(path, &mut memory) {
        Ok((first, second)) if boot_record::is_foreign(first, second) => Err(Errno::EMEDIUMTYPE),
        Ok((first, second)) => Ok(boot_record::choose(first, second).record),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Becomes the command that takes the host back; ends as a shell would if that can't be.
fn run(host: &Host<'_>, role: Role) -> ! {
    let failure = spawn::become_program(&Program {
        arguments: &host.rollback,
        environment: &program::ENVIRONMENT,
        inherited: None,
        has_watchdog_pid: false,
        directory: c"/",
        stdio: match role {
            Role::Machine => Stdio::Kmsg,
            Role::Container => Stdio::OwnOutput,
        },
        passed: None,
        cgroup: None,
        oom_score: None,
        open_files: None,
    });
    task::exit(Exit::Unstarted(failure).shell_code())
}

/// The slot of a record with this number: they are written in turn, and one that
/// failed is written again at the same place. So it need not be written down which it
/// was.
fn slot_of(sequence: u64) -> Slot {
    if sequence % 2 == 1 {
        Slot::First
    } else {
        Slot::Second
    }
}
