//! A host that says how it is, at its own `$NOTIFY_SOCKET`.

use std::fs;
use std::time::Duration;

use crate::init::Init;
use crate::lines::eventually;
use crate::room::Room;
use crate::start::Start;
use crate::starts::is_up;

/// It must say that it is ready, and fails for a long time if it does not.
const NOTIFY: &str = "\
ready = \"notify\"
backoff = \"0s\"
backoff-max = \"0s\"
";

pub(crate) fn is_ready(room: &Room) -> bool {
    room.json("run/host-init/state.json")["host"]["ready"] == true
}

pub(crate) fn record(room: &Room) -> serde_json::Value {
    room.json("run/host-init/status/host.json")
}

/// Lines of the log that have this in them.
pub(crate) fn count(init: &mut Init, text: &str) -> usize {
    let said = init.said().all();
    said.iter().filter(|line| line.contains(text)).count()
}

#[test]
fn a_host_is_heard_from_its_first_call_to_its_last_in_300_lives() {
    let mut room = Room::with_host(&["ready-quick", "300"], NOTIFY);
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");
    eventually("the last life", || is_ready(&room));

    init.stop_with(0);

    assert_eq!(count(&mut init, "host: ready"), 301);
}

#[test]
fn what_it_finds_in_its_environment_is_its_socket_and_its_own_pid() {
    let mut room = Room::with_host(&["report"], "watchdog = \"1h\"");
    let mut init = Start::new(&room).spawn();

    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "end") {
        lines.push(room.told.next());
    }

    let pid = room.json("run/host-init/state.json")["host"]["pid"].clone();
    for expected in [
        "variable NOTIFY_SOCKET=/run/host-init/notify".to_owned(),
        "variable WATCHDOG_USEC=3600000000".to_owned(),
        format!("variable WATCHDOG_PID={pid}"),
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
    init.stop_with(0);
}

#[test]
fn what_it_says_is_in_the_state_and_another_process_is_not_its_main_one() {
    let words = ["notes", "STATUS=all is well|MAINPID=1", "MAINPID=1"];
    let mut room = Room::with_host(&words, NOTIFY);
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    eventually("its status", || {
        room.json("run/host-init/state.json")["host"]["status"] == "all is well"
    });

    assert!(!is_ready(&room));
    init.stop_with(0);
    assert_eq!(count(&mut init, "another main process"), 1);
}

#[test]
fn a_message_that_is_too_long_is_refused_and_the_next_is_heard() {
    let words = ["notes", "READY=1|STATUS=LONG", "STATUS=short"];
    let mut room = Room::with_host(&words, NOTIFY);
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    eventually("its status", || {
        room.json("run/host-init/state.json")["host"]["status"] == "short"
    });

    assert!(!is_ready(&room));
    init.stop_with(0);
    assert_eq!(count(&mut init, "a message of more than 4096 bytes"), 1);
}

#[test]
fn only_the_main_process_is_heard_until_it_says_else() {
    let mut room = Room::with_host(&["proxy", "STATUS=mine", "READY=1"], NOTIFY);
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);
    assert!(init.lives_for(Duration::from_millis(100)));
    assert!(!is_ready(&room));
    init.stop_with(0);
    assert_eq!(count(&mut init, "host: ready"), 0);
}

#[test]
fn another_process_is_heard_when_the_main_one_says_so_but_no_stranger() {
    for (role, access, is_heard) in [
        ("proxy", "all", true),
        ("far-proxy", "all", false),
        ("proxy", "main", false),
        ("proxy", "none", false),
    ] {
        let access = format!("NOTIFYACCESS={access}");
        let mut room = Room::with_host(&[role, &access, "READY=1"], NOTIFY);
        let mut init = Start::new(&room).spawn();

        // It comes up when the other was heard.
        is_up(&mut room);

        init.stop_with(0);
        let said = count(&mut init, "host: ready");
        assert_eq!(said, usize::from(is_heard), "{role} {access}");
    }
}

#[test]
fn descriptors_that_come_with_a_message_are_closed_however_many() {
    let counts = ["1", "2", "20", "253"];
    let words: Vec<&str> = ["barrier"].iter().chain(&counts).copied().collect();
    let mut room = Room::with_host(&words, NOTIFY);
    let mut init = Start::new(&room).spawn();

    // It comes up when nobody has them any more.
    is_up(&mut room);

    let held = init.descriptors();
    assert!(
        !held
            .iter()
            .any(|(number, target)| *number > 2 && target.starts_with("pipe:"))
    );
    init.stop_with(0);
}

#[test]
fn nonsense_is_passed_over_and_what_is_no_text_is_told_as_text() {
    let words = [
        "notes",
        "",
        "|||",
        "=|=1|READY|READY=|READY=2|~=~",
        "STATUS=a~b|READY=0",
    ];
    let mut room = Room::with_host(&words, NOTIFY);
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    eventually("its status", || {
        room.json("run/host-init/state.json")["host"]["status"] == "a\u{fffd}b"
    });

    assert!(!is_ready(&room));
    init.stop_with(0);
    assert_eq!(count(&mut init, "host: ready"), 0);
}

#[test]
fn a_host_that_gives_itself_up_is_told_to_abort_at_once() {
    let words = ["notes", "READY=1", "WATCHDOG=trigger"];
    let mut room = Room::with_host(&words, &format!("{NOTIFY}start-limit = 1"));
    let mut init = Start::new(&room).spawn();

    init.says("host: watchdog: can't go on, as it says, told to abort");
    init.says("host: halted");

    assert_eq!(record(&room)["result"], "watchdog");
    assert_eq!(record(&room)["exit"]["signal"], "ABRT");
    room.told.all();
    init.stop_with(0);
}

