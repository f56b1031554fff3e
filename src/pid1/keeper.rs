//! What is kept of the host over power cuts, and which of its versions is current.
//!
//! All of it may block on a dead disk, so children do it, one at a time. What a child
//! found out it writes on a paper that PID 1 reads after the child's end.

use core::ffi::CStr;
use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::limits;
use crate::base::slot::{BYTES, Slot};
use crate::format::boot_record::{self, BootRecord, Last, LifeId};
use crate::format::name::{self, Name};
use crate::pid1::log::Log;
use crate::pid1::{compat, program};
use crate::policy::config::Host;
use crate::policy::event::{Cause, Event, Found, Outcome, Task};
use crate::policy::machine::Machine;
use crate::policy::trial::{Kept, Mark, Version};
use crate::sys::memory::{self, Paper};
use crate::sys::spawn::{self, Program, Stdio};
use crate::sys::{Result, clock, files, mount, random, store, versions};

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
    /// Whether it is known what was kept before. It is not written over until then.
    has_recalled: bool,
    /// The number of the last record that is known to be written.
    sequence: u64,
    /// The version that the last start was of.
    current: Seen,
    /// The last version that was healthy.
    good: Option<Name>,
    last: Option<Last>,
    /// Whether the record was another one when the last child was forked.
    has_moved: bool,
}

impl Keeper {
    /// Gets ready for a child.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory.
    pub fn prepare(&mut self, machine: &Machine) -> Result<()> {
        if let Some(trial) = machine.trial() {
            self.good = self.good_with(trial.mark());
        }
        let paper = match self.paper {
            Some(paper) => paper,
            None => self.paper.insert(memory::shared()?),
        };
        self.has_moved = false;
        // What a child before this one has told is not this one's.
        paper.write(&[]);
        if self.life == LifeId::default() {
            self.life = LifeId(random::bytes());
        }
        Ok(())
    }

