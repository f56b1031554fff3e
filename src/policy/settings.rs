//! What the rules need of the config, the kernel command line and the machine.

use core::time::Duration;

use crate::policy::backoff::Backoff;
use crate::policy::config::{Asked, Config, Host, Need, Ready, Shutdown, Signals};
use crate::policy::service::{Restart, Rules};
use crate::policy::trial::{self, WayBack};
use crate::policy::vigil;

/// Where host-init is PID 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The machine's first process: it mounts, and ends by `reboot(2)`.
    Machine,
    /// A container's: it mounts what the config asks for and nothing else, and ends
    /// by its exit code.
    Container,
}

/// What is known when the rules start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Where host-init is PID 1.
    pub role: Role,
    /// Who runs the container.
    pub manager: Manager,
    /// Whether the image has a shell for a person.
    pub shell: Shell,
    /// What happens when nothing can go on: `panic=` of the command line.
    pub hopeless: Hopeless,
}

/// Who runs a container, as far as it matters: by what they mean with a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manager {
    /// `lxc-stop --reboot` sends INT.
    Lxc,
    /// `machinectl reboot` sends INT.
    Nspawn,
    /// INT is a person's Ctrl-C, or a way to say stop. And nobody, on a machine.
    Other,
}

impl Manager {
    /// What INT asks for that the config has this for.
    const fn int(self, configured: Asked) -> Asked {
        match (self, configured) {
            (Self::Lxc | Self::Nspawn, Asked::Reboot | Asked::Kexec) => Asked::Reboot,
            (Self::Lxc | Self::Nspawn | Self::Other, asked) => asked.of_container(),
        }
    }
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
    /// How often the host may fail, when it is healthy, and what follows.
    pub trial: Option<Probation>,
    /// How long the last steps may take.
    pub shutdown: Shutdown,
    /// What the classic signals ask for.
    pub signals: Signals,
}

/// The host's trial, as the config has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probation {
    /// The rules.
    pub rules: trial::Rules,
    /// How long a host must be up to be healthy.
    pub healthy_after: Duration,
    /// How long taking a version back may take.
    pub take_back: Duration,
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
                asks: host.start_limit > 0,
                vigil: vigil::Rules {
                    ready_within: match host.ready {
                        Ready::None => None,
                        Ready::Notify | Ready::Descriptor(_) => Some(host.ready_timeout),
                    },
                    watchdog: Some(host.watchdog).filter(|interval| !interval.is_zero()),
                },
            }),
            trial: config.host.as_ref().and_then(probation),
            shutdown: config.shutdown,
            signals: match facts.role {
                Role::Machine => config.signals,
                Role::Container => Signals {
                    int: facts.manager.int(config.signals.int),
                    ..config.signals.of_container()
                },
            },
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

fn probation(host: &Host<'_>) -> Option<Probation> {
    (host.start_limit > 0).then_some(Probation {
        rules: trial::Rules {
            limit: host.start_limit,
            way_back: match host.current {
                _ if !host.rollback.is_empty() => WayBack::Command,
                Some(_) => WayBack::Link,
                None => WayBack::None,
            },
            on_halt: host.on_halt,
        },
        healthy_after: host.healthy_after,
        take_back: host.rollback_timeout,
    })
}

