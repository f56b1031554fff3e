//! Standard descriptors: closed, full, broken.

use std::os::fd::OwnedFd;

use crate::init::End;
use crate::options::host_init;
use crate::peer::{PEERS, Peer};
use crate::place::Place;
use crate::start::{ROLES, Start};
use crate::system::{device, fill, pipe};
use crate::trial::trial;

/// Something that takes no word, and what must stay for that.
pub(crate) fn mute(what: &str) -> (OwnedFd, Option<OwnedFd>) {
    if what == "full disk" {
        return (device("/dev/full"), None);
    }
    let (read, write) = pipe();
    match what {
        "broken pipe" => (write, None),
        "full pipe" => {
            fill(&write);
            (write, Some(read))
        }
        _ => unreachable!("{what}"),
    }
}

#[test]
fn a_program_runs_whatever_is_closed() {
    for peer in PEERS {
        trial(peer, |trial| {
            for role in ROLES {
                for closed in 0..8_usize {
                    // tini ends without its first: see `differences`.
                    if peer == Peer::Tini && closed & 1 == 1 {
                        continue;
                    }
                    let what = format!("{role:?} {closed:#b}");
                    trial.both(&what, &End::Code(7), |place, program| {
                        let mut start = Start::new(place, program).role(role);
                        for number in (0..3).filter(|number| closed >> number & 1 == 1) {
                            start = start.stdio(number, None);
                        }
                        start.words(&[&place.recorder(), "exit", "7"]).run().end
                    });
                }
            }
        });
    }
}

#[test]
fn a_program_runs_though_nothing_can_be_said() {
    for peer in PEERS {
        // As much as each says without being asked.
        trial(peer, |trial| {
            for role in ROLES {
                for what in ["full disk", "broken pipe", "full pipe"] {
                    // tini has a warning when it is not PID 1: see `differences`.
                    if peer == Peer::Tini && what != "full disk" {
                        continue;
                    }
                    trial.both(
                        &format!("{role:?} {what}"),
                        &End::Code(7),
                        |place, program| {
                            let (output, _output) = mute(what);
                            let (complaints, _complaints) = mute(what);
                            let start = Start::new(place, program).role(role);
                            let start = start.stdio(1, Some(output)).stdio(2, Some(complaints));
                            start.words(&[&place.recorder(), "exit", "7"]).run().end
                        },
                    );
                }
            }
        });
    }
}

#[test]
fn what_host_init_says_itself_is_waited_for_by_nobody() {
    let place = Place::new();
    for role in ROLES {
        for what in ["full disk", "broken pipe", "full pipe"] {
            let (output, _output) = mute(what);
            let (complaints, _complaints) = mute(what);
            let start = Start::new(&place, &host_init()).role(role);
            let start = start.stdio(1, Some(output)).stdio(2, Some(complaints));
            let words = ["-vvv", "--", &place.recorder(), "exit", "7"];
            let seen = start.words(&words).run();
            assert_eq!(seen.end, End::Code(7), "{role:?} {what}");
        }
    }
}

#[test]
fn a_full_disk_is_no_reason_for_silence_of_the_exit_code() {
    for (peer, words) in [
        (Peer::Tini, &["-vvv", "/no/such"][..]),
        (Peer::DumbInit, &["-v", "/no/such"]),
        (Peer::Catatonit, &["/no/such"]),
        (Peer::Tini, &["-x"]),
        (Peer::DumbInit, &["-x"]),
        (Peer::Catatonit, &["-x"]),
        (Peer::DumbInit, &["-V"]),
    ] {
        trial(peer, |trial| {
            trial.same(&format!("{words:?}"), |place, program| {
                let start = Start::new(place, program);
                let start = start.stdio(1, Some(device("/dev/full")));
                start
                    .stdio(2, Some(device("/dev/full")))
                    .words(words)
                    .run()
                    .end
            });
        });
    }
}

#[test]
fn what_a_program_says_comes_through() {
    for peer in PEERS {
        trial(peer, |trial| {
            let recorder = &trial.place().recorder();
            for role in ROLES {
                let seen = trial.ends(role, &[recorder, "says"], End::Code(0));
                let seen = seen.unwrap();
                assert_eq!(seen.output, "it says this\n");
                assert!(seen.complaints.ends_with("it complains of that\n"));
            }
        });
    }
}