    /// What a child does of it.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn work(&self, task: Task, host: &Host<'_>, machine: &Machine, log: &Log) -> Result<()> {
        match task {
            Task::Attempt => self.attempt(host, machine, log),
            Task::Remember => match machine.trial() {
                Some(_) if is_kept(host) && !self.has_recalled => Err(Errno::EAGAIN),
                Some(trial) => self.keep(host, trial.mark(), log),
                None => Ok(()),
            },
            Task::TakeBack if !host.rollback.is_empty() => Err(run(host)),
            Task::TakeBack => {
                let good = self.good.as_ref().ok_or(Errno::ENOENT)?;
                versions::switch(host.current.ok_or(Errno::ENOENT)?, good.as_bytes())
            }
            Task::Mount(_) | Task::Directories => Err(Errno::EINVAL),
        }
    }

    /// What it means that such a child has ended.
    pub fn done(&mut self, task: Task, outcome: Outcome) -> Event {
        match task {
            Task::Attempt => {
                let found = match self.told() {
                    Some(told) => Found {
                        version: Some(told.seen.version),
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

    /// The record is another one from now on: what is kept there is read before the
    /// next start, and counts.
    pub fn moved(&mut self) {
        self.has_recalled = false;
        self.sequence = 0;
        self.has_moved = true;
    }

    /// What host-init is to know after it has executed itself: the record that would be
    /// written next, with number 0 when none may be yet.
    pub fn hand_over(&self, mark: &Mark) -> BootRecord {
        let record = self.record(mark);
        let sequence = if self.has_recalled {
            record.sequence
        } else {
            0
        };
        BootRecord { sequence, ..record }
    }

    /// Goes on from what host-init has handed over to itself.
    pub fn resume(&mut self, record: BootRecord) -> Mark {
        self.life = record.life;
        self.has_recalled = record.sequence > 0;
        self.sequence = record.sequence.saturating_sub(1);
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
        let mut told = Told {
            seen: Seen::look(host),
            has_recalled: false,
            record: None,
        };
        self.tell(&told);
        if !is_kept(host) {
            return Ok(());
        }
        if !self.has_recalled {
            told.record = match host.record {
                Some(path) => recall(path)?,
                None => None,
            };
            if let (None, None, Some(directory)) = (&told.record, machine.trial(), host.launcher) {
                told.record = compat::import(directory, told.seen.version, log).map(imported);
            }
            told.has_recalled = true;
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
        known.keep(host, trial.mark(), log)
    }

    /// Keeps the mark where the config says. What a launcher's files say is for others
    /// when there is a record.
    fn keep(&self, host: &Host<'_>, mark: &Mark, log: &Log) -> Result<()> {
        let kept = host.record.map(|path| self.write(path, mark));
        let mirrored = host
            .launcher
            .map(|directory| compat::mirror(directory, mark, log));
        kept.or(mirrored).unwrap_or(Ok(()))
    }

    fn write(&self, path: &CStr, mark: &Mark) -> Result<()> {
        // A person may have put another disk there.
        look(path)?;
        let record = self.record(mark);
        store::write(path, slot_of(record.sequence), &record.to_bytes())
    }

    fn record(&self, mark: &Mark) -> BootRecord {
        BootRecord {
            sequence: self.sequence.saturating_add(1),
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
        if outcome == Outcome::Good && !self.has_moved {
            self.sequence = self.sequence.saturating_add(1);
        }
    }

    /// Takes note of what a child has told; what of it is news for the trial.
    fn learn(&mut self, told: Told) -> Option<Kept> {
        self.current = told.seen;
        if self.has_moved {
            return None;
        }
        self.has_recalled |= told.has_recalled;
        let record = told.record?;
        self.sequence = record.sequence;
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

/// What a child has found for a start.
struct Told {
    seen: Seen,
    /// Whether what was kept could be read.
    has_recalled: bool,
    /// What was kept, if anything was.
    record: Option<BootRecord>,
}

impl Told {
    /// Bytes of the longest.
    const BYTES: usize = 8 + 1 + 1 + name::BYTES + boot_record::LENGTH;

    /// Spells it: the version, whether it has recalled, the name with its length, and
    /// the record if there is one.
    fn spell<'b>(&self, bytes: &'b mut [u8; Self::BYTES]) -> &'b [u8] {
        let name = self.seen.name.as_ref().map_or(&[][..], Name::as_bytes);
        let lengths = [
            u8::from(self.has_recalled),
            u8::try_from(name.len()).unwrap_or(0),
        ];
        let record = self.record.as_ref().map(BootRecord::spell);
        let parts = [
            &self.seen.version.0.to_le_bytes()[..],
            &lengths,
            name,
            record.as_ref().map_or(&[], |record| record),
        ];
        let mut length = 0;
        for (place, byte) in bytes.iter_mut().zip(parts.into_iter().flatten()) {
            *place = *byte;
            length += 1;
        }
        bytes.get(..length).unwrap_or_default()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (version, bytes) = bytes.split_first_chunk()?;
        let ([has_recalled, length], bytes) = bytes.split_first_chunk()?;
        let (name, record) = bytes.split_at_checked(usize::from(*length))?;
        Some(Self {
            seen: Seen {
                version: Version(u64::from_le_bytes(*version)),
                name: Name::new(name),
            },
            has_recalled: *has_recalled != 0,
            record: BootRecord::read(record),
        })
    }
}

/// The version that is current.
#[derive(Clone, Default)]
struct Seen {
    version: Version,
    /// Its name, if it has one.
    name: Option<Name>,
}

impl Seen {
    /// By the link to it; without one, a program of another size or time is another
    /// version.
    fn look(host: &Host<'_>) -> Self {
        let mut buffer = [0; limits::PATH_BYTES];
        let name = host
            .current
            .and_then(|link| Name::new(versions::current(link, &mut buffer).ok()?));
        let version = match (&name, host.command.first()) {
            (Some(name), _) => name.version(),
            (None, Some(program)) => Version(files::stamp(program).unwrap_or_default()),
            (None, None) => Version::default(),
        };
        Self { version, name }
    }
}

/// Whether what is kept of the host outlasts PID 1.
const fn is_kept(host: &Host<'_>) -> bool {
    host.record.is_some() || host.launcher.is_some()
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

/// What was kept, if anything was. A device that is not there yet is waited for: that
/// nothing was kept is something else.
fn recall(path: &CStr) -> Result<Option<BootRecord>> {
    if store::is_device(path) {
        let mut directory = [0; limits::PATH_BYTES];
        let directory = files::parent(path, &mut directory)?;
        mount::wait_for_path(path, directory, APPEARING).map_err(|_| Errno::ENODEV)?;
    }
    look(path)
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

/// Becomes the command that takes the host back; the reason if that can't be.
fn run(host: &Host<'_>) -> Errno {
    let failure = spawn::become_program(&Program {
        arguments: &host.rollback,
        environment: &program::ENVIRONMENT,
        inherited: None,
        has_watchdog_pid: false,
        directory: c"/",
        stdio: Stdio::Kmsg,
        cgroup: None,
        oom_score: None,
        open_files: None,
    });
    failure.errno
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
