//! How hosts end, and what is written down about it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::room::Room;
use crate::start::{Refused, Start};

/// Starts again without a wait.
const QUICK: &str = "backoff = \"0s\"\nbackoff-max = \"0s\"";

/// Ends a life each way; what the records said of each.
fn records(ends: &[String], refused: Refused) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    // A command has so many words.
    for ends in ends.chunks(60) {
        let mut words = vec!["lives"];
        words.extend(ends.iter().map(String::as_str));
        let mut room = Room::with_host(&words, QUICK);
        let mut init = Start::new(&room).refused(refused).spawn();
        for _ in ends {
            let line = room.told.next();
            let (status, record) = line.split_once(' ').unwrap();
            all.push((status.to_owned(), serde_json::from_str(record).unwrap()));
        }
        assert_eq!(room.told.next(), "stays");
        init.stop_with(0);
    }
    all
}

#[test]
fn every_exit_code_is_recorded_exactly_by_either_way_of_reaping() {
    let ends: Vec<String> = (0..=255).map(|code| format!("exit {code}")).collect();

    for refused in [Refused::Nothing, Refused::Ends] {
        for (code, (status, record)) in records(&ends, refused).into_iter().enumerate() {
            let result = if code == 0 { "success" } else { "exit-code" };
            assert_eq!(status, code.to_string());
            assert_eq!(record["exit"], json!({"code": code}), "{refused:?}");
            assert_eq!(record["result"], result);
            assert_eq!(record["service"], "host");
            assert_eq!(record["asked"], "none");
        }
    }
}

#[test]
fn death_by_every_signal_is_recorded_exactly_by_either_way_of_reaping() {
    // The kernel's default for the others is not death: CHLD, CONT, STOP, TSTP,
    // TTIN, TTOU, URG, WINCH.
    let signals: Vec<i32> = (1..=31)
        .chain(34..=64)
        .filter(|number| !matches!(number, 17..=23 | 28))
        .collect();
    let ends: Vec<String> = signals
        .iter()
        .map(|number| format!("signal {number}"))
        .collect();

    for refused in [Refused::Nothing, Refused::Ends] {
        for (number, (status, record)) in signals.iter().zip(records(&ends, refused)) {
            assert_eq!(status, (128 + number).to_string());
            assert_eq!(record["exit"]["number"], *number, "{refused:?}");
            assert_eq!(record["exit"]["code"], Value::Null);
            // A machine that pipes core dumps to a program dumps without a limit.
            let result = if record["exit"]["dumped"] == true {
                "core-dump"
            } else {
                "signal"
            };
            assert_eq!(record["result"], result);
        }
    }
}

#[test]
fn a_fault_of_the_hosts_is_a_signal_and_its_dump_is_seen() {
    for (bytes, is_dumped) in [(0, false), (1 << 30, true)] {
        let mut room = Room::with_host(&["dumps"], &format!("{QUICK}\ndirectory = \"/tmp\""));
        let mut init = Start::new(&room).core_bytes(bytes).spawn();
        let line = room.told.next();

        let record: Value = serde_json::from_str(&line).unwrap();

        let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
        assert_eq!(record["exit"]["signal"], "SEGV");
        assert_eq!(record["exit"]["number"], 11);
        if pattern.starts_with('|') {
            // The limit is for files: the dump depends on the program behind it.
            assert!(record["exit"]["dumped"].is_boolean());
        } else {
            assert_eq!(record["exit"]["dumped"], is_dumped, "{bytes}");
        }
        init.says("host: killed by SEGV");
        init.stop_with(0);
    }
}

