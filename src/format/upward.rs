//! The container's side of `sd_notify(3)`, and the names of those who listen.

use crate::policy::settings::Manager;
use crate::policy::upward::Mood;

/// The host was started.
pub const READY: &str = "READY=1";

/// The end has begun.
pub const STOPPING: &str = "STOPPING=1";

/// What `STATUS=` says of this mood.
pub const fn status(mood: Mood) -> &'static str {
    match mood {
        Mood::Preparing => "STATUS=preparing what the config asks for",
        Mood::Idle => "STATUS=no host to run",
        Mood::Starting => "STATUS=the host is up, and not ready yet",
        Mood::Up => "STATUS=the host is up",
        Mood::Failed => "STATUS=the host failed, and is started again soon",
        Mood::Ended => "STATUS=the host ended, and is started again soon",
        Mood::Stuck => "STATUS=the host can't be killed",
        Mood::Hopeless => "STATUS=the host can't be started",
        Mood::Halted => "STATUS=the host failed too often, and is not started any more",
        Mood::Rescue => "STATUS=a person has a shell",
        Mood::Again => "STATUS=stopping, to start again",
        Mood::Rebooting => "STATUS=stopping, to be restarted",
        Mood::Stopping => "STATUS=stopping",
    }
}

/// The code that the container is about to end with, which comes behind it in
/// decimal.
pub const EXIT: &str = "EXIT_STATUS=";

/// Whom the value of `container=` names: `lxc` and its kin (`lxc-libvirt`), or
/// `systemd-nspawn`.
pub fn manager(name: &[u8]) -> Manager {
    if name.starts_with(b"lxc") {
        Manager::Lxc
    } else if name == b"systemd-nspawn" {
        Manager::Nspawn
    } else {
        Manager::Other
    }
}

/// Variables that are between host-init and whoever runs the container: about
/// descriptors and messages that the host has not got. What begins with
/// `HOST_INIT_` is host-init's own as well.
const OWN: [&[u8]; 7] = [
    b"NOTIFY_SOCKET",
    b"WATCHDOG_PID",
    b"WATCHDOG_USEC",
    b"LISTEN_FDS",
    b"LISTEN_PID",
    b"LISTEN_PIDFDID",
    b"LISTEN_FDNAMES",
];

/// Whether the variable of this name is for host-init, and not for the host.
pub fn is_own(name: &[u8]) -> bool {
    name.starts_with(b"HOST_INIT_") || OWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_one_line_of_its_own() {
        let moods = [
            Mood::Preparing,
            Mood::Idle,
            Mood::Starting,
            Mood::Up,
            Mood::Failed,
            Mood::Ended,
            Mood::Stuck,
            Mood::Hopeless,
            Mood::Rescue,
            Mood::Again,
            Mood::Rebooting,
            Mood::Stopping,
        ];
        for (index, mood) in moods.into_iter().enumerate() {
            let text = status(mood);
            assert!(text.starts_with("STATUS=") && !text.contains('\n'));
            let first = moods.iter().position(|other| status(*other) == text);
            assert_eq!(first, Some(index));
        }
    }

    #[test]
    fn managers_are_known_by_their_names() {
        for (name, expected) in [
            ("lxc", Manager::Lxc),
            ("lxc-libvirt", Manager::Lxc),
            ("systemd-nspawn", Manager::Nspawn),
            ("systemd-nspawn2", Manager::Other),
            ("docker", Manager::Other),
            ("", Manager::Other),
        ] {
            assert_eq!(manager(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn what_is_between_manager_and_init_is_not_the_hosts() {
        for own in [
            "NOTIFY_SOCKET",
            "LISTEN_FDS",
            "HOST_INIT_",
            "HOST_INIT_CONFIG",
        ] {
            assert!(is_own(own.as_bytes()), "{own}");
        }
        for other in [
            "container",
            "LISTEN",
            "LISTEN_FDS_",
            "HOST_INITIAL",
            "host_init_",
        ] {
            assert!(!is_own(other.as_bytes()), "{other}");
        }
    }
}
