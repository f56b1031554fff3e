//! Which signals an init passes on, and as what.

use std::time::Duration;

use crate::init::{End, Init};
use crate::lines::eventually;
use crate::peer::{PEERS, Peer, Program};
use crate::place::Place;
use crate::start::{ROLES, Role, Start};
use crate::system::signals;
use crate::trial::trial;

/// The highest signal: it is taken after all others that came before it, so what
/// was not passed on when it is was dropped.
const LAST: i32 = 64;

/// The signals that say that a process itself is at fault.
const FAULTS: [i32; 7] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
];

/// The signals by which a terminal stops what is not to use it.
const STOPS: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The signals that an init may treat as any other, whoever it is.
fn plain() -> impl Iterator<Item = i32> {
    signals().filter(|number| {
        let is_forced = matches!(*number, libc::SIGKILL | libc::SIGSTOP | libc::SIGCHLD);
        !is_forced && !FAULTS.contains(number) && !STOPS.contains(number)
    })
}

/// An init whose program records, with these flags.
pub(crate) fn recorded(place: &mut Place, program: &Program, role: Role, flags: &[&str]) -> Init {
    let start = Start::new(place, program).role(role).words(flags);
    let init = start
        .words(&["--", &place.recorder(), "records", "1000"])
        .spawn();
    assert_eq!(place.told.next(), "up");
    init
}

/// What the program is sent when the init is sent this.
fn passed(place: &mut Place, init: &Init, number: i32) -> Vec<String> {
    init.signal(number);
    init.signal(LAST);
    let end = format!("signal {LAST} from {}", init.pid_inside());
    let mut found = Vec::new();
    loop {
        let line = place.told.next();
        if line == end {
            break;
        }
        found.push(line);
    }
    if number == LAST {
        // It is the first of two that was taken for the mark.
        found.push(place.told.next());
    }
    found
}

fn from(init: &Init, number: i32) -> Vec<String> {
    vec![format!("signal {number} from {}", init.pid_inside())]
}

#[test]
fn every_signal_is_passed_on_unchanged() {
    for peer in PEERS {
        let modes: &[&[&str]] = match peer {
            Peer::Tini | Peer::Catatonit => &[&[], &["-g"]],
            Peer::DumbInit => &[&[], &["-c"]],
        };
        trial(peer, |trial| {
            for role in ROLES {
                for flags in modes {
                    trial.both(
                        &format!("{role:?} {flags:?}"),
                        &Vec::new(),
                        |place, program| {
                            let init = recorded(place, program, role, flags);
                            let is_wrong = |number: &i32| {
                                passed(place, &init, *number) != from(&init, *number)
                            };
                            plain().filter(is_wrong).collect::<Vec<i32>>()
                        },
                    );
                }
            }
        });
    }
}

#[test]
fn a_signal_that_is_sent_many_times_is_passed_on_while_it_queues() {
    for peer in PEERS {
        trial(peer, |trial| {
            trial.both("ten of RTMIN+3", &10, |place, program| {
                let init = recorded(place, program, Role::First, &[]);
                for _ in 0..10 {
                    init.signal(37);
                }
                let passed = passed(place, &init, 36);
                passed
                    .iter()
                    .filter(|line| line.starts_with("signal 37 "))
                    .count()
            });
        });
    }
}

#[test]
fn the_stops_of_a_terminal_are_each_peers_own() {
    for (peer, expected) in [(Peer::Tini, &[libc::SIGTSTP][..]), (Peer::Catatonit, &[])] {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(
                    &format!("{role:?}"),
                    &expected.to_vec(),
                    |place, program| {
                        let init = recorded(place, program, role, &[]);
                        let is_passed =
                            |number: &i32| passed(place, &init, *number) == from(&init, *number);
                        STOPS.into_iter().filter(is_passed).collect::<Vec<i32>>()
                    },
                );
            }
        });
    }
}

#[test]
fn dumb_init_stops_itself_with_its_session_and_both_go_on() {
    trial(Peer::DumbInit, |trial| {
        for number in STOPS {
            // A first process can't be stopped from within.
            trial.both(&number.to_string(), &(), |place, program| {
                let init = recorded(place, program, Role::Ordinary, &[]);
                let program = init.pid_inside() + 1;
                init.signal(number);
                for pid in [program, init.pid_inside()] {
                    eventually("a stop", || init.state_inside(pid) == Some('T'));
                }

                init.signal(libc::SIGCONT);

                let cont = from(&init, libc::SIGCONT);
                assert_eq!([place.told.next()], cont.as_slice());
                eventually("the program", || init.state_inside(program) != Some('T'));
            });
        }
    });
}

