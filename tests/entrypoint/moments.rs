//! TERM at every moment between an init's first instruction and its program's.
//!
//! None is lost: the init ends, by the signal or as its program does. A plain
//! process that was not yet told what to do with TERM is ended by it, and that is an
//! end. From a first process the kernel itself keeps what it has no handler for, so
//! there all signals are blocked by whoever starts it, and the program looks for
//! what waits for it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::init::End;
use crate::lines::BOUND;
use crate::peer::{Peer, Program};
use crate::place::Place;
use crate::start::{ROLES, Role, Start};
use crate::system::ALL;

/// Runs of all modes together.
const RUNS: u32 = 10_000;

/// One way to pass a signal on.
struct Mode {
    name: &'static str,
    flags: &'static [&'static str],
}

const fn mode(name: &'static str, flags: &'static [&'static str]) -> Mode {
    Mode { name, flags }
}

/// To a process, to its group, to its session's first group; by every name.
const MODES: [Mode; 8] = [
    mode("tini", &[]),
    mode("tini", &["-g"]),
    mode("dumb-init", &[]),
    mode("dumb-init", &["-c"]),
    mode("catatonit", &["-g"]),
    mode("host-init", &[]),
    mode("host-init", &["--group", "--job", "session"]),
    mode("host-init", &["--job", "none"]),
];

#[test]
fn a_stop_is_lost_at_no_moment() {
    let ways = u32::try_from(MODES.len() * ROLES.len()).unwrap();
    let mut lost = Vec::new();
    for role in ROLES {
        for mode in &MODES {
            let program = Program::ours(mode.name);
            let each = RUNS / ways;
            let losses = losses(&program, mode.flags, role, each);
            if losses > 0 {
                lost.push(format!(
                    "{role:?} {} {:?}: {losses} of {each}",
                    mode.name, mode.flags
                ));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn a_peer_that_loses_stops_is_found_out() {
    // dumb-init loses about one in four.
    let program = Peer::DumbInit.program();
    let longest = longest(&program, &[], Role::Ordinary);
    let mut place = Place::new();

    let loss = (0..1_000).find(|number| {
        let moment = random(*number, longest);
        !stops(
            &mut place,
            &program,
            &[],
            Role::Ordinary,
            moment,
            Duration::from_secs(1),
        )
    });

    assert!(loss.is_some());
}

/// How many of these runs went on as if they had not been told to end.
fn losses(program: &Program, flags: &[&str], role: Role, runs: u32) -> u32 {
    let longest = longest(program, flags, role);
    let lost = AtomicU32::new(0);
    let next = AtomicU32::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut place = Place::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs {
                        break;
                    }
                    let moment = random(u64::from(number), longest);
                    if !stops(&mut place, program, flags, role, moment, BOUND) {
                        lost.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    lost.into_inner()
}

/// How long a start takes now, with some more.
fn longest(program: &Program, flags: &[&str], role: Role) -> u64 {
    let mut place = Place::new();
    let mut times: Vec<u128> = (0..5)
        .map(|_| {
            let recorder = &place.recorder();
            let words = [flags, &["--", recorder, "up"]].concat();
            let start = Start::new(&place, program).role(role).words(&words);
            let _init = start.spawn();
            let begin = Instant::now();
            place.told.next();
            begin.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    u64::try_from(times[2] * 5 / 4).unwrap()
}

/// Whether an init ends in this time that is sent TERM so many nanoseconds after
/// its exec.
fn stops(
    place: &mut Place,
    program: &Program,
    flags: &[&str],
    role: Role,
    moment: u64,
    bound: Duration,
) -> bool {
    let recorder = &place.recorder();
    let words = [flags, &["--", recorder, "ends"]].concat();
    let mut start = Start::new(place, program).role(role).words(&words);
    if role == Role::First {
        start = start.blocked(ALL);
    }
    let mut init = start.spawn();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_nanos(moment) {
        std::hint::spin_loop();
    }
    init.signal(libc::SIGTERM);
    if init.lives_for(bound) {
        return false;
    }
    let end = init.end();
    assert!(
        matches!(end, End::Code(143) | End::Signal(libc::SIGTERM)),
        "{end:?}"
    );
    true
}

/// A number below this one, the same for the same seed (`splitmix64`).
fn random(seed: u64, end: u64) -> u64 {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state ^ (state >> 31)) % end
}
