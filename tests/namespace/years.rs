//! What years do to it, in seconds: orphans, restarts, signals, and nothing.

use std::fs;
use std::time::Duration;

use crate::init::{End, Init};
use crate::lines::eventually;
use crate::room::{Room, config};
use crate::start::{Refused, Start};

/// Starts again without a wait, and says nothing of it.
const QUICK: &str = "backoff = \"0s\"\nbackoff-max = \"0s\"";

/// What of PID 1 may not grow.
#[derive(PartialEq, Eq, Debug)]
struct Size {
    /// KiB.
    resident: u64,
    descriptors: usize,
    mappings: usize,
}

impl Size {
    fn of(init: &Init) -> Self {
        let maps = fs::read_to_string(init.proc("maps")).unwrap();
        Self {
            resident: init.resident(),
            descriptors: init.descriptors().len(),
            mappings: maps.lines().count(),
        }
    }
}

/// Gives the next life this role.
fn reload(room: &Room, init: &mut Init, words: &[&str]) {
    room.write("etc/host-init.toml", &config(words, QUICK));
    init.signal(libc::SIGHUP);
    init.says("config: read again");
    init.is_asleep();
}

/// The host's pid in the namespace.
fn host(room: &Room) -> i32 {
    let mut pid = None;
    eventually("the host's pid", || {
        pid = room.json("run/host-init/state.json")["host"]["pid"].as_i64();
        pid.is_some()
    });
    pid.unwrap().try_into().unwrap()
}

#[test]
fn a_hundred_thousand_orphans_leave_nothing_behind() {
    for refused in [Refused::Nothing, Refused::Ends] {
        // The first storm touches what there is to touch.
        let mut room = Room::with_host(&["orphans", "1000"], QUICK);
        let mut init = Start::new(&room).refused(refused).spawn();
        assert_eq!(room.told.next(), "done");
        reload(&room, &mut init, &["orphans", "100000"]);
        let before = Size::of(&init);

        init.kill_inside(host(&room));
        assert_eq!(room.told.next(), "done");

        eventually("the last orphan", || init.pids().len() == 2);
        let after = Size::of(&init);
        assert_eq!(after, before, "{refused:?}");
        init.stop_with(0);
    }
}

#[test]
fn a_thousand_restarts_leave_nothing_behind() {
    for refused in [Refused::Nothing, Refused::Ends] {
        let mut room = Room::with_host(&["quick", "20"], QUICK);
        let mut init = Start::new(&room).refused(refused).spawn();
        assert_eq!(room.told.next(), "done");
        reload(&room, &mut init, &["quick", "1020"]);
        let before = Size::of(&init);

        init.kill_inside(host(&room));
        assert_eq!(room.told.next(), "done");

        init.is_asleep();
        assert_eq!(Size::of(&init), before, "{refused:?}");
        assert_eq!(init.pids().len(), 2);
        eventually("the last record", || {
            room.json("run/host-init/status/host.json")["restarts"] == 1019
        });
        init.stop_with(0);
    }
}

#[test]
fn a_storm_of_signals_leaves_nothing_behind() {
    let mut room = Room::with_host(&["up"], QUICK);
    let mut init = Start::new(&room).spawn();
    let up = room.told.next();
    // The first touches what there is to touch.
    storm(&mut init, 1_000);
    let before = Size::of(&init);

    storm(&mut init, 1_000);

    assert_eq!(Size::of(&init), before);
    let pid: i32 = up.strip_prefix("up ").unwrap().parse().unwrap();
    assert_eq!(init.pids(), [1, pid], "the host has heard nothing of it");
    init.stop_with(0);
}

/// Sends everything that asks for no ending, no new host and no new PID 1, reloads among
/// it, faster than it can be taken.
fn storm(init: &mut Init, rounds: u32) {
    let harmless = |number: &i32| {
        !matches!(
            *number,
            libc::SIGINT
                | libc::SIGKILL
                | libc::SIGUSR1
                | libc::SIGUSR2
                | libc::SIGTERM
                | libc::SIGSTOP
                | libc::SIGPWR
                | 37..=41
                | 44
                | 47..=51
                | 59
        )
    };
    let harmless: Vec<i32> = (1..=64).filter(harmless).collect();
    for _ in 0..rounds {
        for number in &harmless {
            // The kernel has room for so many.
            init.takes(*number);
        }
    }
    init.has_heard_all();
    init.is_asleep();
}

