//! The states of a service, each with what is true only in it.

use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::event::Cause;
use crate::policy::vigil::Vigil;

/// Where a service is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing runs, and nothing is going to by itself.
    Down,
    /// It may be started as far as it is concerned, and has asked.
    Asking,
    /// Its main process runs, as far as anybody knows.
    Up {
        /// When it was started.
        since: Instant,
        /// The watch over it.
        vigil: Vigil,
    },
    /// It did not do what it must; its main process was told to end, and has not yet.
    Failing {
        /// When it was started.
        since: Instant,
        /// What it did not do.
        cause: Cause,
        /// When it is killed, or given up when it was.
        until: Instant,
        /// Whether it was asked or killed.
        by: Sweep,
    },
    /// Its main process was asked to end, and has not yet.
    Stopping {
        /// When it is killed.
        kill_at: Instant,
    },
    /// Everything of it was killed, and its main process is not gone yet.
    Killed {
        /// When it is given up.
        give_up_at: Instant,
        /// Why it was killed.
        cause: Cause,
    },
    /// Its main process is gone; what it left behind was told to end.
    Sweeping {
        /// When the rest is killed, or given up when it was.
        until: Instant,
        /// Whether the rest was asked or killed.
        by: Sweep,
        /// What comes after.
        next: Next,
    },
    /// It is started again when the wait is over.
    Waiting {
        /// When that is.
        until: Instant,
    },
    /// Its main process can't be killed: the kernel holds it. Nobody waits for it
    /// any more, and it is not started again while the old process is there.
    Stuck,
}

/// How the rest of a service was told to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sweep {
    /// By TERM.
    Asked,
    /// By KILL.
    Killed,
}

/// What comes after a service is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It stays down.
    Stay,
    /// It is started when it has rested.
    Start,
}

impl Sweep {
    /// The signal that the rest is told to end by.
    pub const fn signal(self) -> Signal {
        match self {
            Self::Asked => Signal::TERM,
            Self::Killed => Signal::KILL,
        }
    }
}