#[test]
fn a_program_that_cannot_be_one_is_recorded_by_its_step_and_reason() {
    for (name, content, mode, errno, status) in [
        ("none", None, 0, "ENOENT", 127),
        ("none/below", None, 0, "ENOENT", 127),
        ("init/below", None, 0, "ENOTDIR", 127),
        ("tmp", None, 0, "EACCES", 126),
        ("tmp/no-right", Some("#!/bin/sh\n"), 0o644, "EACCES", 126),
        (
            "tmp/no-shell",
            Some("#!/no/such/shell\n"),
            0o755,
            "ENOENT",
            127,
        ),
        ("tmp/text", Some("what is this\n"), 0o755, "ENOEXEC", 126),
        ("tmp/empty", Some(""), 0o755, "ENOEXEC", 126),
    ] {
        // With a word that is too long for a slot the child is a fork.
        for word in ["short".to_owned(), "x".repeat(5_000)] {
            let room = Room::new(&format!("[host]\ncommand = [\"/{name}\", \"{word}\"]\n"));
            if let Some(content) = content {
                room.write(name, content);
                let mode = fs::Permissions::from_mode(mode);
                fs::set_permissions(room.path().join(name), mode).unwrap();
            }
            let mut init = Start::new(&room).spawn();

            // The second failure is the first that is waited after.
            init.says("host: exec: ");
            init.says("host: exec: ");
            init.says("host: next start in ");

            let record = room.json("run/host-init/status/host.json");
            assert_eq!(record["exit"]["step"], "exec", "{name}");
            assert_eq!(record["exit"]["errno"], errno, "{name}");
            assert_eq!(record["exit"]["code"], 203);
            assert_eq!(record["result"], "exit-code");
            let number = room.read("run/host-init/status/host");
            assert_eq!(number, format!("{status}\n"), "{name}");
            let state = room.json("run/host-init/state.json");
            assert_eq!(state["stage"], "running");
            init.stop_with(0);
        }
    }
}

#[test]
fn a_working_directory_that_is_not_there_is_recorded_as_such() {
    let room = Room::with_host(&["up"], "directory = \"/tmp/none\"");
    let mut init = Start::new(&room).spawn();

    let line = init.says("chdir");
    init.says("chdir");
    init.says("next start");

    assert_eq!(line, "host-init: host: chdir: no such file or directory");
    let record = room.json("run/host-init/status/host.json");
    assert_eq!(
        record["exit"],
        json!({"step": "chdir", "errno": "ENOENT", "code": 200})
    );
    init.stop_with(0);
}

#[test]
fn a_host_that_was_missing_is_started_when_it_is_there() {
    let mut room = Room::new("[host]\ncommand = [\"/tmp/late\"]\nbackoff = \"10ms\"\n");
    let mut init = Start::new(&room).spawn();
    init.says("host: exec: no such file or directory");

    room.write("tmp/aside", "#!/host up\n");
    let aside = room.path().join("tmp/aside");
    fs::set_permissions(&aside, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(aside, room.path().join("tmp/late")).unwrap();

    assert!(room.told.next().starts_with("up "));
    init.stop_with(0);
}

#[test]
fn a_reader_never_sees_a_part_of_a_file() {
    let mut room = Room::with_host(&["quick", "300"], QUICK);
    let is_done = AtomicBool::new(false);
    let directory = room.path().join("run/host-init");

    let reads = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0_u32;
            while !is_done.load(Ordering::Relaxed) {
                for name in ["state.json", "status/host.json"] {
                    // Before the first there is none.
                    let Ok(text) = fs::read_to_string(directory.join(name)) else {
                        continue;
                    };
                    assert!(text.ends_with("}\n"), "{name}: {text:?}");
                    let value: Result<Value, _> = serde_json::from_str(&text);
                    assert!(value.is_ok(), "{name}: {text:?}");
                    reads += 1;
                }
                let Ok(text) = fs::read_to_string(directory.join("status/host")) else {
                    continue;
                };
                // The last life is asked to end.
                assert!(matches!(text.as_str(), "3\n" | "143\n"), "{text:?}");
            }
            reads
        });
        let mut init = Start::new(&room).spawn();
        assert_eq!(room.told.next(), "done");
        init.stop_with(0);
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });

    assert!(reads > 300, "{reads}");
}
