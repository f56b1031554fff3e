//! What whoever runs the container is told of it, as facts; the words are
//! `format`'s.

use crate::policy::ending::Ending;
use crate::policy::machine::{Aim, Machine, Stage};
use crate::policy::service::{Service, State};

/// What there is to tell of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Upward {
    /// Whether the host was started, and has said that it is ready if it must. Whether it
    /// is up by now only the kernel knows.
    pub is_ready: bool,
    /// Whether the end has begun.
    pub is_stopping: bool,
    /// What a person would want to read; none where it is about to change.
    pub mood: Option<Mood>,
}

/// How it goes, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    /// The boot mounts, or makes directories.
    Preparing,
    /// There is no host in the config.
    Idle,
    /// The host is up, and not ready yet.
    Starting,
    /// The host is up.
    Up,
    /// The host failed, and is started again after a wait.
    Failed,
    /// The host ended well, and is started again after a wait.
    Ended,
    /// The host can't be killed.
    Stuck,
    /// Nothing can go on.
    Hopeless,
    /// The host failed too often, and is not started any more.
    Halted,
    /// A person has a shell.
    Rescue,
    /// Everything is stopped, to be started again.
    Again,
    /// Everything is stopped, and whoever runs the container is to start it again.
    Rebooting,
    /// Everything is stopped.
    Stopping,
}

impl Upward {
    /// What there is to tell of this machine.
    pub fn of(machine: &Machine) -> Self {
        let host = machine.host();
        let (is_stopping, mood) = match machine.stage() {
            Stage::Booting | Stage::Preparing { .. } => (false, Some(Mood::Preparing)),
            Stage::Running => (false, of_host(host)),
            Stage::Rescue { .. } => (false, Some(Mood::Rescue)),
            Stage::Hopeless { .. } => (false, Some(Mood::Hopeless)),
            Stage::Halted { .. } => (false, Some(Mood::Halted)),
            Stage::Stopping {
                aim: Aim::Again, ..
            } => (false, Some(Mood::Again)),
            Stage::Stopping {
                aim: Aim::End(ending),
                ..
            }
            | Stage::Leaving { ending, .. } => (true, Some(of_ending(ending))),
        };
        Self {
            is_ready: mood == Some(Mood::Up),
            is_stopping,
            mood,
        }
    }
}

const fn of_host(host: &Service) -> Option<Mood> {
    match (host.state(), host.failures()) {
        (State::Down, _) => Some(Mood::Idle),
        (State::Up { .. }, _) => Some(match host.ready_since() {
            Some(_) => Mood::Up,
            None => Mood::Starting,
        }),
        (State::Failing { .. }, _) => Some(Mood::Failed),
        (State::Waiting { .. }, 0) => Some(Mood::Ended),
        (State::Waiting { .. }, 1..) => Some(Mood::Failed),
        (State::Stuck, _) => Some(Mood::Stuck),
        // It is up again, or waits, as soon as what it left is gone.
        (
            State::Asking | State::Stopping { .. } | State::Killed { .. } | State::Sweeping { .. },
            _,
        ) => None,
    }
}

const fn of_ending(ending: Ending) -> Mood {
    match ending {
        Ending::Reboot | Ending::Kexec => Mood::Rebooting,
        Ending::Halt | Ending::PowerOff => Mood::Stopping,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::exit::Exit;
    use crate::base::signal::Signal;
    use crate::base::time::Instant;
    use crate::policy::event::{Actions, Event, Outcome, ServiceId, Task};
    use crate::policy::samples::{CONTAINER, MOUNTING, realtime};
    use crate::policy::settings::Settings;

    /// What is told after each of these events, the first of which is the boot.
    fn told(settings: Settings, events: &[Event]) -> Vec<Upward> {
        let mut machine = Machine::new(settings);
        let mut actions = Actions::new();
        [Event::Booted]
            .iter()
            .chain(events)
            .map(|event| {
                machine.handle(Instant::BOOT, *event, &mut actions);
                while actions.pop().is_some() {}
                Upward::of(&machine)
            })
            .collect()
    }

    fn moods(settings: Settings, events: &[Event]) -> Vec<Option<Mood>> {
        told(settings, events)
            .iter()
            .map(|told| told.mood)
            .collect()
    }

    const EMPTIED: Event = Event::Emptied(ServiceId::Host);

    const fn exited(code: u8) -> Event {
        Event::Exited(ServiceId::Host, Exit::Code(code))
    }

    #[test]
    fn a_host_that_was_started_is_ready_and_nothing_before_it() {
        let told = told(
            MOUNTING,
            &[
                Event::Done(Task::Mount(0), Outcome::Good),
                Event::Done(Task::Mount(1), Outcome::Good),
                Event::Done(Task::Directories, Outcome::Good),
            ],
        );

        let ready: Vec<bool> = told.iter().map(|told| told.is_ready).collect();
        assert_eq!(ready, [false, false, false, true]);
        let moods: Vec<Option<Mood>> = told.iter().map(|told| told.mood).collect();
        let preparing = Some(Mood::Preparing);
        assert_eq!(moods, [preparing, preparing, preparing, Some(Mood::Up)]);
    }

    #[test]
    fn without_a_host_nothing_is_ready() {
        let settings = Settings {
            host: None,
            ..CONTAINER
        };

        let [told] = told(settings, &[])[..] else {
            panic!("one event");
        };

        assert_eq!(told.mood, Some(Mood::Idle));
        assert!(!told.is_ready);
    }

    #[test]
    fn a_wait_is_told_and_what_lasts_no_time_is_not() {
        // The first failure costs no wait.
        let failed = [exited(1), EMPTIED, exited(1), EMPTIED];
        let up = Some(Mood::Up);
        assert_eq!(
            moods(CONTAINER, &failed),
            [up, None, up, None, Some(Mood::Failed)]
        );
        assert_eq!(
            moods(CONTAINER, &[exited(0), EMPTIED]),
            [up, None, Some(Mood::Ended)]
        );
    }

    #[test]
    fn each_ending_is_told_and_a_soft_reboot_is_none() {
        let by = |signal| told(CONTAINER, &[Event::Signaled(signal)])[1];
        for (signal, is_stopping, mood) in [
            (Signal::TERM, true, Mood::Stopping),
            (realtime(4), true, Mood::Stopping),
            (realtime(5), true, Mood::Rebooting),
            (realtime(6), true, Mood::Rebooting),
            (realtime(7), false, Mood::Again),
        ] {
            let told = by(signal);
            assert_eq!(told.mood, Some(mood), "{signal}");
            assert_eq!(told.is_stopping, is_stopping, "{signal}");
            assert!(!told.is_ready, "{signal}");
        }
    }
}
