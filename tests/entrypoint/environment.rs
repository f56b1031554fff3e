//! The variables that are options of the peers, and the names that host-init
//! answers to.

use std::ffi::CString;

use crate::init::{End, Seen};
use crate::peer::{PEERS, Peer, Program};
use crate::place::Place;
use crate::start::{ROLES, Role, Start};
use crate::trial::trial;

fn run(place: &Place, program: &Program, role: Role, variable: &str, words: &[&str]) -> Seen {
    let start = Start::new(place, program).role(role).variable(variable);
    start.words(words).run()
}

#[test]
fn what_tini_says_is_as_much_as_the_variable_wants() {
    trial(Peer::Tini, |trial| {
        let recorder = &trial.place().recorder();
        for value in ["0", "1", "2", "3", "4", "9", "", "x", "2x", " 3", "+2"] {
            // Stronger than the command line.
            for flags in [&[][..], &["-v"], &["-vvv"], &["-w"]] {
                for role in ROLES {
                    let variable = &format!("TINI_VERBOSITY={value}");
                    trial.same(
                        &format!("{role:?} {variable} {flags:?}"),
                        |place, program| {
                            let words = [flags, &["--", recorder, "reaped"]].concat();
                            // Without one that adopts it, the orphan is nobody's.
                            let words = match role {
                                Role::First => words,
                                Role::Ordinary => [&["-s"], words.as_slice()].concat(),
                            };
                            run(place, program, role, variable, &words)
                        },
                    );
                }
            }
        }
        trial.same("a failure in silence", |place, program| {
            run(
                place,
                program,
                Role::Ordinary,
                "TINI_VERBOSITY=0",
                &["/no/such"],
            )
        });
    });
}

#[test]
fn what_dumb_init_says_is_as_much_as_the_variable_wants() {
    trial(Peer::DumbInit, |trial| {
        let recorder = &trial.place().recorder();
        for value in ["1", "0", "", "2", "11", " 1", "true"] {
            for flags in [&[][..], &["-v"], &["-c"]] {
                let variable = &format!("DUMB_INIT_DEBUG={value}");
                let seen = trial.same(&format!("{variable} {flags:?}"), |place, program| {
                    let words = [flags, &["--", recorder, "exit", "9"]].concat();
                    run(place, program, Role::Ordinary, variable, &words)
                });
                let speaks = value == "1" || flags == ["-v"];
                assert_eq!(seen.map(|seen| !seen.complaints.is_empty()), Some(speaks));
            }
        }
    });
}

#[test]
fn the_variables_of_catatonit_count_whatever_they_are() {
    trial(Peer::Catatonit, |trial| {
        let recorder = &trial.place().recorder();
        for value in ["", "0", "1", "x"] {
            for (name, end, speaks) in [
                ("CATATONIT_DEBUG", End::Code(9), true),
                ("CATATONIT_LOG", End::Code(1), true),
                ("CATATONIT_OTHER", End::Code(9), false),
            ] {
                let variable = &format!("{name}={value}");
                trial.both(variable, &(end, speaks), |place, program| {
                    let words = [recorder, "exit", "9"];
                    let seen = run(place, program, Role::Ordinary, variable, &words);
                    (seen.end, !seen.complaints.is_empty())
                });
            }
        }
    });
}

#[test]
fn the_variables_of_others_mean_nothing() {
    let variables = [
        "TINI_VERBOSITY=3",
        "DUMB_INIT_DEBUG=1",
        "CATATONIT_DEBUG=1",
        "CATATONIT_LOG=1",
        "HOST_INIT_VERBOSE=1",
        "HOST_INIT_JOB=nonsense",
        "HOST_INIT_REMAP_EXIT=9",
    ];
    for (peer, own) in [
        (Peer::Tini, "TINI"),
        (Peer::DumbInit, "DUMB"),
        (Peer::Catatonit, "CATA"),
    ] {
        trial(peer, |trial| {
            let recorder = &trial.place().recorder();
            for variable in variables {
                if variable.starts_with(own) {
                    continue;
                }
                let expected = (End::Code(9), String::new(), String::new());
                trial.both(variable, &expected, |place, program| {
                    let words = [recorder, "exit", "9"];
                    let seen = run(place, program, Role::First, variable, &words);
                    (seen.end, seen.output, seen.complaints)
                });
            }
        });
    }
}

#[test]
fn host_init_is_a_peer_by_every_name_that_it_is_installed_under() {
    let names = [
        ("tini", 127),
        ("tini-static", 127),
        ("docker-init", 127),
        ("dumb-init", 2),
        ("catatonit", 1),
        ("podman-init", 1),
    ];
    let place = Place::new();
    for (name, code) in names {
        // By its bare name, by a path, by what a runtime mounts it as.
        for path in ["", "/sbin/", "/run/", "./", "/a/b/../"] {
            let program = Program::ours(&format!("{path}{name}"));
            let seen = Start::new(&place, &program).words(&["/no/such"]).run();
            assert_eq!(seen.end, End::Code(code), "{path}{name}");
        }
    }
    for name in [
        "host-init",
        "init",
        "tini2",
        "Tini",
        "xtini",
        "tini/",
        "dumb-init.old",
    ] {
        let program = Program::ours(name);
        let seen = Start::new(&place, &program)
            .words(&["--", "/no/such"])
            .run();
        assert_eq!(seen.end, End::Code(127), "{name}");
        let line = seen.complaints.lines().next();
        assert!(
            line.is_some_and(|line| line.starts_with("host-init: ")),
            "{seen:?}"
        );
    }
}

#[test]
fn a_link_is_as_good_as_a_name() {
    for peer in PEERS {
        trial(peer, |trial| {
            trial.both("a link", &End::Code(9), |place, program| {
                let name = format!("{:?}/{}", program.side, peer.name());
                place.link(&name, &program.path);
                let mut start = Start::new(place, program);
                start.program = place.path().join(&name);
                start.arguments = vec![CString::new(place.of(&name)).unwrap()];
                start
                    .words(&["--", &place.recorder(), "exit", "9"])
                    .run()
                    .end
            });
        });
    }
}

#[test]
fn an_empty_argv_is_no_reason_to_fail() {
    // The kernel makes one empty word of it since 5.18.
    let place = Place::new();
    for arguments in [Vec::new(), vec![CString::default()]] {
        let mut start = Start::new(&place, &Program::ours("")).role(Role::Ordinary);
        start.arguments = arguments;
        let seen = start.run();
        assert_eq!(seen.end, End::Code(254), "{seen:?}");
    }
}
