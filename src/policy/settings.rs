//! What the rules need of the config, the kernel command line and the machine.

use core::time::Duration;

use crate::policy::backoff::Backoff;
use crate::policy::config::{Config, Need, Shutdown, Signals};
use crate::policy::service::{Restart, Rules};

/// Where host-init is PID 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The machine's first process: it mounts, and ends by `reboot(2)`.
    Machine,
    /// A container's: it mounts nothing, and ends by its exit code.
    Container,
}

/// What is known when the rules start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Where host-init is PID 1.
    pub role: Role,
    /// Whether the image has a shell for a person.
    pub shell: Shell,
    /// What happens when nothing can go on: `panic=` of the command line.
    pub hopeless: Hopeless,
}

/// Whether a person can be given a shell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shell {
    /// There is none in the image.
    Missing,
    /// It is started when nothing else can be.
    Spare,
    /// A person asked for it before anything else.
    First,
}

/// What happens when nothing can go on and nobody can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hopeless {
    /// It stays as it is: somebody wants to look at it.
    Stay,
    /// It restarts after this time.
    RestartAfter(Duration),
}

/// What the rules need, all of it plain numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What is known of the machine.
    pub facts: Facts,
    /// How many filesystems there are to mount.
    pub mounts: u8,
    /// Bit n is set when mount n is required.
    pub required: u32,
    /// How long each mount may take, at the most: its wait and the work.
    pub mount_bound: Duration,
    /// Whether directories are to be made.
    pub directories: bool,
    /// The host, if the config has one.
    pub host: Option<Rules>,
    /// How long the last steps may take.
    pub shutdown: Shutdown,
    /// What the classic signals ask for.
    pub signals: Signals,
}

/// How long a filesystem may take to be mounted once its device is there: the
/// time to replay a large journal on a slow disk.
const MOUNT: Duration = Duration::from_secs(90);

impl Settings {
    /// The settings that follow from a config.
    pub fn new(config: &Config<'_>, facts: Facts) -> Self {
        let mut required = 0_u32;
        let mut wait = Duration::ZERO;
        for (index, mount) in (0_u32..).zip(&config.mounts) {
            wait = wait.max(mount.wait);
            if mount.need == Need::Required {
                required |= 1_u32.checked_shl(index).unwrap_or(0);
            }
        }
        Self {
            facts,
            mounts: u8::try_from(config.mounts.len()).unwrap_or(u8::MAX),
            required,
            mount_bound: wait.saturating_add(MOUNT),
            directories: !config.directories.is_empty(),
            host: config.host.as_ref().map(|host| Rules {
                restart: Restart::Always,
                stop_signal: host.stop_signal,
                stop_grace: host.stop_grace,
                backoff: Backoff {
                    first: host.backoff,
                    longest: host.backoff_max,
                    reset: host.backoff_reset,
                },
            }),
            shutdown: config.shutdown,
            signals: config.signals,
        }
    }

    /// Whether the boot can't go on without this mount.
    pub const fn is_required(&self, mount: u8) -> bool {
        match self.required.checked_shr(u32_from(mount)) {
            Some(bits) => bits & 1 == 1,
            None => false,
        }
    }
}

/// `u32::from` is not a const fn.
#[expect(clippy::as_conversions, reason = "a u8 always fits")]
const fn u32_from(value: u8) -> u32 {
    value as u32
}
