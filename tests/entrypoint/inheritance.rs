//! What an init's program begins with, and what the init keeps of its own.

use std::fs;
use std::os::fd::AsRawFd;

use crate::init::End;
use crate::lines::eventually;
use crate::peer::{PEERS, Peer, Program};
use crate::place::Place;
use crate::start::{ROLES, Role, Start};
use crate::system::{ALL, bit, null};
use crate::trial::trial;

/// What the program of such an init finds.
pub(crate) fn report(place: &mut Place, start: Start, flags: &[&str]) -> Vec<String> {
    let recorder = &place.recorder();
    let words = [flags, &["--", recorder, "report", "a word"]].concat();
    assert_eq!(start.words(&words).run().end, End::Code(0));
    let mut lines = Vec::new();
    loop {
        let line = place.told.next();
        if line == "end" {
            return lines;
        }
        lines.push(line);
    }
}

/// One line of a report.
pub(crate) fn of<'r>(report: &'r [String], name: &str) -> &'r str {
    let line = report.iter().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("{name}: {report:#?}")).trim()
}

/// The flags of each peer that change what its program is.
const fn modes(peer: Peer) -> &'static [&'static [&'static str]] {
    match peer {
        Peer::Tini => &[&[], &["-g"], &["-s"]],
        Peer::DumbInit => &[&[], &["-c"]],
        Peer::Catatonit => &[&[], &["-g"]],
    }
}

/// A report without what is another on purpose: see `differences`.
fn comparable(peer: Peer, mut report: Vec<String>) -> Vec<String> {
    let blocked = peer == Peer::Catatonit;
    report.retain(|line| !(blocked && line.starts_with("SigBlk:")));
    report
}

#[test]
fn a_program_begins_as_it_does_with_the_peer() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                for flags in modes(peer) {
                    for leads in [true, false] {
                        // A first process is in no session but its own.
                        let leads = leads || role == Role::First;
                        trial.same(&format!("{role:?} {flags:?} {leads}"), |place, program| {
                            let mut start = Start::new(place, program).role(role);
                            start.leads = leads;
                            comparable(peer, report(place, start.open(&[3, 50, 255]), flags))
                        });
                    }
                }
            }
        });
    }
}

#[test]
fn a_program_has_the_session_and_the_group_that_it_should() {
    // Its session and its group, where 2 is the init and 3 the program.
    let modes: [(Peer, &[&str], &str, &str); 7] = [
        (Peer::Tini, &[], "2", "3"),
        (Peer::Tini, &["-g"], "2", "3"),
        (Peer::DumbInit, &[], "3", "3"),
        (Peer::DumbInit, &["-c"], "2", "2"),
        (Peer::DumbInit, &["--single-child"], "2", "2"),
        (Peer::Catatonit, &[], "2", "3"),
        (Peer::Catatonit, &["-g"], "2", "3"),
    ];
    for (peer, flags, session, group) in modes {
        trial(peer, |trial| {
            let expected = [session, group, "3", "2"].map(str::to_owned);
            trial.both(&format!("{flags:?}"), &expected, |place, program| {
                let start = Start::new(place, program);
                let report = report(place, start, flags);
                ["session:", "group:", "pid:", "parent:"].map(|name| of(&report, name).to_owned())
            });
        });
    }
}

/// HUP and QUIT, which nohup(1) and shells ignore.
const IGNORED: u64 = bit(libc::SIGHUP) | bit(libc::SIGQUIT);

/// Every signal but that which tells of children.
const OTHERS: u64 = ALL & !bit(libc::SIGCHLD);

#[test]
fn what_was_blocked_and_ignored_is_for_the_program_too() {
    // dumb-init and catatonit are in `differences`.
    trial(Peer::Tini, |trial| {
        for role in ROLES {
            for blocked in [0, bit(libc::SIGTERM) | bit(40), ALL] {
                for ignored in [0, IGNORED, bit(libc::SIGTTOU), OTHERS] {
                    let what = format!("{role:?} {blocked:x} {ignored:x}");
                    trial.same(&what, |place, program| {
                        let start = Start::new(place, program).role(role);
                        report(place, start.blocked(blocked).ignored(ignored), &[])
                    });
                }
            }
        }
    });
}

