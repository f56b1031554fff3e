//! What is kept of the host over power cuts, and which of its versions is current.
//!
//! All of it may block on a dead disk, so children do it. What a child found out it
//! writes on a paper that PID 1 reads after the child's end.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::exit::Exit;
use crate::base::limits;
use crate::base::slot::{BYTES, Slot};
use crate::format::boot_id::BootId;
use crate::format::boot_record::{self, BootRecord, Last};
use crate::format::name::{self, Name};
use crate::pid1::program;
use crate::policy::config::Host;
use crate::policy::event::{Cause, Event, Outcome, Task};
use crate::policy::machine::Machine;
use crate::policy::trial::{Mark, Version};
use crate::sys::memory::{self, Paper};
use crate::sys::spawn::{self, Program, Stdio};
use crate::sys::{Result, clock, files, store};

/// What PID 1 knows of the record.
#[derive(Default)]
pub struct Keeper {
    /// Where children write; there when the first of them is forked.
    paper: Option<&'static Paper>,
    /// The number of the last record that was written or tried.
    sequence: u64,
    boot: BootId,
    /// The version that the last start was of.
    current: Found,
    /// The last version that was healthy.
    good: Option<Name>,
    last: Option<Last>,
    /// The mark that the child which was forked last keeps.
    mark: Option<Mark>,
}

impl Keeper {
    /// Gets ready for a child.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory.
    pub fn prepare(&mut self, machine: &Machine) -> Result<()> {
        self.mark = machine.trial().map(|trial| *trial.mark());
        if self.paper.is_none() {
            self.paper = Some(memory::shared()?);
            let mut text = [0; 64];
            self.boot = files::read(c"/proc/sys/kernel/random/boot_id", &mut text)
                .ok()
                .and_then(BootId::parse)
                .unwrap_or_default();
        }
        Ok(())
    }

