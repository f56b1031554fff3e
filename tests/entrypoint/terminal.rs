//! Inits on a terminal: whose it is, its keys, its window, its end.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::init::{End, Init};
use crate::peer::{PEERS, Peer, Program};
use crate::place::Place;
use crate::start::{ROLES, Role, Start, Terminal};
use crate::system::terminal;
use crate::trial::trial;

/// An init on a terminal, and who types there.
pub(crate) struct Session {
    pub(crate) init: Init,
    keys: File,
}

impl Session {
    pub(crate) fn new(
        place: &Place,
        program: &Program,
        role: Role,
        kind: Terminal,
        words: &[&str],
    ) -> Self {
        let (master, slave) = terminal();
        let start = Start::new(place, program).role(role).terminal(kind, &slave);
        Self {
            init: start.words(words).spawn(),
            keys: master.into(),
        }
    }

    /// Types Ctrl and a letter.
    pub(crate) fn control(&mut self, letter: u8) {
        self.keys.write_all(&[letter & 0x1f]).unwrap();
    }

    /// Makes the window another size.
    pub(crate) fn resize(&self, rows: u16) {
        let size = libc::winsize {
            ws_row: rows,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: the kernel reads one size.
        let set = unsafe { libc::ioctl(self.keys.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
        assert_eq!(set, 0);
    }

    /// The group in the foreground, by its number out here.
    pub(crate) fn foreground(&self) -> i32 {
        // SAFETY: asks about a descriptor.
        unsafe { libc::tcgetpgrp(self.keys.as_raw_fd()) }
    }

    /// Closes the window.
    pub(crate) fn hang_up(self) -> Init {
        drop(OwnedFd::from(self.keys));
        self.init
    }
}

/// A session whose program takes signals, and what it says first.
fn recorded(
    place: &mut Place,
    program: &Program,
    role: Role,
    kind: Terminal,
    flags: &[&str],
) -> (Session, String) {
    let recorder = &place.recorder();
    let words = [flags, &["--", recorder, "terminal"]].concat();
    let session = Session::new(place, program, role, kind, &words);
    let first = place.told.next();
    assert_eq!(place.told.next(), "up");
    (session, first)
}

#[test]
fn the_terminal_is_the_programs_as_it_is_with_the_peer() {
    let modes: [(Peer, &[&str], &str); 6] = [
        (Peer::Tini, &[], "leads-group true leads-session false"),
        (Peer::Tini, &["-g"], "leads-group true leads-session false"),
        (Peer::DumbInit, &[], "leads-group true leads-session true"),
        (
            Peer::DumbInit,
            &["-c"],
            "leads-group false leads-session false",
        ),
        (Peer::Catatonit, &[], "leads-group true leads-session false"),
        (
            Peer::Catatonit,
            &["-g"],
            "leads-group true leads-session false",
        ),
    ];
    for (peer, flags, leads) in modes {
        trial(peer, |trial| {
            let expected = format!("foreground true {leads} controlled true");
            for role in ROLES {
                trial.both(
                    &format!("{role:?} {flags:?}"),
                    &expected,
                    |place, program| recorded(place, program, role, Terminal::Own, flags).1,
                );
            }
            // From a shell, dumb-init has no right to the terminal.
            if peer != Peer::DumbInit || flags == ["-c"] {
                trial.both(&format!("{flags:?}, a job"), &expected, |place, program| {
                    recorded(place, program, Role::Ordinary, Terminal::OfAnother, flags).1
                });
            }
        });
    }
}

#[test]
fn keys_and_the_window_reach_the_program_once() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                let numbers = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGWINCH];
                let expected: Vec<String> = numbers
                    .iter()
                    .map(|number| format!("signal {number} from 0"))
                    .collect();
                trial.both(&format!("{role:?}"), &expected, |place, program| {
                    let (mut session, _) = recorded(place, program, role, Terminal::Own, &[]);
                    let mut lines = Vec::new();
                    for letter in [b'C', b'\\', b'Z'] {
                        session.control(letter);
                        lines.push(place.told.next());
                    }
                    session.resize(30);
                    lines.push(place.told.next());
                    // What the init would pass on comes before this.
                    session.init.signal(64);
                    let mark = format!("signal 64 from {}", session.init.pid_inside());
                    assert_eq!(place.told.next(), mark);
                    lines
                });
            }
        });
    }
}

#[test]
fn a_key_ends_the_program_and_its_init_tells_of_it() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                for (letter, end) in [(b'C', 130), (b'\\', 131)] {
                    trial.both(&format!("{role:?}"), &End::Code(end), |place, program| {
                        let words = [&place.recorder(), "up"];
                        let mut session = Session::new(place, program, role, Terminal::Own, &words);
                        place.told.next();
                        session.control(letter);
                        session.init.end()
                    });
                }
            }
        });
    }
}

#[test]
fn the_end_of_a_terminal_is_the_programs_end() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(&format!("{role:?}"), &End::Code(129), |place, program| {
                    let words = [&place.recorder(), "up"];
                    let session = Session::new(place, program, role, Terminal::Own, &words);
                    place.told.next();
                    session.hang_up().end()
                });
            }
        });
    }
}

#[test]
fn giving_up_the_terminal_is_nothing_to_the_program_and_real_signals_are() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                let expected = [64, libc::SIGHUP, libc::SIGCONT, libc::SIGHUP, libc::SIGCONT];
                trial.both(
                    &format!("{role:?}"),
                    &expected.to_vec(),
                    |place, program| {
                        let (session, _) = recorded(place, program, role, Terminal::Own, &[]);
                        let mut numbers = Vec::new();
                        for number in expected {
                            session.init.signal(number);
                            let line = place.told.next();
                            let from = format!(" from {}", session.init.pid_inside());
                            let number = line.strip_prefix("signal ").unwrap();
                            numbers
                                .push(number.strip_suffix(&from).unwrap().parse::<i32>().unwrap());
                        }
                        numbers
                    },
                );
            }
        });
    }
}

#[test]
fn no_program_dies_of_a_terminal_that_is_given_up() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(&format!("{role:?}"), &true, |place, program| {
                    let words = [&place.recorder(), "exit", "6"];
                    let end = || {
                        let kind = Terminal::Own;
                        Session::new(place, program, role, kind, &words).init.end()
                    };
                    (0..50).all(|_| end() == End::Code(6))
                });
            }
        });
    }
}

#[test]
fn a_terminal_that_controls_nobody_is_a_file_as_any_other() {
    for peer in PEERS {
        trial(peer, |trial| {
            trial.same("a terminal", |place, program| {
                let (_master, slave) = terminal();
                let mut start = Start::new(place, program);
                for number in 0..3 {
                    start = start.stdio(number, Some(slave.try_clone().unwrap()));
                }
                let words = [&place.recorder(), "exit", "6"];
                start.words(&words).run().end
            });
        });
    }
}
