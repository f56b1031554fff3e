//! Where the command finds itself: its job, and whom a key of the terminal stops.

use super::OnStop;
use crate::base::job::{Job, Owner};
use crate::base::signal::Signal;

/// How host-init finds itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Whether it is PID 1, which nobody stops.
    pub is_init: bool,
    /// Whether it leads its session.
    pub leads_session: bool,
    /// Whose the terminal on standard input is, if it is one.
    pub terminal: Option<Owner>,
    /// Whether its process group is in the terminal's foreground.
    pub is_foreground: bool,
}

/// Where the command finds itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its session and process group.
    pub job: Job,
    /// Whether it takes the terminal: not from a shell that started host-init in the
    /// background.
    pub takes_terminal: bool,
    /// Whether host-init's session gives the terminal up for it.
    pub gives_up: bool,
    /// Whether keys reach it without host-init.
    pub shares_keys: bool,
    /// What follows when a key stops it.
    pub on_stop: OnStop,
    /// What it gets when a key stops host-init.
    pub key_stop: Option<Signal>,
}

impl Place {
    /// The place for a command whose job somebody wants, or nobody said which.
    pub const fn new(wanted: Option<Job>, found: Found) -> Self {
        let Found {
            is_init,
            leads_session,
            terminal,
            is_foreground,
        } = found;
        let job = match (wanted, terminal) {
            (Some(job), _) => job,
            (None, Some(Owner::Own)) => Job::Session,
            (None, Some(Owner::Other) | None) if leads_session => Job::Session,
            // Whoever started host-init waits for it as for any job.
            (None, Some(Owner::Shared | Owner::Other) | None) => Job::Group,
        };
        Self {
            job,
            takes_terminal: match (job, terminal) {
                (_, None) => false,
                (Job::Group, Some(Owner::Shared)) => is_foreground || is_init,
                (Job::Session | Job::Group | Job::Shared, Some(_)) => true,
            },
            gives_up: matches!((job, terminal), (Job::Session, Some(Owner::Own))),
            shares_keys: matches!(job, Job::Shared),
            on_stop: match (job, terminal) {
                // A session of its own has nobody outside who could continue it, and
                // the kernel does not stop it for a key.
                (Job::Session | Job::Shared, _) | (Job::Group, Some(Owner::Other) | None) => {
                    OnStop::Ignore
                }
                (Job::Group, Some(Owner::Shared)) if !is_init => OnStop::Follow,
                (Job::Group, Some(Owner::Own | Owner::Shared)) => OnStop::Continue,
            },
            key_stop: match job {
                Job::Session | Job::Group | Job::Shared if is_init => None,
                // It would not be stopped by what a key sends.
                Job::Session => Some(Signal::STOP),
                Job::Group | Job::Shared => Some(Signal::TSTP),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINALS: [Option<Owner>; 4] = [
        None,
        Some(Owner::Own),
        Some(Owner::Shared),
        Some(Owner::Other),
    ];

    /// Every way in which host-init may find itself.
    fn all_found() -> impl Iterator<Item = Found> {
        TERMINALS.into_iter().flat_map(|terminal| {
            (0..8).map(move |bits| Found {
                is_init: bits & 1 == 1,
                leads_session: bits & 2 == 2,
                is_foreground: bits & 4 == 4,
                terminal,
            })
        })
    }

    #[test]
    fn the_job_that_somebody_wants_is_the_job() {
        for job in [Job::Session, Job::Group, Job::Shared] {
            for found in all_found() {
                assert_eq!(Place::new(Some(job), found).job, job, "{found:?}");
            }
        }
    }

    #[test]
    fn who_leads_a_session_gives_the_command_one_and_a_shells_job_gives_a_group() {
        for (terminal, leads_session, expected) in [
            (None, true, Job::Session),
            (None, false, Job::Group),
            (Some(Owner::Own), true, Job::Session),
            // A session whose terminal is in use has its job control.
            (Some(Owner::Shared), false, Job::Group),
            (Some(Owner::Other), true, Job::Session),
            (Some(Owner::Other), false, Job::Group),
        ] {
            for is_init in [false, true] {
                let found = Found {
                    is_init,
                    leads_session,
                    terminal,
                    is_foreground: false,
                };
                assert_eq!(Place::new(None, found).job, expected, "{found:?}");
            }
        }
    }

    #[test]
    fn a_terminal_is_given_up_only_for_another_session_and_by_its_owner() {
        for found in all_found() {
            for job in [Job::Session, Job::Group, Job::Shared] {
                let place = Place::new(Some(job), found);
                let expected = job == Job::Session && found.terminal == Some(Owner::Own);
                assert_eq!(place.gives_up, expected, "{job:?} {found:?}");
            }
        }
    }

    #[test]
    fn a_shell_keeps_its_terminal_from_a_job_in_the_background() {
        for found in all_found() {
            for job in [Job::Session, Job::Group, Job::Shared] {
                let place = Place::new(Some(job), found);
                let is_behind = job == Job::Group
                    && found.terminal == Some(Owner::Shared)
                    && !found.is_foreground
                    && !found.is_init;
                let expected = found.terminal.is_some() && !is_behind;
                assert_eq!(place.takes_terminal, expected, "{job:?} {found:?}");
            }
        }
    }

    #[test]
    fn what_follows_a_key_depends_on_who_could_continue_the_command() {
        use OnStop::{Continue, Follow, Ignore};
        for (job, terminal, as_init, elsewhere) in [
            (Job::Session, None, Ignore, Ignore),
            (Job::Session, Some(Owner::Own), Ignore, Ignore),
            (Job::Session, Some(Owner::Shared), Ignore, Ignore),
            (Job::Session, Some(Owner::Other), Ignore, Ignore),
            (Job::Group, None, Ignore, Ignore),
            (Job::Group, Some(Owner::Own), Continue, Continue),
            (Job::Group, Some(Owner::Shared), Continue, Follow),
            (Job::Group, Some(Owner::Other), Ignore, Ignore),
            (Job::Shared, None, Ignore, Ignore),
            (Job::Shared, Some(Owner::Own), Ignore, Ignore),
            (Job::Shared, Some(Owner::Shared), Ignore, Ignore),
            (Job::Shared, Some(Owner::Other), Ignore, Ignore),
        ] {
            for (is_init, expected) in [(true, as_init), (false, elsewhere)] {
                for leads_session in [false, true] {
                    let found = Found {
                        is_init,
                        leads_session,
                        terminal,
                        is_foreground: true,
                    };
                    let place = Place::new(Some(job), found);
                    assert_eq!(place.on_stop, expected, "{job:?} {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_key_that_stops_host_init_stops_the_command_with_what_stops_it() {
        for found in all_found() {
            for (job, signal) in [
                (Job::Session, Signal::STOP),
                (Job::Group, Signal::TSTP),
                (Job::Shared, Signal::TSTP),
            ] {
                let place = Place::new(Some(job), found);
                // Nobody could continue PID 1.
                let expected = Some(signal).filter(|_| !found.is_init);
                assert_eq!(place.key_stop, expected, "{job:?} {found:?}");
                assert_eq!(place.shares_keys, job == Job::Shared);
            }
        }
    }
}
