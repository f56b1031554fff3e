//! How it begins: whatever its parent gave it, and what its host gets.

use std::ffi::CString;
use std::fs;

use crate::init::{End, Init};
use crate::lines::eventually;
use crate::room::{Room, config};
use crate::start::{Refused, Signals, Start, pipe};

/// What a host reports of its beginning, line by line.
pub(crate) fn report(room: &mut Room) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        match room.told.next() {
            line if line == "end" => return lines,
            line => lines.push(line),
        }
    }
}

/// The one line of a report that starts so, without its start.
fn of<'r>(report: &'r [String], start: &str) -> &'r str {
    let mut lines = report.iter().filter_map(|line| line.strip_prefix(start));
    let line = lines.next();
    assert_eq!(lines.next(), None, "{start}");
    line.unwrap_or_else(|| panic!("no {start:?} in {report:#?}"))
        .trim()
}

/// The descriptors of a report.
fn descriptors(report: &[String]) -> Vec<&str> {
    report
        .iter()
        .filter_map(|line| line.strip_prefix("fd "))
        .collect()
}

pub(crate) fn is_up(room: &mut Room) {
    assert!(room.told.next().starts_with("up "));
}

/// What PID 1 holds while a host is up, by where it leads: besides 0, 1 and 2
/// these and no other.
pub(crate) fn assert_holds_its_own_only(init: &Init) {
    /// Where a descriptor leads, without what differs from run to run.
    fn kind(target: &str) -> &str {
        if target.ends_with("/run/host-init") {
            "/run/host-init"
        } else if target.starts_with("pidfd:[") {
            // The kernel's own filesystem of them, since 6.9.
            "anon_inode:[pidfd]"
        } else {
            target
        }
    }
    let own = [
        "/run/host-init",
        "anon_inode:[eventpoll]",
        "anon_inode:[pidfd]",
        "anon_inode:[signalfd]",
    ];
    let mut held = Vec::new();
    // A child of the boot may be at work yet, and is held like the host.
    eventually("PID 1's own descriptors and no others", || {
        held = init.descriptors();
        let mut kinds: Vec<&str> = held
            .iter()
            .filter(|(number, _)| *number > 2)
            .map(|(_, target)| kind(target))
            .collect();
        kinds.sort_unstable();
        kinds == own
    });
}

#[test]
fn blocked_and_ignored_signals_are_for_neither_it_nor_its_host() {
    let mut room = Room::with_host(&["report"], "");
    let mut init = Start::new(&room).signals(Signals::Hostile).spawn();

    let report = report(&mut room);

    assert_eq!(of(&report, "SigBlk:"), "0000000000000000");
    assert_eq!(of(&report, "SigIgn:"), "0000000000000000");
    assert_eq!(of(&report, "SigCgt:"), "0000000000000000");
    assert_eq!(of(&report, "SigPnd:"), "0000000000000000");
    assert_eq!(of(&report, "ShdPnd:"), "0000000000000000");
    // All but KILL and STOP, and those that say that PID 1 itself is at fault.
    assert_eq!(init.status("SigBlk"), "fffffffffffbfa27");
    init.stop_with(0);
}

