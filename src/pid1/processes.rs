//! The processes that host-init started, each in a place of one table.
//!
//! A process keeps its place until its end was told, so that a pid in the table
//! is never another process's: the kernel gives a number away only after that.

use crate::policy::event::{Place, SERVICES, ServiceId, Task};
use crate::sys::Fd;
use crate::sys::spawn::Ticket;

/// Places: each service's main process, one at work, two that were given up, one that
/// takes the last steps.
pub const PLACES: usize = SERVICES.len() + 4;

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
    /// Work.
    Task(Task),
    /// Nothing any more: it was killed at what must not be begun again before it is
    /// gone.
    Abandoned(Place),
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

    /// Every process that is there for `part`.
    pub fn for_part(&self, part: Part) -> impl Iterator<Item = &Process> {
        self.iter().filter(move |process| process.part == part)
    }

    /// Gives up every process that is there for `part`, which leaves its place, though
    /// it may hang in the kernel for ever; whether there was one. Whenever it ends, it is
    /// an orphan. Of those that may still change a place, one stays as
    /// [`Part::Abandoned`] until then: another was not let near it.
    pub fn abandon(&mut self, part: Part) -> bool {
        let place = match part {
            Part::Task(task) => task.place().filter(|place| !self.has_abandoned(*place)),
            Part::Main(..) | Part::Abandoned(_) | Part::Leaver => None,
        };
        let mut was_there = false;
        for slot in &mut self.places {
            let Some(process) = slot.as_mut().filter(|process| process.part == part) else {
                continue;
            };
            was_there = true;
            match place {
                Some(place) => process.part = Part::Abandoned(place),
                None => *slot = None,
            }
        }
        was_there
    }

    /// Whether one that may still change this place was given up, and is not gone.
    pub fn has_abandoned(&self, place: Place) -> bool {
        self.iter()
            .any(|process| process.part == Part::Abandoned(place))
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