#[test]
fn an_exit_is_not_lost_to_whoever_ignored_children() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                for (blocked, ignored) in [
                    (0, bit(libc::SIGCHLD)),
                    (ALL, bit(libc::SIGCHLD)),
                    (ALL, ALL),
                    (ALL, 0),
                ] {
                    // The others wait for ever: see `differences`.
                    if peer != Peer::DumbInit && ignored != 0 {
                        continue;
                    }
                    let what = format!("{role:?} {blocked:x} {ignored:x}");
                    trial.both(&what, &End::Code(3), |place, program| {
                        let start = Start::new(place, program).role(role);
                        let start = start.blocked(blocked).ignored(ignored);
                        start.words(&[&place.recorder(), "exit", "3"]).run().end
                    });
                }
            }
        });
    }
}

#[test]
fn signals_that_were_blocked_and_ignored_are_passed_on() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(&format!("{role:?}"), &15, |place, program| {
                    let start = Start::new(place, program).role(role);
                    let start = start.blocked(ALL).ignored(OTHERS);
                    let init = start.words(&[&place.recorder(), "records", "1"]).spawn();
                    assert_eq!(place.told.next(), "up");
                    init.signal(libc::SIGTERM);
                    let line = place.told.next();
                    line.split_whitespace()
                        .nth(1)
                        .unwrap()
                        .parse::<i32>()
                        .unwrap()
                });
            }
        });
    }
}

/// The directory of a running init itself, and its descriptors above 2 that it was
/// given.
pub(crate) fn kept(place: &mut Place, program: &Program) -> String {
    let start = Start::new(place, program).open(&[50, 255]);
    let init = start.words(&[&place.recorder(), "up"]).spawn();
    place.told.next();
    // It may be at it yet.
    init.is_asleep();
    let directory = fs::read_link(init.proc("cwd")).unwrap();
    let place = if directory == place.path() {
        "here"
    } else {
        "elsewhere"
    };
    let directory = if directory.as_os_str() == "/" {
        "/"
    } else {
        place
    };
    let mut descriptors = init.descriptors();
    descriptors.retain(|number| [50, 255].contains(number));
    format!("{directory} {descriptors:?}")
}

#[test]
fn standard_descriptors_stay_with_the_init_and_its_program() {
    for peer in PEERS {
        trial(peer, |trial| {
            for closed in 0..8_usize {
                // tini ends without its first: see `differences`.
                if peer == Peer::Tini && closed & 1 == 1 {
                    continue;
                }
                trial.same(&format!("{closed:#b}"), |place, program| {
                    let mut start = Start::new(place, program);
                    for number in (0..3).filter(|number| closed >> number & 1 == 1) {
                        start = start.stdio(number, None);
                    }
                    let report = report(place, start, &[]);
                    let is_descriptor = |line: &&String| line.starts_with("fd ");
                    report
                        .iter()
                        .filter(is_descriptor)
                        .cloned()
                        .collect::<Vec<String>>()
                });
            }
        });
    }
}

#[test]
fn an_offset_is_shared_as_descriptors_are() {
    for peer in PEERS {
        trial(peer, |trial| {
            trial.both("a file", &"firstsecond".to_owned(), |place, program| {
                let path = place.path().join("file");
                fs::write(&path, "first").unwrap();
                let file = fs::File::options().append(true).open(&path).unwrap();
                assert!(file.as_raw_fd() > 2);
                let start = Start::new(place, program).stdio(1, Some(file.into()));
                start
                    .stdio(0, Some(null()))
                    .words(&["--", "printf", "second"])
                    .run();
                fs::read_to_string(&path).unwrap()
            });
        });
    }
}

#[test]
fn a_program_that_outlives_its_init_is_the_parents() {
    for peer in PEERS {
        trial(peer, |trial| {
            trial.both("KILL", &true, |place, program| {
                let start = Start::new(place, program);
                let mut init = start.words(&[&place.recorder(), "records", "9"]).spawn();
                place.told.next();
                init.signal(libc::SIGKILL);
                assert_eq!(init.end(), End::Signal(libc::SIGKILL));
                eventually("the program", || init.state_inside(3) == Some('S'));
                true
            });
        });
    }
}
