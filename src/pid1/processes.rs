//! The processes that host-init started, each in a place of one table.
//!
//! A process keeps its place until its end was told, so that a pid in the table
//! is never another process's: the kernel gives a number away only after that.

use crate::policy::event::{SERVICES, ServiceId, Task};
use crate::sys::Fd;
use crate::sys::spawn::Ticket;

/// Places: each service's main process, one at work, one that was given up, one that
/// takes the last steps.
pub const PLACES: usize = SERVICES.len() + 3;

/// A process that host-init started.
pub struct Process {
    /// Its pid.
    pub pid: u32,
    /// Its descriptor, which never means another.
    pub pidfd: Fd,
    /// What it is there for.
    pub part: Part,
}

/// What a process is there for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The main process of a service.
    Main(ServiceId, Ticket),
    /// Work of the boot.
    Task(Task),
    /// Nothing any more: it was killed at what must not be begun again before it is
    /// gone.
    Abandoned,
    /// The last steps.
    Leaver,
}

/// The table.
pub struct Processes {
    places: [Option<Process>; PLACES],
}

impl Processes {
    /// An empty table.
    pub const fn new() -> Self {
        Self {
            places: [const { None }; PLACES],
        }
    }

    /// Whether there is a place for one more.
    pub fn has_room(&self) -> bool {
        self.places.iter().any(Option::is_none)
    }

    /// Puts a process into a free place; the place, and the process in it. With
    /// none free the process is dropped: ask [`Processes::has_room`] first.
    pub fn insert(&mut self, process: Process) -> Option<(u8, &Process)> {
        let index = self.places.iter().position(Option::is_none)?;
        let place = self.places.get_mut(index)?;
        Some((u8::try_from(index).ok()?, place.insert(process)))
    }

    /// The process in a place.
    pub fn at(&self, place: u8) -> Option<&Process> {
        self.places.get(usize::from(place))?.as_ref()
    }

    /// Takes the process out of a place: its end was told.
    pub fn take(&mut self, place: u8) -> Option<Process> {
        self.places.get_mut(usize::from(place))?.take()
    }

    /// Takes the process with this pid out of its place.
    pub fn take_pid(&mut self, pid: u32) -> Option<Process> {
        self.places
            .iter_mut()
            .find(|place| place.as_ref().is_some_and(|process| process.pid == pid))?
            .take()
    }

    /// The main process of a service.
    pub fn main(&self, id: ServiceId) -> Option<&Process> {
        self.iter()
            .find(|process| matches!(process.part, Part::Main(of, _) if of == id))
    }

    /// Gives up every process that is there for `part`: each is handed to `each`,
    /// and leaves its place, though it may hang in the kernel for ever. Whenever
    /// it ends, it is an orphan. One that keeps something stays as
    /// [`Part::Abandoned`] until then; of those there is only one.
    pub fn abandon(&mut self, part: Part, each: impl Fn(&Process)) {
        for place in &mut self.places {
            let Some(process) = place.as_mut().filter(|process| process.part == part) else {
                continue;
            };
            each(process);
            match part {
                Part::Task(task) if task.is_keeping() => process.part = Part::Abandoned,
                Part::Task(_) | Part::Main(..) | Part::Abandoned | Part::Leaver => *place = None,
            }
        }
    }

    /// Whether one that keeps something was given up, and is not gone.
    pub fn has_abandoned(&self) -> bool {
        self.iter().any(|process| process.part == Part::Abandoned)
    }

    fn iter(&self) -> impl Iterator<Item = &Process> {
        self.places.iter().flatten()
    }
}

impl Default for Processes {
    fn default() -> Self {
        Self::new()
    }
}
