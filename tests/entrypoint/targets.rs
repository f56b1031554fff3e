//! Who is sent what an init passes on, and what becomes of the others at the end.

use crate::init::{End, Init};
use crate::peer::{Peer, Program};
use crate::place::Place;
use crate::start::{ROLES, Role, Start};
use crate::trial::trial;

/// Taken after all others: see `signals`.
const LAST: i32 = 64;

/// Who is sent a signal that an init with these flags and variables is sent: its
/// program, another in the program's group, or one in another group.
pub(crate) fn reached(
    place: &mut Place,
    program: &Program,
    role: Role,
    flags: &[&str],
    variable: Option<&str>,
) -> Vec<String> {
    let mut start = Start::new(place, program).role(role).words(flags);
    if let Some(variable) = variable {
        start = start.variable(variable);
    }
    let init = start.words(&["--", &place.recorder(), "family"]).spawn();
    for _ in 0..3 {
        assert!(place.told.next().ends_with("up"));
    }
    init.signal(libc::SIGHUP);
    init.signal(LAST);
    // The group was sent both when its first was.
    let mut heard = heard(
        place,
        &[format!("it signal {LAST} from {}", init.pid_inside())],
    );
    heard.extend(rest(place, &init));
    let mut reached: Vec<String> = heard
        .iter()
        .filter_map(|line| line.strip_suffix(&format!(" signal 1 from {}", init.pid_inside())))
        .map(str::to_owned)
        .collect();
    reached.sort_unstable();
    reached
}

/// All lines until each of these has come.
fn heard(place: &mut Place, ends: &[String]) -> Vec<String> {
    let mut heard: Vec<String> = Vec::new();
    while !ends.iter().all(|end| heard.contains(end)) {
        heard.push(place.told.next());
    }
    heard
}

/// What the two that are not the program have still to tell.
fn rest(place: &mut Place, init: &Init) -> Vec<String> {
    let program = init.pid_inside() + 1;
    for pid in [program + 1, program + 2] {
        init.signal_inside(pid, LAST);
    }
    heard(
        place,
        &["member", "stranger"].map(|who| format!("{who} signal {LAST} from 0")),
    )
}

#[test]
fn a_signal_goes_to_the_program_or_to_its_group() {
    let (it, group) = (&["it"][..], &["it", "member"][..]);
    let modes = [
        (Peer::Tini, &[][..], None, it),
        (Peer::Tini, &["-g"], None, group),
        (Peer::Tini, &["-vsg"], None, group),
        (Peer::Tini, &[], Some("TINI_KILL_PROCESS_GROUP="), group),
        (Peer::Tini, &[], Some("TINI_KILL_PROCESS_GROUP=0"), group),
        (Peer::DumbInit, &[], None, group),
        (Peer::DumbInit, &["-c"], None, it),
        (Peer::DumbInit, &["--single-child"], None, it),
        (Peer::DumbInit, &[], Some("DUMB_INIT_SETSID=0"), it),
        (Peer::DumbInit, &[], Some("DUMB_INIT_SETSID=1"), group),
        (Peer::DumbInit, &[], Some("DUMB_INIT_SETSID="), group),
        (Peer::DumbInit, &[], Some("DUMB_INIT_SETSID=00"), group),
        (Peer::Catatonit, &[], None, it),
        (Peer::Catatonit, &["-g"], None, group),
        (Peer::Catatonit, &[], Some("TINI_KILL_PROCESS_GROUP=1"), it),
    ];
    for (peer, flags, variable, expected) in modes {
        let expected: Vec<String> = expected.iter().map(|who| (*who).to_owned()).collect();
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(
                    &format!("{role:?} {flags:?} {variable:?}"),
                    &expected,
                    |place, program| reached(place, program, role, flags, variable),
                );
            }
        });
    }
}

