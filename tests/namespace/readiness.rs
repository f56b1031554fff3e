//! A host that is ready by a newline to a descriptor.

use std::ffi::CString;
use std::time::Duration;

use crate::init::Init;
use crate::lines::eventually;
use crate::notices::{count, is_ready, record};
use crate::room::Room;
use crate::start::{Refused, Start};
use crate::starts::{assert_holds_its_own_only, is_up, report};

/// The host of these steps, with this in its table besides.
fn room(steps: &[&str], rest: &str) -> Room {
    let words: Vec<&str> = ["by-descriptor", "3"]
        .iter()
        .chain(steps)
        .copied()
        .collect();
    Room::with_host(&words, &ready_by(3, rest))
}

fn ready_by(number: u8, rest: &str) -> String {
    format!("ready = \"fd:{number}\"\nbackoff = \"0s\"\nbackoff-max = \"0s\"\n{rest}")
}

/// The pid of the host that has come up.
fn pid(room: &mut Room) -> i32 {
    let up = room.told.next();
    up.strip_prefix("up ").unwrap().parse().unwrap()
}

/// PID 1 has so many pipes besides its standard descriptors. A line that it says may
/// need another one for a moment.
fn holds_pipes(init: &Init, expected: usize) {
    let is_pipe = |(number, target): &&(i32, String)| *number > 2 && target.starts_with("pipe:");
    eventually("its pipes", || {
        init.descriptors().iter().filter(is_pipe).count() == expected
    });
}

fn go_on(init: &Init, pid: i32) {
    init.signal_inside(pid, libc::SIGHUP);
}

#[test]
fn a_newline_is_readiness_and_nothing_before_it_is() {
    for refused in [Refused::Nothing, Refused::Ends] {
        let mut room = room(&["wait", "almost", "wait", "there|and more"], "");
        let mut init = Start::new(&room).refused(refused).spawn();
        let host = pid(&mut room);
        holds_pipes(&init, 1);
        go_on(&init, host);
        is_up(&mut room);
        init.is_asleep();
        assert!(!is_ready(&room));
        assert_eq!(count(&mut init, "host: ready"), 0);

        go_on(&init, host);

        init.says("host: ready");
        is_up(&mut room);
        eventually("its state", || is_ready(&room));
        assert_holds_its_own_only(&init);
        init.stop_with(0);
        assert_eq!(count(&mut init, "never ready"), 0);
    }
}

#[test]
fn more_than_a_pipe_holds_may_come_before_the_newline() {
    let mut room = room(&["LONG", "LONG", "|"], "");
    let mut init = Start::new(&room).spawn();

    init.says("host: ready");

    is_up(&mut room);
    init.stop_with(0);
}

#[test]
fn who_writes_for_ever_without_a_newline_is_read_no_more() {
    let mut room = room(&["flood"], "ready-timeout = \"1s\"\nstart-limit = 1");
    let mut init = Start::new(&room).spawn();

    // It was told so.
    is_up(&mut room);

    init.says("host: wrote 1 MiB to its descriptor without a newline: never ready that way");
    assert_holds_its_own_only(&init);
    assert!(!is_ready(&room));
    init.is_asleep();
    init.says("host: not ready in time, told to end");
    init.says("host: halted");
    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 1);
}

#[test]
fn almost_a_mebibyte_may_come_before_the_newline_in_every_life() {
    // 100,000 bytes each.
    let steps = [&["LONG"; 10][..], &["|"]].concat();
    let mut room = room(&steps, "");
    let mut init = Start::new(&room).spawn();
    for _ in 0..2 {
        let host = pid(&mut room);
        init.says("host: ready");
        init.signal_inside(host, libc::SIGKILL);
    }
    is_up(&mut room);
    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 0);
}

#[test]
fn a_newline_right_before_the_end_counts_in_300_lives() {
    let mut room = Room::with_host(&["ready-quick", "300", "5"], &ready_by(5, ""));
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");

    assert_holds_its_own_only(&init);
    init.stop_with(0);

    assert_eq!(count(&mut init, "host: ready"), 301);
    assert_eq!(count(&mut init, "never ready"), 0);
}

#[test]
fn a_host_finds_its_descriptor_under_its_number_and_no_other() {
    // PID 1 has its own under most of these numbers. One with a long environment is
    // started in another way.
    let long = (0..400).map(|index| CString::new(format!("V{index}=1")).unwrap());
    for (number, more) in (3..=9)
        .map(|number| (number, Vec::new()))
        .chain([(4, long.collect())])
    {
        let mut room = Room::with_host(&["report"], &ready_by(number, ""));
        let mut environment = vec![c"container=test".to_owned()];
        environment.extend(more);
        let mut init = Start::new(&room).environment(environment).spawn();

        let report = report(&mut room);

        let held: Vec<&String> = report
            .iter()
            .filter(|line| line.starts_with("fd "))
            .collect();
        assert_eq!(held.len(), 4, "{held:?}");
        assert!(
            held[3].starts_with(&format!("fd {number}: pipe:[")),
            "{held:?}"
        );
        assert!(!report.iter().any(|line| line.contains("NOTIFY_SOCKET")));
        init.stop_with(0);
    }
}