/// `u32::from` is not a const fn.
#[expect(clippy::as_conversions, reason = "a u8 always fits")]
const fn u32_from(value: u8) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::signal::Signal;
    use crate::policy::config::{Asked, Directory, Host, Mount};
    use crate::policy::samples::{CONTAINER, MACHINE};

    fn mount(need: Need, wait: u64) -> Mount<'static> {
        Mount {
            source: c"/dev/vda",
            target: c"/data",
            kind: c"ext4",
            options: c"",
            wait: Duration::from_secs(wait),
            need,
        }
    }

    #[test]
    fn the_mounts_that_are_required_are_known_by_their_place() {
        let mut config = Config::default();
        for number in 0..32 {
            let need = if number % 3 == 0 {
                Need::Required
            } else {
                Need::Optional
            };
            config.mounts.push(mount(need, 0)).unwrap();
        }

        let settings = Settings::new(&config, MACHINE.facts);

        assert_eq!(settings.mounts, 32);
        for number in 0..32 {
            assert_eq!(settings.is_required(number), number % 3 == 0, "{number}");
        }
        assert!(!settings.is_required(32));
        assert!(!settings.is_required(u8::MAX));
    }

    #[test]
    fn a_mount_has_the_longest_wait_and_the_time_for_the_work() {
        let mut config = Config::default();
        for wait in [3, 20, 7] {
            config.mounts.push(mount(Need::Optional, wait)).unwrap();
        }

        let settings = Settings::new(&config, MACHINE.facts);

        assert_eq!(settings.mount_bound, Duration::from_secs(20 + 90));
    }

    #[test]
    fn an_empty_config_asks_for_nothing() {
        let settings = Settings::new(&Config::default(), MACHINE.facts);

        assert_eq!(settings.mounts, 0);
        assert!(!settings.directories);
        assert_eq!(settings.host, None);
        assert_eq!(settings.signals, Signals::BUILT_IN);
    }

    #[test]
    fn a_host_is_always_started_again_and_keeps_its_times() {
        let mut config = Config::default();
        config
            .directories
            .push(Directory {
                path: c"/run/host",
                mode: 0o755,
                uid: 0,
                gid: 0,
            })
            .unwrap();
        config.host = Some(Host {
            stop_signal: Signal::INT,
            stop_grace: Duration::from_secs(11),
            backoff: Duration::from_secs(12),
            backoff_max: Duration::from_secs(13),
            backoff_reset: Duration::from_secs(14),
            ready: Ready::Notify,
            ready_timeout: Duration::from_secs(15),
            watchdog: Duration::from_secs(16),
            ..Host::new(heapless::Vec::new())
        });

        let settings = Settings::new(&config, MACHINE.facts);

        assert!(settings.directories);
        assert_eq!(
            settings.host,
            Some(Rules {
                restart: Restart::Always,
                stop_signal: Signal::INT,
                stop_grace: Duration::from_secs(11),
                backoff: Backoff {
                    first: Duration::from_secs(12),
                    longest: Duration::from_secs(13),
                    reset: Duration::from_secs(14),
                },
                asks: false,
                vigil: vigil::Rules {
                    ready_within: Some(Duration::from_secs(15)),
                    watchdog: Some(Duration::from_secs(16)),
                },
            })
        );
    }

    #[test]
    fn who_is_ready_by_a_descriptor_has_as_long_as_who_says_so() {
        let within = |ready| {
            let host = Host {
                ready,
                ..Host::new(heapless::Vec::new())
            };
            let config = Config {
                host: Some(host),
                ..Config::default()
            };
            let rules = Settings::new(&config, MACHINE.facts).host;
            rules.and_then(|rules| rules.vigil.ready_within)
        };

        assert_eq!(within(Ready::None), None);
        assert_eq!(within(Ready::Notify), Some(Duration::from_secs(90)));
        assert_eq!(within(Ready::Descriptor(3)), Some(Duration::from_secs(90)));
    }

    #[test]
    fn int_is_a_reboot_where_the_manager_means_one_and_the_config_lets_it() {
        let int = |manager, int| {
            let config = Config {
                signals: Signals {
                    int,
                    ..Signals::BUILT_IN
                },
                ..Config::default()
            };
            let facts = Facts {
                manager,
                ..CONTAINER.facts
            };
            let settings = Settings::new(&config, facts);
            // Of the others none is.
            assert_eq!(settings.signals.term, Asked::PowerOff);
            settings.signals.int
        };

        for manager in [Manager::Lxc, Manager::Nspawn] {
            assert_eq!(int(manager, Asked::Reboot), Asked::Reboot);
            assert_eq!(int(manager, Asked::Kexec), Asked::Reboot);
            assert_eq!(int(manager, Asked::Halt), Asked::PowerOff);
            assert_eq!(int(manager, Asked::PowerOff), Asked::PowerOff);
            assert_eq!(int(manager, Asked::Ignore), Asked::Ignore);
            assert_eq!(int(manager, Asked::Reload), Asked::Reload);
        }
        assert_eq!(int(Manager::Other, Asked::Reboot), Asked::PowerOff);
        assert_eq!(int(Manager::Other, Asked::Ignore), Asked::Ignore);
    }

    #[test]
    fn each_ending_by_a_classic_signal_is_the_exit_of_a_container() {
        let config = Config {
            signals: Signals {
                term: Asked::Reboot,
                int: Asked::Kexec,
                usr1: Asked::Halt,
                usr2: Asked::PowerOff,
                pwr: Asked::Ignore,
                hup: Asked::Reload,
            },
            ..Config::default()
        };

        let settings = Settings::new(&config, CONTAINER.facts);

        assert_eq!(
            settings.signals,
            Signals {
                term: Asked::PowerOff,
                int: Asked::PowerOff,
                usr1: Asked::PowerOff,
                usr2: Asked::PowerOff,
                pwr: Asked::Ignore,
                hup: Asked::Reload,
            }
        );
    }
}
