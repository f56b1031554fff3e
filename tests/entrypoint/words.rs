//! Words and variables reach what is run byte by byte.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;

use crate::peer::{PEERS, Peer, Program};
use crate::place::Place;
use crate::recorder::sum;
use crate::start::{ROLES, Role, Start};
use crate::trial::{Trial, trial};

/// Runs a program with these words and variables, and holds what it got.
fn pass(trial: &mut Trial, what: &str, words: &[CString], variables: &[CString]) {
    for role in ROLES {
        let sums = |strings: &[CString]| {
            let strings: Vec<&CStr> = strings.iter().map(CString::as_c_str).collect();
            sum(&strings)
        };
        let expected = [
            format!("words: {}", sums(words)),
            format!("variables: {}", sums(variables)),
        ];
        trial.both(&format!("{role:?} {what}"), &expected, |place, program| {
            let start = Start::new(place, program)
                .role(role)
                .environment(variables.to_vec())
                .words(&["--", &place.recorder(), "words"])
                .words(&words.iter().map(|word| os(word)).collect::<Vec<_>>());
            start.run();
            [place.told.next(), place.told.next()]
        });
    }
}

fn os(word: &CStr) -> &OsStr {
    OsStr::from_bytes(word.to_bytes())
}

fn strings(all: &[&str]) -> Vec<CString> {
    all.iter()
        .map(|text| CString::new(*text).unwrap())
        .collect()
}

/// Every byte that a string may have, in a random order.
fn bytes(seed: u64) -> CString {
    let mut bytes: Vec<u8> = (1..=255).collect();
    let mut state = seed;
    for place in (1..bytes.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        bytes.swap(place, usize::try_from(state >> 33).unwrap() % (place + 1));
    }
    CString::new(bytes).unwrap()
}

#[test]
fn words_are_passed_as_they_are() {
    for peer in PEERS {
        trial(peer, |trial| {
            let odd = strings(&["", " ", "--", "-", "-x", "a\nb", "\t", "'\"\\$`*", "é", ""]);
            pass(trial, "odd words", &odd, &[]);
            pass(trial, "no words", &[], &[]);
            let every: Vec<CString> = (0..20).map(bytes).collect();
            pass(trial, "every byte", &every, &[]);
        });
    }
}

#[test]
fn the_longest_word_and_thousands_of_them_are_passed() {
    for peer in PEERS {
        trial(peer, |trial| {
            // With its end, 128 KiB: the kernel's limit.
            let longest = CString::new(vec![b'x'; 131_071]).unwrap();
            pass(
                trial,
                "the longest",
                std::slice::from_ref(&longest),
                std::slice::from_ref(&longest),
            );
            let many: Vec<CString> = (0..4_000)
                .map(|number| CString::new(format!("word {number}")).unwrap())
                .collect();
            pass(trial, "4,000 words", &many, &many);
        });
    }
}

#[test]
fn an_environment_is_passed_as_it_is() {
    for peer in PEERS {
        trial(peer, |trial| {
            pass(trial, "no variables", &[], &[]);
            let every: Vec<CString> = (0..20)
                .map(|number| {
                    let name = format!("BYTES_{number}=").into_bytes();
                    CString::new([name, bytes(number).into_bytes()].concat()).unwrap()
                })
                .collect();
            pass(trial, "every byte", &[], &every);
            // Names twice, without a value, without a name, none at all.
            let odd = ["A=1", "A=2", "A", "=", "=x", "", "B==", "PATH=", "a b=c d"];
            pass(trial, "odd variables", &[], &strings(&odd));
        });
    }
}

#[test]
fn the_variables_of_an_init_stay_for_what_it_runs() {
    for (peer, variables) in [
        (
            Peer::Tini,
            &[
                "TINI_SUBREAPER=",
                "TINI_KILL_PROCESS_GROUP=1",
                "TINI_VERBOSITY=0",
            ][..],
        ),
        (Peer::DumbInit, &["DUMB_INIT_DEBUG=0", "DUMB_INIT_SETSID=0"]),
        (Peer::Catatonit, &["CATATONIT_DEBUG=", "LISTEN_FDS=1"]),
    ] {
        trial(peer, |trial| {
            pass(trial, "its own", &[], &strings(variables));
        });
    }
}

/// What `LISTEN_PID` is for the program behind an init that has this one.
fn listen(trial: &mut Trial, role: Role, given: &str, expected: &str) {
    let what = format!("{role:?} LISTEN_PID={given}");
    trial.both(&what, &vec![expected.to_owned()], |place, program| {
        listened(place, program, role, given)
    });
}

/// Every `LISTEN_PID` that the program behind an init with this one has.
pub(crate) fn listened(
    place: &mut Place,
    program: &Program,
    role: Role,
    given: &str,
) -> Vec<String> {
    let start = Start::new(place, program).role(role);
    let start = start.environment(strings(&["X=1", &format!("LISTEN_PID={given}"), "Y=1"]));
    start.words(&["--", &place.recorder(), "report"]).run();
    let mut found = Vec::new();
    loop {
        let line = place.told.next();
        if line == "end" {
            return found;
        }
        found.extend(
            line.strip_prefix("variable: LISTEN_PID=")
                .map(str::to_owned),
        );
    }
}

#[test]
fn sockets_that_are_an_inits_become_its_programs() {
    trial(Peer::Catatonit, |trial| {
        listen(trial, Role::First, "1", "2");
        listen(trial, Role::Ordinary, "2", "3");
        for other in ["2", "", "x", "11"] {
            listen(trial, Role::First, other, other);
        }
    });
    for peer in [Peer::Tini, Peer::DumbInit] {
        trial(peer, |trial| listen(trial, Role::First, "2", "2"));
    }
}
