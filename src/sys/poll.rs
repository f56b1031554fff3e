//! The one wait point of PID 1: `epoll(7)` over everything that can happen.

use core::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, OwnedFd};

use super::{Result, reason};

/// Everything that can wake PID 1, each with a number of the caller's.
pub struct Poll {
    epoll: OwnedFd,
}

/// What makes a descriptor worth a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// It can be read.
    Read,
    /// It has become readable: reported once, however long it stays so.
    Turn,
    /// It has changed in a way of its own (`POLLPRI`): the files of cgroup v2.
    Change,
}

/// Descriptors that one wait reports; the rest are reported by the next.
const READY: usize = 8;

impl Poll {
    /// A wait for nothing yet.
    ///
    /// # Errors
    ///
    /// When descriptors or memory have run out.
    pub fn new() -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(reason)?;
        Ok(Self { epoll })
    }

    /// Watches a descriptor from now on, until it is closed.
    ///
    /// # Errors
    ///
    /// When memory has run out, or the descriptor can't be waited for.
    pub fn add(&self, fd: impl AsFd, interest: Interest, number: u64) -> Result<()> {
        let flags = match interest {
            Interest::Read => EventFlags::IN,
            Interest::Turn => EventFlags::IN | EventFlags::ET,
            Interest::Change => EventFlags::PRI | EventFlags::ERR,
        };
        epoll::add(&self.epoll, fd, EventData::new_u64(number), flags).map_err(reason)
    }

    /// Watches a descriptor no more, whoever else has it open. One that was not watched
    /// is not watched.
    pub fn remove(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Waits until something happens or `timeout` has passed, for ever without
    /// one, and hands each number to `each`. An interrupted wait is an empty one.
    ///
    /// # Errors
    ///
    /// None that can happen to a valid epoll descriptor.
    pub fn wait(&self, timeout: Option<Duration>, mut each: impl FnMut(u64)) -> Result<()> {
        let mut events = [const { core::mem::MaybeUninit::uninit() }; READY];
        let timeout = timeout.map(timespec);
        match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
            Ok((ready, _)) => {
                for event in ready {
                    each(event.data.u64());
                }
                Ok(())
            }
            Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(reason(errno)),
        }
    }
}

/// Waits until one of two can be read, at most for `timeout` and for ever without
/// one; which of them can. An interrupted wait is an empty one.
pub fn wait_for_either(one: impl AsFd, other: impl AsFd, timeout: Option<Duration>) -> [bool; 2] {
    let (one, other) = (one.as_fd(), other.as_fd());
    let mut polled = [
        PollFd::new(&one, PollFlags::IN),
        PollFd::new(&other, PollFlags::IN),
    ];
    let _ = rustix::event::poll(&mut polled, timeout.map(timespec).as_ref());
    polled.map(|polled| !polled.revents().is_empty())
}

/// Waits until `fd` can be read, at most for `timeout`; whether it can. For a
/// process that has nothing else to wait for.
pub fn wait_readable(fd: impl AsFd, timeout: Duration) -> bool {
    let fd = fd.as_fd();
    let mut polled = [PollFd::new(&fd, PollFlags::IN)];
    matches!(
        rustix::event::poll(&mut polled, Some(&timespec(timeout))),
        Ok(1..)
    )
}

pub(super) fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