#[test]
fn a_child_of_the_host_may_say_it() {
    let mut room = room(&["child", "|"], "");
    let mut init = Start::new(&room).spawn();

    // The main process has closed its own by then.
    let main = pid(&mut room);
    init.says("host: ready");

    assert_ne!(pid(&mut room), main);
    eventually("its state", || is_ready(&room));
    assert_eq!(room.json("run/host-init/state.json")["host"]["pid"], main);
    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 0);
}

#[test]
fn who_closes_it_without_a_newline_is_told_of_once_and_its_time_goes_on() {
    let mut room = room(&["almost", "close"], "ready-timeout = \"1s\"");
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    init.says("host: closed its descriptor without a newline: never ready that way");
    assert_holds_its_own_only(&init);
    assert!(!is_ready(&room));
    assert_eq!(count(&mut init, "not ready in time"), 0);
    init.says("host: not ready in time, told to end");

    is_up(&mut room);
    assert_eq!(record(&room)["result"], "timeout");
    let said: Vec<String> = init.said().all().to_vec();
    let told = said
        .iter()
        .position(|line| line.contains("not ready in time"));
    let before = said[..told.unwrap()].iter();
    assert_eq!(
        before.filter(|line| line.contains("never ready")).count(),
        1
    );
    init.stop_with(0);
}

#[test]
fn who_writes_nothing_has_failed_when_its_time_is_over() {
    let rest = "ready-timeout = \"100ms\"\nstart-limit = 1\n";
    let mut room = Room::with_host(&["up"], &ready_by(3, rest));
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    init.says("host: not ready in time, told to end");
    init.says("host: halted");

    assert_eq!(record(&room)["result"], "timeout");
    assert_eq!(record(&room)["exit"]["signal"], "TERM");
    holds_pipes(&init, 0);
    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 0);
}

#[test]
fn what_can_not_be_started_leaves_nothing_open() {
    let config = format!(
        "[host]\ncommand = [\"/missing\"]\n{}start-limit = 3\n",
        ready_by(3, "")
    );
    for refused in [Refused::Nothing, Refused::Processes] {
        let room = Room::new(&config);
        let mut init = Start::new(&room).refused(refused).spawn();

        init.says("host: halted");

        holds_pipes(&init, 0);
        init.stop_with(0);
        assert_eq!(count(&mut init, "never ready"), 0);
    }
}

#[test]
fn what_a_host_leaves_behind_keeps_no_pipe_open_in_pid_1() {
    let mut room = room(&["leave"], "start-limit = 1");
    let mut init = Start::new(&room).spawn();

    // It has left the session, and lives on.
    let left = pid(&mut room);
    init.says("host: halted");

    assert!(init.pids().contains(&left));
    holds_pipes(&init, 0);
    init.stop_with(0);
}

#[test]
fn a_host_that_ends_without_a_newline_is_told_of_as_one_that_ended() {
    let steps = ["almost", "exit"];
    let mut room = room(&steps, "start-limit = 300");
    let mut init = Start::new(&room).spawn();

    init.says("host: exit 0");
    for _ in 0..20 {
        init.says("host: started");
    }

    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 0);
    room.told.all();
}

#[test]
fn a_re_execution_loses_neither_the_pipe_nor_what_is_in_it() {
    let mut room = room(&["wait", "almost", "wait", "there|"], "");
    let mut init = Start::new(&room).spawn();
    let host = pid(&mut room);
    for _ in 0..2 {
        init.signal(59);
        init.says("re-executed");
        holds_pipes(&init, 1);
        assert!(!is_ready(&room));
        go_on(&init, host);
        is_up(&mut room);
    }

    init.says("host: ready");
    init.signal(59);
    init.says("re-executed");

    eventually("its state", || is_ready(&room));
    assert_holds_its_own_only(&init);
    assert_eq!(room.json("run/host-init/state.json")["host"]["starts"], 1);
    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 0);
}

#[test]
fn its_watchdog_has_a_socket_and_begins_with_the_newline() {
    let mut room = room(&["wait", "|"], "watchdog = \"200ms\"");
    let mut init = Start::new(&room).spawn();
    let host = pid(&mut room);
    assert!(init.lives_for(Duration::from_millis(500)));
    assert_eq!(count(&mut init, "watchdog: not heard of"), 0);

    go_on(&init, host);

    init.says("host: ready");
    init.says("host: watchdog: not heard of in time, told to abort");
    is_up(&mut room);
    eventually("its record", || record(&room)["result"] == "watchdog");
    init.stop_with(0);
}

#[test]
fn who_has_a_socket_too_may_say_it_there() {
    let rest = ready_by(3, "watchdog = \"1h\"");
    let mut room = Room::with_host(&["notes", "READY=1"], &rest);
    let mut init = Start::new(&room).spawn();

    init.says("host: ready");

    is_up(&mut room);
    holds_pipes(&init, 0);
    init.stop_with(0);
    assert_eq!(count(&mut init, "never ready"), 0);
}
