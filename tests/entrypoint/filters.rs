//! What host-init does where a filter refuses a system call.

use std::time::{Duration, Instant};

use crate::init::End;
use crate::options::host_init;
use crate::place::Place;
use crate::start::{ROLES, Role, Start, Terminal};
use crate::system::terminal;

/// Newer than some filters, which refuse what they do not know.
const CALLS: [libc::c_long; 5] = [
    libc::SYS_pidfd_send_signal,
    libc::SYS_clone3,
    libc::SYS_close_range,
    libc::SYS_pidfd_open,
    libc::SYS_statx,
];

#[test]
fn a_filter_of_newer_calls_keeps_no_signal_from_the_command() {
    let mut place = Place::new();
    for call in CALLS {
        for role in ROLES {
            for flags in [&[][..], &["--group"], &["--kill-after=0"]] {
                place.forget();
                let recorder = &place.recorder();
                let words = [flags, &["--", recorder, "up"]].concat();
                let start = Start::new(&place, &host_init()).role(role).refused(call);
                let mut init = start.words(&words).spawn();
                assert_eq!(place.told.next(), "up", "{call} {role:?} {flags:?}");

                init.signal(libc::SIGTERM);

                let end = init.end();
                let is_killed = flags == ["--kill-after=0"] && end == End::Code(137);
                let is_stopped = end == End::Code(143);
                assert!(
                    is_stopped || is_killed,
                    "{call} {role:?} {flags:?}: {end:?}"
                );
            }
        }
    }
}

#[test]
fn a_filter_of_newer_calls_takes_no_time_from_a_terminal() {
    let mut place = Place::new();
    for call in CALLS {
        place.forget();
        let (_keys, slave) = terminal();
        let start = Start::new(&place, &host_init()).role(Role::First);
        let start = start.terminal(Terminal::Own, &slave).refused(call);
        let begin = Instant::now();
        let mut init = start.words(&["--", &place.recorder(), "exit", "7"]).spawn();

        assert_eq!(init.end(), End::Code(7), "{call}");

        assert!(begin.elapsed() < Duration::from_secs(5), "{call}");
    }
}