#[test]
fn dumb_init_with_a_single_child_passes_a_stop_on_and_stops_itself() {
    trial(Peer::DumbInit, |trial| {
        for number in STOPS {
            for (flags, expected) in [
                (vec!["-c".to_owned()], number),
                (vec!["-r".to_owned(), format!("{number}:12")], libc::SIGUSR2),
            ] {
                let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
                trial.both(&format!("{number} {flags:?}"), &(), |place, program| {
                    let init = recorded(place, program, Role::Ordinary, &flags);
                    init.signal(number);
                    assert_eq!([place.told.next()], from(&init, expected).as_slice());
                    eventually("its stop", || {
                        init.state_inside(init.pid_inside()) == Some('T')
                    });
                    init.signal(libc::SIGCONT);
                    assert_eq!([place.told.next()], from(&init, libc::SIGCONT).as_slice());
                });
            }
        }
    });
}

#[test]
fn a_fault_that_somebody_sends_is_a_signal_as_any_other_to_dumb_init() {
    // tini and catatonit are in `differences`.
    trial(Peer::DumbInit, |trial| {
        for role in ROLES {
            trial.both(&format!("{role:?}"), &Vec::new(), |place, program| {
                let init = recorded(place, program, role, &[]);
                let is_wrong = |number: &i32| passed(place, &init, *number) != from(&init, *number);
                FAULTS.into_iter().filter(is_wrong).collect::<Vec<i32>>()
            });
        }
    });
}

#[test]
fn an_exit_of_another_child_is_not_passed_on() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(&format!("{role:?}"), &true, |place, program| {
                    let init = recorded(place, program, role, &[]);
                    passed(place, &init, libc::SIGCHLD).is_empty()
                });
            }
        });
    }
}

#[test]
fn a_program_may_ask_its_init() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                for (number, end) in [(libc::SIGTERM, 143), (libc::SIGHUP, 129), (40, 168)] {
                    let recorder = trial.place().recorder();
                    let words = [&recorder, "asks", &number.to_string()];
                    trial.ends(role, &words, End::Code(end));
                }
            }
        });
    }
}

#[test]
fn a_signal_that_is_rewritten_comes_as_the_other() {
    trial(Peer::DumbInit, |trial| {
        for role in ROLES {
            for (flags, number, expected) in [
                (&["-r", "15:2"][..], 15, Some(2)),
                (&["-r", "15:2"], 2, Some(2)),
                (&["-r", "15:0"], 15, None),
                (&["-r", "15:0"], 1, Some(1)),
                // Once, not again and again; the last one counts.
                (&["-r", "1:2", "-r", "2:3"], 1, Some(2)),
                (&["-r", "1:2", "-r", "1:10"], 1, Some(10)),
                (&["-r", "1:0", "-r", "1:1"], 1, Some(1)),
                (&["-c", "-r", "28:10"], 28, Some(10)),
                (&["-r", "31:1"], 31, Some(1)),
                (&["-r", "1:31"], 1, Some(31)),
                (&["-r", "15:3junk"], 15, Some(3)),
                // Those of faults are signals as any other.
                (&["-r", "11:10"], 11, Some(10)),
            ] {
                trial.both(
                    &format!("{role:?} {flags:?} {number}"),
                    &expected,
                    |place, program| {
                        let init = recorded(place, program, role, flags);
                        let passed = passed(place, &init, number);
                        let of = |number: &i32| passed == from(&init, *number);
                        assert!(passed.len() < 2, "{passed:?}");
                        (!passed.is_empty()).then(|| signals().find(of).unwrap_or(0))
                    },
                );
            }
        }
    });
}

#[test]
fn a_pause_ends_by_the_signals_that_stop_it_and_no_other() {
    trial(Peer::Catatonit, |trial| {
        for role in ROLES {
            for number in [libc::SIGTERM, libc::SIGINT] {
                for words in [&["-P"][..], &["-P", "--", "/no/such", "-x"], &["-gP"]] {
                    let what = format!("{role:?} {words:?} {number}");
                    trial.both(&what, &End::Code(0), |place, program| {
                        let mut init = Start::new(place, program).role(role).words(words).spawn();
                        init.is_asleep();
                        for other in plain() {
                            if ![libc::SIGTERM, libc::SIGINT].contains(&other) {
                                init.signal(other);
                            }
                        }
                        init.has_heard_all();
                        assert!(init.lives_for(Duration::ZERO));
                        init.signal(number);
                        init.end()
                    });
                }
            }
        }
    });
}