    /// What a child does of it.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn work(&self, task: Task, host: &Host<'_>, machine: &Machine) -> Result<()> {
        match task {
            Task::Recall => self.recall(host.record.ok_or(Errno::ENOENT)?),
            Task::Attempt => {
                let found = Found::look(host);
                self.tell(&found);
                let Some(mut trial) = machine.trial().copied() else {
                    return Ok(());
                };
                let _ = trial.ask(found.version);
                self.keep(host, trial.mark(), &found)
            }
            Task::Remember => match machine.trial() {
                Some(trial) => self.keep(host, trial.mark(), &self.current),
                None => Ok(()),
            },
            Task::TakeBack if !host.rollback.is_empty() => Err(run(host)),
            Task::TakeBack => take_back(
                host.current.ok_or(Errno::ENOENT)?,
                self.good.as_ref().ok_or(Errno::ENOENT)?,
            ),
            Task::Mount(_) | Task::Directories => Err(Errno::EINVAL),
        }
    }

    /// What it means that such a child has ended.
    pub fn done(&mut self, task: Task, outcome: Outcome) -> Event {
        match (task, outcome) {
            (Task::Recall, Outcome::Good) => {
                let record = self.recalled();
                let is_same = record
                    .as_ref()
                    .is_some_and(|record| record.boot == self.boot);
                let mark = record.map(|record| self.take(record));
                Event::Recalled(mark, is_same)
            }
            // There is none yet.
            (Task::Recall, Outcome::Bad(Errno::ENOENT)) => Event::Recalled(None, false),
            (Task::Attempt, outcome) => {
                self.wrote(outcome);
                self.current = self.told();
                Event::Attempted(self.current.version, outcome)
            }
            (Task::Remember, outcome) => {
                self.wrote(outcome);
                if let Some(mark) = self.mark {
                    self.good = self.good_with(&mark, &self.current);
                }
                Event::Done(task, outcome)
            }
            (Task::Recall | Task::TakeBack | Task::Mount(_) | Task::Directories, outcome) => {
                Event::Done(task, outcome)
            }
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

    fn recall(&self, path: &CStr) -> Result<()> {
        let mut memory = [0; 2 * BYTES];
        let (first, second) = slots(path, &mut memory)?;
        let choice = boot_record::choose(first, second);
        match choice.record {
            Some(record) => {
                self.write(&record.to_bytes());
                Ok(())
            }
            None => Err(Errno::ENOENT),
        }
    }

    fn recalled(&self) -> Option<BootRecord> {
        let mut bytes = [0; BYTES];
        BootRecord::from_bytes(self.paper?.read(&mut bytes))
    }

    /// What the next life of host-init is to know: the record that would be written
    /// next.
    pub fn hand_over(&self, mark: &Mark) -> BootRecord {
        self.record(mark, &self.current)
    }

    /// Goes on from what the life before has handed over.
    pub fn resume(&mut self, record: BootRecord) -> Mark {
        self.boot = record.boot;
        let mark = self.take(record);
        self.sequence = self.sequence.saturating_sub(1);
        mark
    }

    /// Goes on from a record.
    fn take(&mut self, record: BootRecord) -> Mark {
        self.sequence = record.sequence;
        self.current = Found {
            version: record.mark.version,
            name: record.current,
        };
        self.good = record.good;
        self.last = record.last;
        record.mark
    }

    fn keep(&self, host: &Host<'_>, mark: &Mark, current: &Found) -> Result<()> {
        let Some(path) = host.record else {
            return Ok(());
        };
        // Whatever was there when it was read, or if it was not: the config may name
        // another place since, and a person may have put another disk there.
        match slots(path, &mut [0; 2 * BYTES]) {
            Ok(_) | Err(Errno::ENOENT) => {}
            Err(errno) => return Err(errno),
        }
        let record = self.record(mark, current);
        store::write(path, slot_of(record.sequence), &record.to_bytes())
    }

    fn record(&self, mark: &Mark, current: &Found) -> BootRecord {
        BootRecord {
            sequence: self.sequence.saturating_add(1),
            boot: self.boot,
            mark: *mark,
            good: self.good_with(mark, current),
            current: current.name.clone(),
            last: self.last,
        }
    }

    /// The good version's name, when the mark says which is good now.
    fn good_with(&self, mark: &Mark, current: &Found) -> Option<Name> {
        if mark.good.last() == Some(current.version) {
            current.name.clone()
        } else {
            self.good.clone()
        }
    }

    fn wrote(&mut self, outcome: Outcome) {
        if outcome == Outcome::Good {
            self.sequence = self.sequence.saturating_add(1);
        }
    }

    fn write(&self, bytes: &[u8]) {
        if let Some(paper) = self.paper {
            paper.write(bytes);
        }
    }

    /// Writes down what was found.
    fn tell(&self, found: &Found) {
        let mut bytes = [0; 8 + name::BYTES];
        let name = found.name.as_ref().map_or(&[][..], Name::as_bytes);
        let (version, rest) = bytes.split_at_mut(8);
        version.copy_from_slice(&found.version.0.to_le_bytes());
        for (place, byte) in rest.iter_mut().zip(name) {
            *place = *byte;
        }
        self.write(bytes.get(..8 + name.len()).unwrap_or_default());
    }

    /// What a child has found.
    fn told(&self) -> Found {
        let mut bytes = [0; BYTES];
        let told = self.paper.map_or(&[][..], |paper| paper.read(&mut bytes));
        match told.split_first_chunk::<8>() {
            Some((version, name)) => Found {
                version: Version(u64::from_le_bytes(*version)),
                name: Name::new(name),
            },
            None => Found::default(),
        }
    }
}

/// The version that is current.
#[derive(Clone, Default)]
struct Found {
    version: Version,
    /// Its name, if it has one.
    name: Option<Name>,
}

impl Found {
    /// By the link to it; without one, a program of another size or time is another
    /// version.
    fn look(host: &Host<'_>) -> Self {
        let name = host.current.and_then(current);
        let version = match (&name, host.command.first()) {
            (Some(name), _) => name.version(),
            (None, Some(program)) => Version(files::stamp(program).unwrap_or_default()),
            (None, None) => Version::default(),
        };
        Self { version, name }
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

/// What the two slots have; what is somebody else's is refused (`EMEDIUMTYPE`).
fn slots<'m>(path: &CStr, memory: &'m mut store::Memory) -> Result<(&'m [u8], &'m [u8])> {
    let (first, second) = store::read(path, memory)?;
    if boot_record::is_foreign(first, second) {
        return Err(Errno::EMEDIUMTYPE);
    }
    Ok((first, second))
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

/// The version that a link leads to.
fn current(link: &CStr) -> Option<Name> {
    let mut buffer = [0; limits::PATH_BYTES];
    let target = files::read_link(link, &mut buffer).ok()?;
    Name::new(target.rsplit(|byte| *byte == b'/').next()?)
}

/// Makes the link lead to this version beside the one that it leads to now, at once
/// and durably; the version must be there.
fn take_back(link: &CStr, good: &Name) -> Result<()> {
    let mut buffer = [0; limits::PATH_BYTES];
    let target = files::read_link(link, &mut buffer)?;
    let parent = target.iter().rposition(|byte| *byte == b'/');
    let parent = target
        .get(..parent.map_or(0, |at| at + 1))
        .unwrap_or_default();
    let mut place = [0; limits::PATH_BYTES];
    let target = joined(&[parent, good.as_bytes()], &mut place)?;
    files::replace_link(link, target)
}

/// Parts of a path as a C string.
fn joined<'b>(parts: &[&[u8]], place: &'b mut [u8]) -> Result<&'b CStr> {
    let mut length = 0;
    for part in parts {
        let rest = place.get_mut(length..).unwrap_or_default();
        let place = rest.get_mut(..part.len()).ok_or(Errno::ENAMETOOLONG)?;
        place.copy_from_slice(part);
        length += part.len();
    }
    CStr::from_bytes_until_nul(place).map_err(|_| Errno::ENAMETOOLONG)
}
