//! A host on trial: counted, taken back, halted, kept.

use std::fs;
use std::os::unix::fs::symlink;

use crate::init::{End, Init};
use crate::lines::eventually;
use crate::room::{Room, config};
use crate::start::Start;

/// Three failures, without a wait between them.
const TRIAL: &str = "\
backoff = \"0s\"
backoff-max = \"0s\"
start-limit = 3
healthy-after = \"1s\"
record = \"/tmp/record\"
";

/// What `host-init confirm` sends.
const CONFIRM: i32 = 42;

/// What `host-init clear` sends.
const CLEAR: i32 = 43;

/// What `host-init restart` sends.
const RESTART: i32 = 44;

fn stage(room: &Room) -> String {
    room.json("run/host-init/state.json")["stage"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn is_halted(room: &Room, init: &mut Init, why: &str) {
    let line = init.says("host: halted: ");
    assert!(line.contains(why), "{line}");
    eventually("its state", || stage(room) == "halted");
}

/// A room with two versions, of which this one is current.
fn versions(words: &[&str], current: &str) -> Room {
    let rest = format!("{TRIAL}current = \"/tmp/versions/current\"\n");
    let room = Room::with_host(words, &rest);
    for version in ["1", "2", "3"] {
        fs::create_dir_all(room.path().join("tmp/versions").join(version)).unwrap();
    }
    choose(&room, current);
    room
}

/// Makes another version current, as any tool may.
fn choose(room: &Room, version: &str) {
    let directory = room.path().join("tmp/versions");
    symlink(version, directory.join("new")).unwrap();
    fs::rename(directory.join("new"), directory.join("current")).unwrap();
}

fn current(room: &Room) -> String {
    let link = fs::read_link(room.path().join("tmp/versions/current")).unwrap();
    link.to_str().unwrap().to_owned()
}

/// The host does something else from its next life on.
fn becomes(room: &Room, init: &mut Init, words: &[&str]) {
    let rest = format!("{TRIAL}current = \"/tmp/versions/current\"\n");
    room.write("etc/host-init.toml", &config(words, &rest));
    init.signal(libc::SIGHUP);
    init.says("config: read again");
}

/// Ends the host that runs.
fn kill_host(room: &Room, init: &Init) {
    let mut pid = None;
    eventually("the host's pid", || {
        pid = room.json("run/host-init/state.json")["host"]["pid"].as_i64();
        pid.is_some()
    });
    init.kill_inside(pid.unwrap().try_into().unwrap());
}

#[test]
fn a_host_that_fails_too_often_is_halted_and_host_init_stays() {
    let room = Room::with_host(&["dead"], TRIAL);
    let mut init = Start::new(&room).spawn();

    is_halted(&room, &mut init, "no version to go back to");

    let state = room.json("run/host-init/state.json");
    assert_eq!(state["host"]["starts"], 3);
    assert_eq!(state["host"]["trial"]["failures"], 3);
    assert_eq!(state["host"]["halted"], "no-way-back");
    assert_eq!(init.stop(), End::Code(0));

    // It is kept: nothing is started, in the next life neither.
    let mut init = restart(&room);
    is_halted(&room, &mut init, "no version to go back to");
    assert_eq!(room.json("run/host-init/state.json")["host"]["starts"], 0);
    init.signal(37);
    assert_eq!(init.end(), End::Code(0));
}

#[test]
fn a_soft_reboot_of_a_halted_machine_halts_again() {
    let room = Room::with_host(&["dead"], TRIAL);
    let mut init = Start::new(&room).spawn();
    is_halted(&room, &mut init, "no version to go back to");

    init.signal(41);

    is_halted(&room, &mut init, "no version to go back to");
    init.stop_with(0);
}

#[test]
fn a_host_that_is_up_long_enough_is_healthy_and_its_failures_are_forgotten() {
    let mut room = Room::with_host(&["quick", "2"], TRIAL);
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");

    init.says("host: healthy");

    eventually("its failures", || {
        room.json("run/host-init/state.json")["host"]["trial"]["failures"] == 0
    });
    init.stop_with(0);
}

#[test]
fn a_new_version_that_fails_is_taken_back_once() {
    let mut room = versions(&["up"], "1");
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("up");
    init.says("host: healthy");

    becomes(&room, &mut init, &["dead"]);
    choose(&room, "2");
    kill_host(&room, &init);

    init.says("host: failed too often, taking it back");
    // What was healthy once is not at fault.
    is_halted(&room, &mut init, "it was healthy before");
    assert_eq!(current(&room), "1");
    init.stop_with(0);

    // Whoever puts it there again has it tried, and not taken back by itself. Cleared by
    // a person, it may be taken back once more.
    choose(&room, "2");
    let mut init = restart(&room);
    is_halted(&room, &mut init, "again after it was taken back");
    init.signal(CLEAR);
    init.says("host: its failures are forgotten");
    init.says("host: failed too often, taking it back");
    is_halted(&room, &mut init, "it was healthy before");
    choose(&room, "2");
    init.signal(41);
    is_halted(&room, &mut init, "again after it was taken back");
    init.stop_with(0);
}

/// The next life on the same root, which knows what was kept and nothing else.
fn restart(room: &Room) -> Init {
    // Not there when the life before was too short to tell.
    let _ = fs::remove_file(room.path().join("run/host-init/state.json"));
    Start::new(room).spawn()
}

#[test]
fn who_confirms_a_host_makes_it_healthy_at_once() {
    let mut room = Room::with_host(&["quick", "2"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");

    init.signal(CONFIRM);

    init.says("host: healthy");
    eventually("its failures", || {
        room.json("run/host-init/state.json")["host"]["trial"]["failures"] == 0
    });
    init.stop_with(0);
}

#[test]
fn a_version_without_a_good_one_before_it_is_halted() {
    let room = versions(&["dead"], "1");
    let mut init = Start::new(&room).spawn();

    is_halted(&room, &mut init, "no version to go back to");
    init.stop_with(0);
}

#[test]
fn a_version_that_can_not_be_seen_is_said_at_each_start() {
    let long = "a".repeat(129);
    for (target, why) in [
        (None, "no such file or directory"),
        (Some(".."), "invalid argument"),
        (Some(long.as_str()), "name too long"),
    ] {
        let room = versions(&["dead"], "1");
        let link = room.path().join("tmp/versions/current");
        fs::remove_file(&link).unwrap();
        if let Some(target) = target {
            symlink(target, &link).unwrap();
        }
        let mut init = Start::new(&room).spawn();

        for _ in 0..3 {
            assert_eq!(
                init.says("see the version by "),
                format!("host-init: see the version by /tmp/versions/current: {why}")
            );
        }
        is_halted(&room, &mut init, "no version to go back to");
        init.stop_with(0);
    }

    // What is no link at all.
    let room = versions(&["dead"], "1");
    fs::remove_file(room.path().join("tmp/versions/current")).unwrap();
    room.write("tmp/versions/current", "1");
    let mut init = Start::new(&room).spawn();
    let line = init.says("see the version by ");
    assert!(line.ends_with(": invalid argument"), "{line}");
    init.stop();
}

#[test]
fn a_good_version_that_is_gone_can_not_be_taken_back_to() {
    let mut room = versions(&["up"], "1");
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("up");
    init.says("host: healthy");
    becomes(&room, &mut init, &["dead"]);
    choose(&room, "2");
    fs::remove_dir(room.path().join("tmp/versions/1")).unwrap();

    kill_host(&room, &init);

    is_halted(&room, &mut init, "could not be taken back");
    assert_eq!(current(&room), "2");
    init.stop_with(0);
}

#[test]
fn a_record_that_can_not_be_kept_is_told_once_and_counted_all_the_same() {
    let trial = TRIAL.replace("/tmp/record", "/nowhere/record");
    let room = Room::with_host(&["dead"], &trial);
    let mut init = Start::new(&room).spawn();

    let line = init.says("record: ");

    assert_eq!(
        line,
        "host-init: record: no such file or directory; failures are counted until the power goes"
    );
    is_halted(&room, &mut init, "no version to go back to");
    let said = init.said().all();
    let told = said.iter().filter(|line| line.contains("record: "));
    assert_eq!(told.count(), 1);
    init.stop_with(0);
}

#[test]
fn what_is_no_record_is_never_written_over() {
    let text = "a list of things to do\n";
    let room = Room::with_host(&["dead"], TRIAL);
    room.write("tmp/record", text);
    let mut init = Start::new(&room).spawn();

    let line = init.says("record: ");

    assert_eq!(
        line,
        "host-init: record: something else is there; failures are counted until the power goes"
    );
    is_halted(&room, &mut init, "no version to go back to");
    init.stop_with(0);
    assert_eq!(
        fs::read_to_string(room.path().join("tmp/record")).unwrap(),
        text
    );

    // Nor when it comes to be there later.
    let mut room = Room::with_host(&["quick", "2"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");
    room.write("tmp/record", text);
    eventually("its third life", || {
        room.json("run/host-init/state.json")["host"]["starts"] == 3
    });
    kill_host(&room, &init);
    init.says("record: something else is there");
    init.stop_with(0);
    assert_eq!(
        fs::read_to_string(room.path().join("tmp/record")).unwrap(),
        text
    );
}

#[test]
fn a_re_execution_forgets_no_failure() {
    let mut room = Room::with_host(&["quick", "2"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");

    eventually("its third life", || {
        room.json("run/host-init/state.json")["host"]["starts"] == 3
    });
    // Not what the life before says of it.
    let state = room.path().join("run/host-init/state.json");
    fs::remove_file(&state).unwrap();
    init.signal(59);
    init.says("re-executed");
    eventually("what was kept", || {
        state.exists() && room.json("run/host-init/state.json")["host"]["trial"]["failures"] == 2
    });
    kill_host(&room, &init);

    is_halted(&room, &mut init, "no version to go back to");
    init.stop_with(0);
}

#[test]
fn a_container_that_is_killed_with_its_host_has_failed() {
    let mut room = Room::with_host(&["up"], &TRIAL.replace("1s", "1h"));
    for failures in 0..3 {
        let mut init = restart(&room);
        room.told.wait_for("up");
        let state = room.path().join("run/host-init/state.json");
        eventually("its failures", || {
            state.exists()
                && room.json("run/host-init/state.json")["host"]["trial"]["failures"] == failures
        });
        init.signal(libc::SIGKILL);
        assert_eq!(init.end(), End::Signal(libc::SIGKILL));
    }

    let mut init = restart(&room);

    is_halted(&room, &mut init, "no version to go back to");
    init.stop_with(0);
}

#[test]
fn a_container_that_is_started_again_gets_another_round_three_times() {
    let trial = format!("{TRIAL}on-halt = \"exit\"\n");
    let room = Room::with_host(&["dead"], &trial);
    let mut init = Start::new(&room).spawn();
    init.says("host: halted: ");
    assert_eq!(init.end(), End::Code(253));

    // Who starts it again, as it is, has the same answer at once.
    let mut init = restart(&room);
    init.says("host: halted: ");
    assert_eq!(init.end(), End::Code(253));

    room.write(
        "etc/host-init.toml",
        &config(&["dead"], &trial.replace("exit", "reboot")),
    );
    for starts in [3, 3, 3, 0] {
        let mut init = restart(&room);
        init.says("host: halted: ");
        let state = room.path().join("run/host-init/state.json");
        eventually("its starts", || {
            state.exists() && room.json("run/host-init/state.json")["host"]["starts"] == starts
        });
        init.stop_with(0);
    }
}

#[test]
fn a_trial_that_a_reload_turns_on_goes_on_from_what_was_kept() {
    let mut room = Room::with_host(&["quick", "2"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    assert_eq!(room.told.next(), "done");
    init.stop_with(0);
    let kept = fs::read(room.path().join("tmp/record")).unwrap();

    room.write("etc/host-init.toml", &config(&["up"], ""));
    let mut init = restart(&room);
    room.told.wait_for("up");
    room.write(
        "etc/host-init.toml",
        &config(&["dead"], &TRIAL.replace("1s", "1h")),
    );
    init.signal(libc::SIGHUP);
    init.says("config: read again");
    init.signal(CONFIRM);
    init.says("confirm: refused");
    assert_eq!(fs::read(room.path().join("tmp/record")).unwrap(), kept);
    kill_host(&room, &init);

    // Two before, and this one.
    is_halted(&room, &mut init, "no version to go back to");
    eventually("its start", || {
        room.json("run/host-init/state.json")["host"]["starts"] == 2
    });
    init.stop_with(0);
}

#[test]
fn a_switch_makes_a_version_current_and_has_it_started() {
    let room = versions(&["client", "switch", "3"], "1");
    let mut init = Start::new(&room).spawn();

    // It stays when the client is done: nothing but the request ends it.
    eventually("the switch", || current(&room) == "3");
    eventually("a next start", || {
        let host = &room.json("run/host-init/state.json")["host"];
        host["starts"].as_u64() >= Some(2) && host["trial"]["failures"] == 0
    });
    init.stop();
}

#[test]
fn a_host_is_started_anew_by_request_and_that_is_no_failure() {
    let mut room = versions(&["up"], "1");
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("up");
    choose(&room, "2");

    init.signal(RESTART);

    room.told.wait_for("up");
    eventually("its second start", || {
        let host = &room.json("run/host-init/state.json")["host"];
        host["starts"] == 2 && host["trial"]["failures"] == 0
    });
    init.stop_with(0);
}

#[test]
fn a_command_takes_a_version_back_once() {
    for (code, why) in [
        ("0", "again after it was taken back"),
        ("3", "could not be taken back"),
    ] {
        let rest = format!("{TRIAL}rollback = [\"/host\", \"back\", \"{code}\"]\n");
        let mut room = Room::with_host(&["dead"], &rest);
        let mut init = Start::new(&room).spawn();

        init.says("host: failed too often, taking it back");
        // A container's output is all there is to be read.
        init.says("back, it says");
        assert_eq!(room.told.next(), "back");
        if code != "0" {
            let line = init.says("host: could not be taken back: ");
            assert!(line.ends_with("exit 3"), "{line}");
        }
        is_halted(&room, &mut init, why);
        init.stop_with(0);
    }
}

#[test]
fn a_command_that_hangs_is_killed_and_one_that_is_not_there_is_told() {
    for (command, said) in [
        (
            "[\"/host\", \"stubborn\"]",
            "host: took too long to take back, killed",
        ),
        ("[\"/nothing\"]", "host: could not be taken back: exit 127"),
    ] {
        let rest = format!("{TRIAL}rollback = {command}\nrollback-timeout = \"200ms\"\n");
        let room = Room::with_host(&["dead"], &rest);
        let mut init = Start::new(&room).spawn();

        init.says(said);

        is_halted(&room, &mut init, "could not be taken back");
        init.stop_with(0);
    }
}

/// Has the config name another record.
fn record_becomes(room: &Room, init: &mut Init, path: &str) {
    let rest = TRIAL.replace("1s", "1h").replace("/tmp/record", path);
    room.write("etc/host-init.toml", &config(&["up"], &rest));
    init.signal(libc::SIGHUP);
    init.says("config: read again");
}

/// How many failures the host has at the start of another life.
fn failures(room: &mut Room) -> u64 {
    let mut init = restart(room);
    room.told.wait_for("up");
    let state = room.path().join("run/host-init/state.json");
    let mut failures = None;
    eventually("its failures", || {
        failures = state
            .exists()
            .then(|| room.json("run/host-init/state.json"))
            .and_then(|state| state["host"]["trial"]["failures"].as_u64());
        failures.is_some()
    });
    init.stop_with(0);
    failures.unwrap()
}

#[test]
fn a_record_that_moves_leaves_no_start_open_behind_it() {
    let mut room = Room::with_host(&["up"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("up");
    // There and back, and the same by another name.
    for path in ["/tmp/other", "/tmp/record", "/tmp/./record"] {
        record_becomes(&room, &mut init, path);
    }
    init.stop_with(0);
    assert!(!room.path().join("tmp/other").exists(), "before a start");
    assert_eq!(failures(&mut room), 0);

    // With a start at each place.
    let mut init = restart(&room);
    room.told.wait_for("up");
    for path in ["/tmp/other", "/tmp/record", "/tmp/other"] {
        record_becomes(&room, &mut init, path);
        init.signal(RESTART);
        room.told.wait_for("up");
    }
    init.stop_with(0);
    assert_eq!(failures(&mut room), 0);
    let rest = TRIAL.replace("1s", "1h");
    room.write("etc/host-init.toml", &config(&["up"], &rest));
    assert_eq!(failures(&mut room), 0);
}

#[test]
fn what_is_confirmed_is_kept_where_the_start_was() {
    let mut room = Room::with_host(&["up"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("up");
    kill_host(&room, &init);
    room.told.wait_for("up");
    record_becomes(&room, &mut init, "/tmp/other");
    init.signal(CONFIRM);
    init.says("host: healthy");
    init.stop_with(0);

    room.write(
        "etc/host-init.toml",
        &config(&["up"], &TRIAL.replace("1s", "1h")),
    );
    assert_eq!(failures(&mut room), 0);
}

#[test]
fn a_record_that_is_gone_does_not_keep_the_next_from_being_written() {
    let mut room = Room::with_host(&["up"], &TRIAL.replace("1s", "1h"));
    let mut init = Start::new(&room).spawn();
    room.told.wait_for("up");
    let old = room.path().join("tmp/record");
    fs::remove_file(&old).unwrap();
    fs::create_dir(&old).unwrap();
    record_becomes(&room, &mut init, "/tmp/other");

    init.signal(RESTART);

    room.told.wait_for("up");
    assert!(room.path().join("tmp/other").exists(), "before the start");
    init.stop_with(0);
    assert_eq!(failures(&mut room), 0);
}
