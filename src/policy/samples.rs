//! Rules and settings that the tests of this room share.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::{Exit, Failure, Step};
use crate::base::signal::Signal;
use crate::policy::backoff::Backoff;
use crate::policy::config::{Shutdown, Signals};
use crate::policy::event::{Action, Actions};
use crate::policy::service::{Restart, Rules};
use crate::policy::settings::{Facts, Hopeless, Manager, Probation, Role, Settings, Shell};
use crate::policy::trial::{self, OnHalt, WayBack};
use crate::policy::vigil;

/// A host as the config's defaults make it.
pub(super) const RULES: Rules = Rules {
    restart: Restart::Always,
    stop_signal: Signal::TERM,
    stop_grace: Duration::from_secs(10),
    backoff: Backoff {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(60),
        reset: Duration::from_secs(60),
    },
    asks: false,
    vigil: vigil::Rules::NONE,
};

/// A machine with a host, two mounts of which the first is required, a
/// directory, and a shell.
pub(super) const MACHINE: Settings = Settings {
    facts: Facts {
        role: Role::Machine,
        manager: Manager::Other,
        shell: Shell::Spare,
        hopeless: Hopeless::RestartAfter(Duration::from_secs(10)),
    },
    mounts: 2,
    required: 0b01,
    mount_bound: Duration::from_secs(90),
    directories: true,
    host: Some(RULES),
    trial: None,
    shutdown: Shutdown::BUILT_IN,
    signals: Signals::BUILT_IN,
};

/// A machine with a host and nothing to mount.
pub(super) const BARE: Settings = Settings {
    mounts: 0,
    required: 0,
    directories: false,
    ..MACHINE
};

/// A machine whose host is on trial, and has versions.
pub(super) const TRIED: Settings = Settings {
    host: Some(Rules {
        asks: true,
        ..RULES
    }),
    trial: Some(Probation {
        rules: trial::Rules {
            limit: 3,
            way_back: WayBack::Link,
            on_halt: OnHalt::Stay,
        },
        healthy_after: Duration::from_secs(30),
        take_back: Duration::from_secs(300),
    }),
    ..BARE
};

/// A machine whose host is on trial, and says how it is.
pub(super) const WATCHED: Settings = Settings {
    host: Some(Rules {
        asks: true,
        vigil: vigil::Rules {
            ready_within: Some(Duration::from_secs(90)),
            watchdog: Some(Duration::from_secs(20)),
        },
        ..RULES
    }),
    ..TRIED
};

/// A container with a host.
pub(super) const CONTAINER: Settings = Settings {
    facts: Facts {
        role: Role::Container,
        manager: Manager::Other,
        shell: Shell::Missing,
        hopeless: Hopeless::Stay,
    },
    signals: Signals::BUILT_IN.of_container(),
    ..BARE
};

/// A container with a host, whose config asks for what [`MACHINE`]'s does.
pub(super) const MOUNTING: Settings = Settings {
    mounts: MACHINE.mounts,
    required: MACHINE.required,
    directories: MACHINE.directories,
    ..CONTAINER
};

/// How a process ends that a signal ended.
pub(super) const fn by(signal: Signal) -> Exit {
    Exit::Signal {
        signal,
        dumped: false,
    }
}

/// A start for which there was no process.
pub(super) const NO_PROCESS: Failure = Failure {
    step: Step::Clone,
    errno: Errno::EAGAIN,
};

/// `RTMIN+n`.
pub(super) fn realtime(n: u8) -> Signal {
    Signal::realtime(n).unwrap()
}

/// Takes what is to be done.
pub(super) fn taken(actions: &mut Actions) -> Vec<Action> {
    assert_eq!(actions.lost(), 0);
    core::iter::from_fn(|| actions.pop()).collect()
}