#[test]
fn a_hundred_re_executions_are_not_noticed_by_the_host() {
    for refused in [Refused::Nothing, Refused::Ends] {
        let mut room = Room::with_host(&["up"], QUICK);
        let mut init = Start::new(&room).refused(refused).spawn();
        let up = room.told.next();
        // The first changes what the boot has left.
        execute_and_tell(&mut init, &room);
        let before = Size::of(&init);

        for _ in 0..100 {
            execute_again(&mut init);
        }
        execute_and_tell(&mut init, &room);

        assert_eq!(Size::of(&init).descriptors, before.descriptors);
        let pid: i32 = up.strip_prefix("up ").unwrap().parse().unwrap();
        assert_eq!(init.pids(), [1, pid], "{refused:?}");
        init.stop_with(0);
        let record = room.json("run/host-init/status/host.json");
        assert_eq!(record["pid"], pid);
        assert_eq!(record["exit"]["signal"], "TERM");
        assert_eq!(record["asked"], "operator");
    }
}

#[test]
fn an_end_in_the_middle_of_a_re_execution_is_not_lost() {
    for refused in [Refused::Nothing, Refused::Ends] {
        let mut room = Room::with_host(&["up"], QUICK);
        let mut init = Start::new(&room).refused(refused).spawn();
        for life in 0..200_u32 {
            let up = room.told.next();
            let pid: i32 = up.strip_prefix("up ").unwrap().parse().unwrap();

            init.signal(59);
            // Somewhere between the signal and long after it.
            init.lives_for(Duration::from_micros(u64::from(life) * 20));
            init.kill_inside(pid);

            eventually("the record of this life", || {
                room.json("run/host-init/status/host.json")["pid"] == pid
            });
            let record = room.json("run/host-init/status/host.json");
            assert_eq!(record["exit"]["signal"], "KILL", "life {life}, {refused:?}");
        }
        assert!(room.told.next().starts_with("up "));
        init.stop_with(0);
    }
}

/// [`execute_again`], and waits until the new life has told others of itself, for
/// which it opens a directory.
fn execute_and_tell(init: &mut Init, room: &Room) {
    let state = room.path().join("run/host-init/state.json");
    eventually("the state of the life before", || state.exists());
    fs::remove_file(&state).unwrap();
    execute_again(init);
    eventually("the state of this life", || state.exists());
    init.is_asleep();
}

/// Has it execute itself, and waits until that is over.
fn execute_again(init: &mut Init) {
    init.is_asleep();
    let start = init.stack();
    init.signal(59);
    // Every exec has its stack somewhere else.
    eventually("another program", || init.stack() != start);
    init.has_heard_all();
    eventually("the host alone", || init.pids().len() == 2);
    init.is_asleep();
}

#[test]
fn faults_that_a_process_inside_sends_are_none() {
    let mut room = Room::with_host(&["hammers", "4", "5", "7", "8", "11"], QUICK);
    let mut init = Start::new(&room).spawn();

    assert_eq!(room.told.next(), "done");

    assert_eq!(init.stop(), End::Code(0));
}

#[test]
fn it_sleeps_while_nothing_happens() {
    for refused in [Refused::Nothing, Refused::Ends] {
        let mut room = Room::with_host(&["up"], "");
        let mut init = Start::new(&room).refused(refused).spawn();
        assert!(room.told.next().starts_with("up "));
        room.read("run/host-init/state.json");
        // What the boot left to a child is done.
        eventually("the host alone", || init.pids().len() == 2);
        init.is_asleep();
        let time_used = || fs::read_to_string(init.proc("schedstat")).unwrap();
        let before = (
            time_used(),
            init.status("voluntary_ctxt_switches"),
            init.status("nonvoluntary_ctxt_switches"),
        );

        // The one place where time is to pass.
        assert!(init.lives_for(Duration::from_secs(1)));

        // Not a nanosecond on a processor: no wake-up, and no system call.
        let after = (
            time_used(),
            init.status("voluntary_ctxt_switches"),
            init.status("nonvoluntary_ctxt_switches"),
        );
        assert_eq!(after, before, "{refused:?}");
        init.stop_with(0);
    }
}

#[test]
fn requests_to_re_execute_that_come_together_are_one() {
    let mut room = Room::with_host(&["up"], QUICK);
    let mut init = Start::new(&room).spawn();
    assert!(room.told.next().starts_with("up "));

    init.signal(libc::SIGSTOP);
    for number in [59, 59, libc::SIGHUP, 59, 59, 59, libc::SIGCONT] {
        init.signal(number);
    }
    init.says("config: read again");
    init.says("re-executed; host: pid ");

    init.is_asleep();
    init.stop_with(0);
}

#[test]
fn a_flood_of_signals_holds_no_deadline_back() {
    let mut room = Room::with_host(&["floods"], "stop-grace = \"300ms\"");
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "floods");

    let end = init.stop();

    assert_eq!(end, End::Code(137));
}