#[test]
fn what_is_left_at_the_end_is_as_each_peer_leaves_it() {
    let modes: [(Peer, &[&str], &[&str]); 8] = [
        (Peer::Tini, &[], &[]),
        (Peer::Tini, &["-g"], &[]),
        (Peer::Catatonit, &["-g"], &[]),
        (Peer::DumbInit, &["-c"], &[]),
        (Peer::DumbInit, &[], &["member signal 15 from 2"]),
        // What it says at the end is rewritten as all is.
        (Peer::DumbInit, &["-r", "15:1"], &["member signal 1 from 2"]),
        (Peer::DumbInit, &["-r", "15:0"], &[]),
        (Peer::DumbInit, &["-r", "1:2"], &["member signal 15 from 2"]),
    ];
    for (peer, flags, expected) in modes {
        let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        trial(peer, |trial| {
            trial.both(&format!("{flags:?}"), &expected, |place, program| {
                let start = Start::new(place, program).words(flags);
                let mut init = start
                    .words(&["--", &place.recorder(), "leaves", "7"])
                    .spawn();
                assert_eq!(init.end(), End::Code(7));
                let mut heard = rest(place, &init);
                heard.retain(|line| line.contains("signal") && !line.contains("from 0"));
                heard
            });
            let recorder = trial.place().recorder();
            let words = [flags, &["--", &recorder, "leaves", "7"]].concat();
            trial.ends(Role::First, &words, End::Code(7));
        });
    }
}

#[test]
fn an_orphan_is_the_inits_where_it_asked_for_it() {
    let modes: [(Peer, &[&str], Option<&str>, i32); 9] = [
        (Peer::Tini, &[], None, 1),
        (Peer::Tini, &["-s"], None, 2),
        (Peer::Tini, &["-gs"], None, 2),
        (Peer::Tini, &[], Some("TINI_SUBREAPER="), 2),
        (Peer::Tini, &[], Some("TINI_SUBREAPER=0"), 2),
        (Peer::DumbInit, &[], None, 1),
        (Peer::DumbInit, &["-c"], None, 1),
        (Peer::Catatonit, &[], None, 2),
        (Peer::Catatonit, &["-g"], None, 2),
    ];
    for (peer, flags, variable, expected) in modes {
        trial(peer, |trial| {
            for (role, expected) in [(Role::Ordinary, expected), (Role::First, 1)] {
                let what = format!("{role:?} {flags:?} {variable:?}");
                let expected = format!("adopted by {expected}");
                trial.both(&what, &expected, |place, program| {
                    let mut start = Start::new(place, program).role(role).words(flags);
                    if let Some(variable) = variable {
                        start = start.variable(variable);
                    }
                    let seen = start.words(&["--", &place.recorder(), "orphan"]).run();
                    assert_eq!(seen.end, End::Code(0));
                    place.told.next()
                });
            }
        });
    }
}

#[test]
fn an_orphan_that_ends_is_reaped_while_the_program_runs() {
    for peer in crate::peer::PEERS {
        trial(peer, |trial| {
            let recorder = trial.place().recorder();
            trial.ends(Role::First, &[&recorder, "reaped"], End::Code(0));
        });
    }
    trial(Peer::Tini, |trial| {
        let recorder = &trial.place().recorder();
        trial.ends(Role::Ordinary, &["-s", recorder, "reaped"], End::Code(0));
        // With words about each.
        for flags in ["-w", "-vw", "-vvw"] {
            trial.ends(Role::First, &[flags, recorder, "reaped"], End::Code(0));
        }
    });
    trial(Peer::Catatonit, |trial| {
        let recorder = &trial.place().recorder();
        trial.ends(Role::Ordinary, &[recorder, "reaped"], End::Code(0));
    });
}

#[test]
fn the_end_of_an_inits_parent_is_the_signal_that_it_was_told() {
    trial(Peer::Tini, |trial| {
        for (flags, expected) in [
            (&["-p", "SIGUSR1"][..], Some(libc::SIGUSR1)),
            (&["-p", "SIGKILL", "-p", "SIGHUP"], Some(libc::SIGHUP)),
            (&["-gpSIGTERM"], Some(libc::SIGTERM)),
        ] {
            trial.both(&format!("{flags:?}"), &expected, |place, program| {
                let recorder = place.recorder();
                let mut start = Start::new(place, program);
                start.program = recorder.clone().into();
                start.arguments = vec![c"recorder".to_owned()];
                let path = program.path.to_str().unwrap();
                let name = program.name.to_str().unwrap();
                let words = [
                    &["parent", path, name],
                    flags,
                    &["--", &recorder, "records", "1"],
                ];
                let init = start.words(&words.concat()).spawn();
                assert_eq!(place.told.next(), "up");

                // It is the parent that was started here.
                init.signal(libc::SIGKILL);

                let line = place.told.next();
                let number = line.strip_prefix("signal ")?.strip_suffix(" from 3")?;
                number.parse::<i32>().ok()
            });
        }
    });
}