#[test]
fn a_host_begins_in_a_session_and_with_descriptors_of_its_own() {
    let rest =
        "directory = \"/tmp\"\n[host.environment]\nGREETING = \"hello  world\"\nHOME = \"/x\"";
    let mut room = Room::with_host(&["report", "one", "two words", ""], rest);
    let environment = ["container=test", "PATH=/given", "HOME=/given", "EMPTY="];
    let mut init = Start::new(&room)
        .environment(
            environment
                .map(|entry| CString::new(entry).unwrap())
                .to_vec(),
        )
        .open(&(3..40).chain([255, 256, 700]).collect::<Vec<i32>>())
        .spawn();

    let report = report(&mut room);

    assert_eq!(of(&report, "leads:"), "true");
    assert_eq!(of(&report, "parent:"), "1");
    assert_eq!(of(&report, "words:"), r#"["one", "two words", ""]"#);
    assert_eq!(of(&report, "directory:"), "/tmp");
    assert_eq!(of(&report, "Umask:"), "0022");
    let held = descriptors(&report);
    assert_eq!(held[..2], ["0: /dev/null", "1: /dev/null"]);
    assert!(held[2].starts_with("2: pipe:["), "{held:?}");
    assert_eq!(held.len(), 3, "{held:?}");
    let mut variables: Vec<&str> = report
        .iter()
        .filter_map(|line| line.strip_prefix("variable "))
        .collect();
    variables.sort_unstable();
    assert_eq!(
        variables,
        [
            "EMPTY=",
            "GREETING=hello  world",
            "HOME=/x",
            "PATH=/given",
            "container=test",
        ]
    );
    assert_holds_its_own_only(&init);
    init.stop_with(0);
}

#[test]
fn each_output_leads_where_the_config_says() {
    for output in ["console", "null"] {
        let mut room = Room::with_host(&["report"], &format!("output = \"{output}\""));
        let (_read, write) = pipe();
        let mut init = Start::new(&room).stdio(1, Some(write)).spawn();

        let report = report(&mut room);

        // A container's console is what it was given.
        let held = init.descriptors();
        let [_, (_, out), (_, err), ..] = &held[..] else {
            panic!("{held:?}");
        };
        let expected = match output {
            "console" => [format!("1: {out}"), format!("2: {err}")],
            _ => ["1: /dev/null".to_owned(), "2: /dev/null".to_owned()],
        };
        assert_eq!(descriptors(&report)[1..], expected);
        init.stop_with(0);
    }
}

#[test]
fn an_empty_argv_is_no_argument() {
    // The kernel makes an empty name of it since 5.18.
    let mut room = Room::with_host(&["up"], "");
    let mut init = Start::new(&room).arguments(&[]).spawn();

    is_up(&mut room);

    init.stop_with(0);
}

#[test]
fn the_config_is_the_one_that_is_named() {
    let mut room = Room::with_host(&["up"], "");
    let config = room.read("etc/host-init.toml");
    room.write("tmp/other.toml", &config);
    room.write("etc/host-init.toml", "");
    for words in [
        &[c"/init", c"--config", c"/tmp/other.toml"][..],
        &[c"/init", c"--config=/tmp/other.toml"],
    ] {
        let mut init = Start::new(&room).arguments(words).spawn();

        is_up(&mut room);

        init.stop_with(0);
    }
}

#[test]
fn the_option_is_stronger_than_the_variable_and_that_than_the_usual_place() {
    for (usual, variable, option) in [
        ("up", None, None),
        ("dead", Some("up"), None),
        ("dead", Some("dead"), Some("up")),
        ("dead", None, Some("up")),
    ] {
        let mut room = Room::with_host(&[usual], "");
        let mut environment = vec![c"HOST_INIT_CONFIG=".to_owned()];
        let mut words = vec![c"/init"];
        if let Some(role) = variable {
            room.write("tmp/variable.toml", &config(&[role], ""));
            environment = vec![c"HOST_INIT_CONFIG=/tmp/variable.toml".to_owned()];
        }
        if let Some(role) = option {
            room.write("tmp/option.toml", &config(&[role], ""));
            words.extend([c"--config", c"/tmp/option.toml"]);
        }
        let mut init = Start::new(&room)
            .arguments(&words)
            .environment(environment)
            .spawn();

        is_up(&mut room);

        init.stop_with(0);
        let said = init.said().all();
        assert!(!said.iter().any(|line| line.contains("host: exit 1")));
    }
}

#[test]
fn a_container_without_a_config_says_so_and_ends() {
    let room = Room::new("");
    fs::remove_file(room.path().join("etc/host-init.toml")).unwrap();
    let words = [c"/init", c"--config", c"/tmp/none.toml"];
    let mut init = Start::new(&room).arguments(&words).spawn();

    let line = init.says("read ");

    assert_eq!(
        line,
        "host-init: read /tmp/none.toml: no such file or directory"
    );
    assert_eq!(init.end(), End::Code(254));
}

#[test]
fn a_bad_command_line_is_the_end() {
    let room = Room::new("");
    for (words, said) in [
        (
            &[c"/init", c"--config"][..],
            "host-init: option requires an argument '--config'; host-init --help lists the options",
        ),
        // PID 1 leaves the directory that it was started in.
        (
            &[c"/init", c"--config", c"host.toml"],
            "host-init: not a valid value for --config: host.toml; expected an absolute path",
        ),
        (
            &[c"/init", c"--wait"],
            "host-init: options for a command, and no command; host-init --help says more",
        ),
        (
            &[c"/init", c"--config=/etc/host-init.toml", c"-k", c"5s"],
            "host-init: options for a command, and no command; host-init --help says more",
        ),
    ] {
        let mut init = Start::new(&room).arguments(words).spawn();

        assert_eq!(init.says("host-init: "), said);
        assert_eq!(init.end(), End::Code(254));
    }
}

#[test]
fn a_bad_config_is_refused_whole_and_every_error_told() {
    let room = Room::new("hostnam = 1\n[host]\ncommand = []\nstop-grace = 5\n");
    let mut init = Start::new(&room).spawn();

    for place in [":1:1: ", ":3:1: ", ":4:14: "] {
        let line = init.says(place);
        assert!(
            line.starts_with("host-init: /etc/host-init.toml:"),
            "{line}"
        );
    }

    assert_eq!(init.end(), End::Code(254));
}

#[test]
fn an_environment_of_a_megabyte_reaches_the_host_whole() {
    let mut room = Room::with_host(&["report"], "");
    let entries = (0..16)
        .map(|number| CString::new(format!("BIG_{number}={}", "x".repeat(65_000))).unwrap())
        .collect();
    let mut init = Start::new(&room).environment(entries).spawn();

    let report = report(&mut room);

    for number in 0..16 {
        assert_eq!(
            of(&report, &format!("variable BIG_{number}=")),
            "<65000 bytes>"
        );
    }
    assert!(of(&report, "variable PATH=").starts_with("/usr/local/sbin:"));
    init.stop_with(0);
}

#[test]
fn an_environment_of_twenty_thousand_entries_reaches_the_host_whole() {
    let mut room = Room::with_host(&["report"], "[host.environment]\nMINE = \"yes\"");
    let entries = (0..20_000)
        .map(|number| CString::new(format!("MANY_{number}={number}")).unwrap())
        .collect();
    let mut init = Start::new(&room).environment(entries).spawn();

    for life in 0..2 {
        let report = report(&mut room);

        assert_eq!(of(&report, "variable MINE="), "yes");
        assert!(of(&report, "variable PATH=").starts_with("/usr/local/sbin:"));
        let many: Vec<&str> = report
            .iter()
            .filter_map(|line| line.strip_prefix("variable MANY_"))
            .collect();
        let expected: Vec<String> = (0..20_000)
            .map(|number| format!("{number}={number}"))
            .collect();
        assert_eq!(many, expected);
        // Nor does it get lost when PID 1 is executed again.
        if life == 0 {
            init.signal(34 + 25);
            init.says("re-executed; host: pid ");
            init.signal(34 + 7);
        }
    }
    init.stop_with(0);
}

#[test]
fn what_ended_before_it_was_the_one_to_ask_is_released() {
    for refused in [Refused::Nothing, Refused::Ends] {
        let mut room = Room::with_host(&["up"], "");
        let mut init = Start::new(&room).with_zombie().refused(refused).spawn();
        let up = room.told.next();

        let host: i32 = up.strip_prefix("up ").unwrap().parse().unwrap();
        eventually("the host alone", || init.pids() == [1, host]);

        init.stop_with(0);
    }
}

#[test]
fn it_needs_no_proc() {
    let mut room = Room::with_host(&["up"], "");
    let mut init = Start::new(&room).without_proc().spawn();

    is_up(&mut room);

    eventually("the host's state", || {
        room.json("run/host-init/state.json")["host"]["state"] == "up"
    });
    init.stop_with(0);
}

#[test]
fn where_nothing_can_be_written_it_says_so_once_and_supervises() {
    let mut room = Room::with_host(&["up"], "backoff = \"0s\"");
    let mut init = Start::new(&room).read_only().spawn();
    for _ in 0..3 {
        is_up(&mut room);
        eventually("one host", || init.pids().len() == 2);
        let host = init.says("host: started, pid ");
        let host = host.rsplit(' ').next().unwrap();
        init.kill_inside(host.parse().unwrap());
    }
    is_up(&mut room);

    init.stop_with(0);

    let said = init.said().all();
    let complaints = said.iter().filter(|line| line.contains("/run/host-init"));
    assert_eq!(complaints.count(), 1, "{said:#?}");
}
