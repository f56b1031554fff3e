//! What happens, and what is to be done: the words between policy and kernel.
//!
//! Both are small facts and ids, never bytes: whoever performs an action knows
//! the command, the path and the descriptor that an id stands for.

use heapless::Deque;

use crate::base::errno::Errno;
use crate::base::exit::{Exit, Failure};
use crate::base::signal::Signal;
use crate::policy::ending::{self, Ending};
use crate::policy::notice::Notice;
use crate::policy::request::{Request, Verbosity};
use crate::policy::service::Saved;
use crate::policy::settings::Settings;
use crate::policy::trial::{Halt, Kept, Version};

/// A service, by its place in the machine's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceId {
    /// The program that the image exists for.
    Host,
    /// A shell for a person, when there is nothing else to run.
    Rescue,
}

/// Every service.
pub const SERVICES: [ServiceId; 2] = [ServiceId::Host, ServiceId::Rescue];

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The steps of the boot that can't block are done.
    Booted,
    /// They could not be done, and nothing is to be started.
    BootFailed,
    /// The machine's deadline has come, or something else woke it.
    Tick,
    /// A signal came.
    Signaled(Signal),
    /// There is no process: the start failed before there was one.
    Unstarted(ServiceId, Failure),
    /// The service's main process ended.
    Exited(ServiceId, Exit),
    /// No process of the service is left.
    Emptied(ServiceId),
    /// The host says something of itself.
    Notified(Notice),
    /// Work that a child did has ended.
    Done(Task, Outcome),
    /// The child that takes the last steps is at this one.
    LeavingAt(ending::Step),
    /// The child that takes the last steps has ended, and was at this one.
    LeaverEnded(ending::Step),
    /// The config was read again, and is good.
    Reloaded(Settings),
    /// What was found for the start that was asked for, and whether what the trial
    /// says of it is kept.
    Attempted(Found, Outcome),
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Start the service's main process.
    Start(ServiceId),
    /// Send a signal to the service's main process.
    Signal(ServiceId, Signal),
    /// Send a signal to every other process of the service, then watch until
    /// none is left; answered by [`Event::Emptied`].
    Sweep(ServiceId, Signal),
    /// Kill every process of the service.
    Kill(ServiceId),
    /// Write down how the service ended, and who asked.
    Record(ServiceId, Exit, Cause),
    /// Do this in a child; answered by [`Event::Done`].
    Do(Task),
    /// Kill the child that does this; it answers when it has ended.
    Interrupt(Task),
    /// Kill the child that does this, and wait for it no more. Work that keeps
    /// something is answered at once, as failed, and what is kept is not touched again
    /// before that child is gone; of other work nothing is heard any more.
    Abandon(Task),
    /// Take the last steps from this one on, in a child.
    Leave(Ending, ending::Step),
    /// Look where that child is; answered by [`Event::LeavingAt`].
    Look,
    /// Exit with this code, or for a restart by `reboot(2)` in the namespace, if the
    /// kernel lets it.
    Exit(Ending, u8),
    /// Read the config again; answered by [`Event::Reloaded`] when it is good.
    Reload,
    /// Log more, or as configured.
    SetVerbosity(Verbosity),
    /// Become the program at host-init's own path again, and go on with this host.
    Reexecute(Saved),
    /// Tell a person.
    Report(Report),
}

/// Why a service ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Nobody: it ended by itself.
    Itself,
    /// host-init, since the machine was asked to end or to start over.
    Stop,
    /// host-init, which killed it because it did not end in time.
    Timeout,
    /// host-init, since it did not become ready in time: a failure.
    Unready,
    /// host-init, since it was not heard of any more: a failure.
    Watchdog,
}

/// Work for a child, since it may block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// Mount this entry of the config.
    Mount(u8),
    /// Make the directories of the config.
    Directories,
    /// See which version would be started, and keep what the trial says of it;
    /// answered by [`Event::Attempted`].
    Attempt,
    /// Keep what the trial says now.
    Remember,
    /// Take the version back.
    TakeBack,
}

impl Task {
    /// What it changes of what must survive a power cut.
    pub const fn place(self) -> Option<Place> {
        match self {
            Self::Attempt | Self::Remember => Some(Place::Record),
            Self::TakeBack => Some(Place::Version),
            Self::Mount(_) | Self::Directories => None,
        }
    }

    /// Whether it keeps something: its child is waited for, and answers.
    pub const fn is_keeping(self) -> bool {
        self.place().is_some()
    }
}

/// What must survive a power cut, so that no two may be at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The record.
    Record,
    /// The link to the current version, or whatever a command has in its place.
    Version,
}

/// What is found for a start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The version that would be started.
    pub version: Version,
    /// What was kept of the trial, when it could be read for the first time.
    pub kept: Option<Kept>,
}

/// How work ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is done.
    Good,
    /// It failed for this reason.
    Bad(Errno),
}

/// What a person is told; the words are the log's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Report {
    /// The ending begins.
    Ending(Ending),
    /// Everything is stopped, to be started again.
    Again,
    /// A service did not end in time, and is killed.
    Stubborn(ServiceId),
    /// A service is ready, as it says.
    Ready(ServiceId),
    /// A service ends by itself, as it says.
    Leaving(ServiceId),
    /// A service did not become ready in time, and is told to end.
    Unready(ServiceId),
    /// A service was not heard of in time, and is told to abort.
    Silent(ServiceId),
    /// A service says that it can't go on, and is told to abort.
    Lost(ServiceId),
    /// A service's processes could not even be killed.
    Unkillable(ServiceId),
    /// Work took too long, and is given up.
    TooLong(Task),
    /// A step of the ending took too long, and is given up.
    StepTooLong(ending::Step),
    /// The same was asked again, so services get less time.
    Hurried,
    /// Asked for something else while an ending is under way.
    Refused(Request),
    /// The host is not started: a person is needed.
    Rescue,
    /// There is no shell for a person either.
    Hopeless,
    /// The host is not started any more.
    Halted(Halt),
    /// What must survive a power cut can't be kept; it is known until then.
    Forgetful(Errno),
    /// The host failed too often, and is taken back.
    TakingBack,
    /// The host is healthy, and what is known of its failures is forgotten.
    Healthy,
    /// What is known of the host's failures is forgotten, as a person has asked for.
    Cleared,
    /// The next start comes after a wait of this many milliseconds.
    StartIn(ServiceId, u32),
}

/// Actions in the order they are to be done.
#[derive(Default)]
pub struct Actions {
    queue: Deque<Action, CAPACITY>,
    lost: u32,
}

/// One event stops every service at most (a signal, a continue, a report each)
/// and adds what the stage itself has to say.
const CAPACITY: usize = 4 * SERVICES.len() + 8;

impl Actions {
    /// No actions.
    pub const fn new() -> Self {
        Self {
            queue: Deque::new(),
            lost: 0,
        }
    }

    /// Adds one at the end.
    pub fn push(&mut self, action: Action) {
        if self.queue.push_back(action).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Takes the first.
    pub fn pop(&mut self) -> Option<Action> {
        self.queue.pop_front()
    }

    /// How many did not fit since the start: always 0, and a fault if not.
    pub const fn lost(&self) -> u32 {
        self.lost
    }
}
