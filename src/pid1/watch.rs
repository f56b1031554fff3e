//! Everything that can wake PID 1, at one wait point.

use crate::base::time::Instant;
use crate::sys::poll::{Interest, Poll};
use crate::sys::signals::{self, Children, Received};
use crate::sys::{Fd, Result, clock, kmsg, reap};

/// What woke PID 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A signal.
    Signals,
    /// The process in this place ended (only where children vanish).
    Process(u8),
    /// The control group in this place changed.
    Group(u8),
    /// The host said something.
    Notices,
}

/// The wait point.
pub struct Watch {
    poll: Poll,
    signals: Fd,
    children: Children,
}

impl Watch {
    /// A wait for signals and children. From here on this process owns the ends
    /// of its children: see [`reap`].
    ///
    /// # Errors
    ///
    /// When descriptors or memory have run out.
    pub fn new() -> Result<Self> {
        let children = if reap::descriptors_remember() {
            Children::Vanish
        } else {
            Children::Stay
        };
        signals::set_children(children)?;
        if children == Children::Vanish {
            // Those that ended before it, under whoever became this program by an
            // exec, are still there, and nobody would tell of them.
            while reap::next().is_some() {}
        }
        let signals = signals::open(children)?;
        let poll = Poll::new()?;
        poll.add(&signals, Interest::Read, Source::Signals.number())?;
        Ok(Self {
            poll,
            signals,
            children,
        })
    }

    /// What becomes of children that end.
    pub const fn children(&self) -> Children {
        self.children
    }

    /// Watches a process that was started: its end is told by its descriptor
    /// where children vanish, and by a signal elsewhere.
    ///
    /// # Errors
    ///
    /// When memory has run out.
    pub fn add_process(&self, pidfd: &Fd, place: u8) -> Result<()> {
        match self.children {
            Children::Vanish => {
                // Once when it ends, and once more when the kernel released it: a
                // debugger may keep it in between.
                self.poll
                    .add(pidfd, Interest::Turn, Source::Process(place).number())
            }
            Children::Stay => Ok(()),
        }
    }

    /// Watches the `cgroup.events` of a service.
    ///
    /// # Errors
    ///
    /// When memory has run out.
    pub fn add_group(&self, events: &Fd, place: u8) -> Result<()> {
        self.poll
            .add(events, Interest::Change, Source::Group(place).number())
    }

    /// Watches a descriptor at which the host is heard.
    ///
    /// # Errors
    ///
    /// When memory has run out.
    pub fn add_notices(&self, fd: &Fd) -> Result<()> {
        self.poll.add(fd, Interest::Read, Source::Notices.number())
    }

    /// Watches a descriptor no more.
    pub fn remove(&self, fd: &Fd) {
        self.poll.remove(fd);
    }

    /// Waits until something happens or the deadline has come, and hands each
    /// thing to `each`.
    pub fn wait(&self, deadline: Option<Instant>, mut each: impl FnMut(Source)) {
        let timeout = deadline.map(|deadline| deadline.since(clock::now()));
        // There is no error that a later wait would not meet as well: PID 1 then
        // waits for the deadline at least, and does not spin.
        let waited = self.poll.wait(timeout, |number| {
            if let Some(source) = Source::from_number(number) {
                each(source);
            }
        });
        if waited.is_err() {
            kmsg::pause(timeout.unwrap_or(core::time::Duration::from_secs(1)));
        }
    }

    /// Reads the signals that came.
    pub fn read_signals(&self, each: impl FnMut(Received)) -> bool {
        signals::read(&self.signals, each).unwrap_or(false)
    }
}

impl Source {
    const fn number(self) -> u64 {
        match self {
            Self::Signals => 0,
            Self::Process(place) => 0x100 | place as u64,
            Self::Group(place) => 0x200 | place as u64,
            Self::Notices => 0x300,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        let [place, kind, ..] = number.to_le_bytes();
        match kind {
            0 => Some(Self::Signals),
            1 => Some(Self::Process(place)),
            2 => Some(Self::Group(place)),
            3 => Some(Self::Notices),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read_back_from_its_number() {
        for source in [
            Source::Signals,
            Source::Process(0),
            Source::Process(255),
            Source::Group(1),
            Source::Notices,
        ] {
            assert_eq!(Source::from_number(source.number()), Some(source));
        }
    }
}
