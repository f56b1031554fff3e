//! How an init ends is how what it ran ended.

use crate::init::End;
use crate::peer::{PEERS, Peer};
use crate::start::{ROLES, Role, Start};
use crate::system::signals;
use crate::trial::trial;

/// Every code, of a program behind each of the inits.
fn pass_every_code(peer: Peer) {
    trial(peer, |trial| {
        let recorder = &trial.place().recorder();
        for role in ROLES {
            for code in 0..=255 {
                let words = [recorder, "exit", &code.to_string()];
                trial.ends(role, &words, End::Code(code));
            }
        }
    });
}

#[test]
fn every_code_passes_through_tini() {
    pass_every_code(Peer::Tini);
}

#[test]
fn every_code_passes_through_dumb_init() {
    pass_every_code(Peer::DumbInit);
}

#[test]
fn every_code_passes_through_catatonit() {
    pass_every_code(Peer::Catatonit);
}

/// The kernel's default for the others is not death: CHLD, CONT, STOP, TSTP,
/// TTIN, TTOU, URG, WINCH.
fn deadly() -> impl Iterator<Item = i32> {
    signals().filter(|number| !matches!(number, 17..=23 | 28))
}

#[test]
fn death_by_every_signal_is_128_and_its_number() {
    for peer in PEERS {
        trial(peer, |trial| {
            let recorder = &trial.place().recorder();
            for role in ROLES {
                for number in deadly() {
                    let words = [recorder, "signal", &number.to_string()];
                    trial.ends(role, &words, End::Code(128 + number));
                }
            }
        });
    }
}

#[test]
fn a_code_that_is_forgiven_is_success() {
    trial(Peer::Tini, |trial| {
        let recorder = &trial.place().recorder();
        for code in [0, 1, 127, 143, 255] {
            for end in [0, 1, 127, 143, 255] {
                let (code, text) = (&code.to_string(), &end.to_string());
                let words = ["-e", code, "--", recorder, "exit", text];
                let end = if code == text { 0 } else { end };
                trial.ends(Role::First, &words, End::Code(end));
            }
        }
        // Death by TERM is what `docker stop` leads to.
        let words = ["-e", "143", "--", recorder, "signal", "15"];
        trial.ends(Role::First, &words, End::Code(0));
        // A program that is not there is no program's end.
        let words = ["-e", "127", "--", "/no/such"];
        trial.ends(Role::First, &words, End::Code(0));
    });
}

#[test]
fn a_program_that_ends_by_a_signal_that_it_was_sent_tells_of_it() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(
                    &format!("{role:?} TERM"),
                    &End::Code(143),
                    |place, program| {
                        let start = Start::new(place, program).role(role);
                        let mut init = start.words(&[&place.recorder(), "up"]).spawn();
                        place.told.next();
                        init.signal(libc::SIGTERM);
                        init.end()
                    },
                );
            }
        });
    }
}