#[test]
fn a_host_may_choose_another_interval_and_none() {
    // Without one in the config.
    let words = ["notes", "READY=1", "WATCHDOG_USEC=100000"];
    let room = Room::with_host(&words, &format!("{NOTIFY}start-limit = 1"));
    let mut init = Start::new(&room).spawn();
    init.says("host: watchdog: not heard of in time, told to abort");
    init.says("host: halted");
    init.stop_with(0);

    // In place of a shorter one.
    for longer in ["WATCHDOG_USEC=0", "WATCHDOG_USEC=3600000000"] {
        let words = ["notes", &format!("READY=1|{longer}")];
        let rest = format!("{NOTIFY}watchdog = \"300ms\"");
        let mut room = Room::with_host(&words, &rest);
        let mut init = Start::new(&room).spawn();
        is_up(&mut room);
        assert!(init.lives_for(Duration::from_secs(1)));
        init.stop_with(0);
        assert_eq!(count(&mut init, "told to abort"), 0);
    }
}

#[test]
fn a_host_that_is_not_ready_in_time_has_failed_and_is_started_again() {
    let rest = format!("{NOTIFY}ready-timeout = \"100ms\"");
    let mut room = Room::with_host(&["up"], &rest);
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    init.says("host: not ready in time, told to end");

    is_up(&mut room);
    let record = record(&room);
    assert_eq!(record["result"], "timeout");
    assert_eq!(record["exit"]["signal"], "TERM");
    assert_eq!(record["asked"], "none");
    init.stop_with(0);
}

#[test]
fn a_host_that_asks_for_more_time_has_it() {
    let rest = format!("{NOTIFY}ready-timeout = \"500ms\"");
    let mut room = Room::with_host(&["late", "EXTEND_TIMEOUT_USEC=60000000"], &rest);
    let mut init = Start::new(&room).spawn();

    init.says("host: ready");

    is_up(&mut room);
    assert_eq!(room.json("run/host-init/state.json")["host"]["starts"], 1);
    init.stop_with(0);
}

#[test]
fn a_host_that_is_not_heard_of_is_told_to_abort_and_the_record_says_why() {
    let mut room = Room::with_host(&["up"], "watchdog = \"200ms\"\nbackoff = \"0s\"");
    let mut init = Start::new(&room).spawn();
    is_up(&mut room);

    init.says("host: watchdog: not heard of in time, told to abort");

    is_up(&mut room);
    let record = record(&room);
    assert_eq!(record["result"], "watchdog");
    assert_eq!(record["exit"]["signal"], "ABRT");
    init.stop_with(0);
}

#[test]
fn a_flood_of_messages_does_not_keep_a_stop_from_being_heard() {
    let mut room = Room::with_host(&["notes-flood"], NOTIFY);
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("floods");
    assert!(init.lives_for(Duration::from_millis(200)));

    let time = init.stop_with(0);

    assert!(time < Duration::from_secs(5), "{time:?}");
}

#[test]
fn what_it_says_after_a_re_execution_is_heard() {
    let mut room = Room::with_host(&["ready-on-hup"], NOTIFY);
    let mut init = Start::new(&room).spawn();
    let up = room.told.next();
    let pid = up.strip_prefix("up ").unwrap().parse().unwrap();
    init.signal(59);
    init.says("re-executed");
    assert!(!is_ready(&room));

    init.signal_inside(pid, libc::SIGHUP);

    init.says("host: ready");
    init.signal(59);
    init.says("re-executed");
    eventually("its state", || is_ready(&room));
    assert_eq!(room.json("run/host-init/state.json")["host"]["starts"], 1);
    init.stop_with(0);
}

#[test]
fn a_socket_that_can_not_be_at_its_place_has_a_name_of_the_kernels() {
    let mut room = Room::with_host(&["notes", "READY=1"], NOTIFY);
    fs::create_dir_all(room.path().join("run/host-init/notify/full")).unwrap();
    let mut init = Start::new(&room).spawn();

    init.says("host: ready");

    is_up(&mut room);
    init.stop_with(0);
}

#[test]
fn the_log_is_not_the_hosts_own_however_often_it_says_something() {
    let words = ["ERRNO=5|STOPPING=1", "RELOADING=1|STOPPING=1", "MAINPID=1"];
    let words = words.into_iter().cycle().take(54);
    let words: Vec<&str> = ["notes"]
        .into_iter()
        .chain(words)
        .chain(["READY=1"])
        .collect();
    let mut room = Room::with_host(&words, NOTIFY);
    let mut init = Start::new(&room).spawn();
    for life in 1..=2 {
        let up = room.told.next();
        let pid = up.strip_prefix("up ").unwrap().parse().unwrap();
        // The last of what it says.
        init.says("host: ready");

        for (line, expected) in [
            ("host says: input/output error", 4),
            ("host says: it reloads", 4),
            ("host says: more: ignored", 1),
            ("host says: another main process: ignored", 1),
            ("host: ends by itself, as it says", 1),
        ] {
            assert_eq!(count(&mut init, line), life * expected, "{line}");
        }
        init.signal_inside(pid, libc::SIGKILL);
    }
    room.told.next();
    init.stop_with(0);
}
