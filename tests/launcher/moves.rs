//! Moving here with what the launcher has left, living with it, and moving back.

use std::fs;
use std::io::Read;
use std::process::Command;

use crate::init::End;
use crate::lines::eventually;
use crate::node::{CONFIG, Files, Node, stop};

const RECORD: &str = "record = \"/record\"";

/// What `host-init clear` sends.
const CLEAR: i32 = 43;

/// What a file of the launcher's says to a shell that reads it as the script did.
fn shell_reads(node: &Node) -> String {
    let script = "read -r count rest < \"$1\" && printf %s \"$count\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(node.path("start-attempts"))
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_the_launcher_has_left_counts_is_said_and_goes_on() {
    for rest in ["", RECORD] {
        let mut node = Node::new(&["exit 1"]).config(rest);
        node.put("start-attempts", b"1\n");
        let mut init = node.start();
        init.says("launcher: 1 failures");
        assert_eq!(node.room.told.next(), "stay");
        node.will_have(&Files::new("2", None, false));
        stop(init);

        // The next life goes on with it, and so would the script.
        assert_eq!(shell_reads(&node), "2");
        node.plan(&["exit 1"]);
        let mut init = node.start();
        init.says("host: failed too often, taking it back");
        assert_eq!(node.room.told.next(), "rollback");
        node.will_have(&Files::new("0", None, true));
        stop(init);
    }
}

#[test]
fn a_reason_that_a_person_wrote_is_said_and_kept() {
    let node = Node::new(&[]).config(RECORD);
    node.put("halted", b"the disk is to be replaced\n");
    node.put("rollback-attempted", b"by hand\n");
    let mut init = node.start();

    init.says("launcher: 0 failures, taken back, halted: the disk is to be replaced");
    node.is_halted(&mut init, "by the file halted");
    stop(init);

    let kept = fs::read_to_string(node.path("rollback-attempted")).unwrap();
    assert_eq!(kept, "by hand\n");
    let mut init = node.start();
    node.is_halted(&mut init, "by the file halted");
    stop(init);
    let reason = "the disk is to be replaced\n".to_owned();
    assert_eq!(node.files().halted, Some(reason));
}

#[test]
fn a_host_that_a_person_halted_gets_no_round_by_itself() {
    for (reason, starts) in [
        ("the disk is to be replaced\n", 0),
        ("rollback failed\n", 3),
    ] {
        let node = Node::new(&["exit 1"; 3]).config("on-halt = \"reboot\"");
        node.put("halted", reason.as_bytes());
        node.put("rollback-attempted", b"");
        let mut init = node.start();

        node.is_halted(&mut init, "");

        assert_eq!(node.starts(), starts, "{reason}");
        stop(init);
    }
}

#[test]
fn with_a_record_the_files_are_for_others_and_it_is_cleared_by_request() {
    let mut node = Node::new(&["exit 1"; 6]).config(RECORD);
    let mut init = node.start();
    node.is_halted(&mut init, "again after it was taken back");
    let halted = Files::new("3", Some("rolled back and still failing"), true);
    node.will_have(&halted);
    stop(init);

    // Whatever the power has left of three files that are written in turn, or a person:
    // they say what is so as soon as it is known.
    for gone in [
        &["halted"][..],
        &["rollback-attempted", "halted"],
        &["start-attempts", "rollback-attempted", "halted"],
    ] {
        for name in gone {
            fs::remove_file(node.path(name)).unwrap();
        }
        let mut init = node.start();
        node.is_halted(&mut init, "again after it was taken back");
        assert_eq!(node.files(), halted, "{gone:?}");
        stop(init);
    }
    node.put("start-attempts", b"1");
    let mut init = node.start();
    node.is_halted(&mut init, "again after it was taken back");
    assert_eq!(node.files(), halted);

    init.signal(CLEAR);

    init.says("host: its failures are forgotten");
    while node.room.told.next() != "stay" {}
    node.will_have(&Files::new("0", None, false));
    stop(init);
}

#[test]
fn who_goes_back_finds_the_script_s_own_files() {
    let node = Node::new(&["exit 1"; 6]).config(RECORD);
    let mut init = node.start();
    node.is_halted(&mut init, "again after it was taken back");
    stop(init);

    assert_eq!(shell_reads(&node), "3");
    let halted = Files::new("3", Some("rolled back and still failing"), true);
    assert_eq!(node.files(), halted);
    // And nothing else.
    let mut names: Vec<_> = fs::read_dir(node.path("")).unwrap().collect();
    assert_eq!(names.drain(..).count(), 3);
}

#[test]
fn a_file_is_replaced_and_never_half_written() {
    let mut node = Node::new(&["exit 1"]);
    node.put("start-attempts", b"1\n");
    // What a life before was interrupted at is in nobody's way.
    node.put(".host-init-launcher", b"half");
    let mut before = fs::File::open(node.path("start-attempts")).unwrap();
    let init = node.start();
    assert_eq!(node.room.told.next(), "stay");
    node.will_have(&Files::new("2", None, false));
    stop(init);

    let mut text = String::new();
    before.read_to_string(&mut text).unwrap();
    assert_eq!(text, "1\n");
    assert!(!node.path(".host-init-launcher").exists());
}

#[test]
fn a_directory_that_is_missing_is_made_when_there_is_something_to_say() {
    let mut node = Node::new(&["exit 0", "slow 0", "exit 1"]);
    fs::remove_dir(node.path("")).unwrap();
    let init = node.start();
    assert_eq!(node.room.told.next(), "slow");
    assert!(!node.path("").exists());
    eventually("its state", || node.starts() == 2);
    stop(init);

    let init = node.start();
    while node.room.told.next() != "stay" {}
    node.will_have(&Files::new("1", None, false));
    stop(init);
}

#[test]
fn a_directory_that_can_not_be_written_is_said_and_failures_are_counted() {
    for (rest, said) in [
        ("", "record: not a directory; failures are counted until"),
        (RECORD, "write /state: not a directory"),
    ] {
        let mut node = Node::new(&["exit 1", "exit 1", "exit 1"]).config(rest);
        fs::remove_dir(node.path("")).unwrap();
        fs::write(node.room.path().join("state"), "").unwrap();
        let mut init = node.start();

        init.says("read /state: not a directory");
        init.says(said);
        assert_eq!(node.room.told.next(), "rollback");
        stop(init);
    }
}

#[test]
fn where_the_record_can_not_be_written_the_files_still_are() {
    let mut node = Node::new(&["exit 1"]).config("record = \"/nowhere/record\"");
    let mut init = node.start();

    init.says("record: no such file or directory; failures are counted until");
    assert_eq!(node.room.told.next(), "stay");

    node.will_have(&Files::new("1", None, false));
    stop(init);
}

#[test]
fn a_life_that_is_killed_is_a_failure_where_there_is_a_record() {
    for (rest, failures) in [("", "0"), (RECORD, "1")] {
        let mut node = Node::new(&[]).config(rest);
        node.put("start-attempts", b"0\n");
        let mut init = node.start();
        assert_eq!(node.room.told.next(), "stay");
        init.signal(libc::SIGKILL);
        assert_eq!(init.end(), End::Signal(libc::SIGKILL));

        let init = node.start();

        assert_eq!(node.room.told.next(), "stay");
        node.will_have(&Files::new(failures, None, false));
        stop(init);
    }
}

#[test]
fn a_host_that_clears_its_counter_is_not_heard_so() {
    let mut node = Node::new(&["write start-attempts 0 exit 1"; 3]);
    let init = node.start();

    assert_eq!(node.room.told.next(), "rollback");

    stop(init);
}

#[test]
fn a_helper_that_hangs_is_killed() {
    let node = Node::new(&[]).config("rollback-timeout = \"200ms\"");
    node.put("start-attempts", b"3\n");
    node.help("stubborn");
    let mut init = node.start();

    init.says("host: took too long to take back, killed");

    node.is_halted(&mut init, "could not be taken back");
    node.will_have(&Files::new("3", Some("rollback failed"), true));
    stop(init);
}

#[test]
fn a_host_ignores_no_signal_from_its_birth() {
    let mut node = Node::new(&["slow 0"]);
    let init = node.start();
    assert_eq!(node.room.told.next(), "slow");
    eventually("its pid", || node.number("/host/pid").is_some());

    let pid = node.number("/host/pid").unwrap();
    let status = fs::read_to_string(init.proc(&format!("root/proc/{pid}/status"))).unwrap();

    let ignored = status.lines().find(|line| line.starts_with("SigIgn:"));
    assert_eq!(ignored, Some("SigIgn:\t0000000000000000"));
    stop(init);
}

#[test]
fn what_the_config_says_is_stronger_than_a_variable() {
    let rest = "start-limit = 1\nrollback = [\"/libexec/rollback\"]";
    let mut node = Node::new(&["exit 1"])
        .config(rest)
        .variable("MESH_HOST_START_LIMIT", "7")
        .variable("MESH_HOST_LIBEXEC", "/nowhere");
    let init = node.start();
    assert_eq!(node.room.told.next(), "rollback");
    assert_eq!(node.room.told.next(), "stay");
    eventually("two starts", || node.starts() == 2);
    stop(init);

    let mut node = Node::new(&["exit 1"; 4]).variable("MESH_HOST_START_LIMIT", "4");
    let init = node.start();
    assert_eq!(node.room.told.next(), "rollback");
    assert_eq!(node.room.told.next(), "stay");
    eventually("a fifth start", || node.starts() == 5);
    stop(init);
}

#[test]
fn a_variable_that_means_nothing_is_said() {
    let limit = "MESH_HOST_START_LIMIT: expected a whole number from 1 to 1000; 3 is used";
    for (name, value, said) in [
        ("MESH_HOST_START_LIMIT", "0", limit),
        ("MESH_HOST_START_LIMIT", "abc", limit),
        (
            "MESH_HOST_BACKOFF",
            "soon",
            "MESH_HOST_BACKOFF: expected a whole number of seconds; 5 is used",
        ),
        (
            "MESH_HOST_RUN_ONCE",
            "1",
            "MESH_HOST_RUN_ONCE: means nothing; the host is started again",
        ),
    ] {
        let mut node = Node::new(&["exit 1"]).variable(name, value);
        let mut init = node.start();

        assert_eq!(init.says("MESH_HOST"), format!("host-init: {said}"));

        assert_eq!(node.room.told.next(), "stay");
        node.will_have(&Files::new("1", None, false));
        stop(init);
    }
}

#[test]
fn an_empty_variable_counts_as_none_and_without_compat_all_do() {
    let mut node = Node::new(&["exit 1"; 3]).variable("MESH_HOST_START_LIMIT", "");
    let init = node.start();
    assert_eq!(node.room.told.next(), "rollback");
    stop(init);

    let mut node = Node::new(&["exit 1"; 3]).variable("MESH_HOST_START_LIMIT", "0");
    node.room.write(
        "etc/host-init.toml",
        "[host]\ncommand = [\"/host\", \"run\"]\nbackoff = \"0s\"\n",
    );
    node.put("halted", b"");
    let mut init = node.start();
    assert_eq!(node.room.told.next(), "stay");
    let said = init.said().all();
    assert!(!said.iter().any(|line| line.contains("MESH_HOST")));
    stop(init);
}

#[test]
fn what_this_life_has_written_is_not_counted_again() {
    let mut node = Node::new(&["exit 1", "exit 1"]);
    let mut init = node.start();
    assert_eq!(node.room.told.next(), "stay");
    node.will_have(&Files::new("2", None, false));

    // A record that a reload names is new, and the files are this life's own.
    node.plan(&["exit 0"]);
    let config = format!("{CONFIG}{RECORD}\n");
    node.room.write("etc/host-init.toml", &config);
    init.signal(libc::SIGHUP);
    init.says("config: read again");
    init.signal(44);
    assert_eq!(node.room.told.next(), "stay");
    eventually("its failures", || {
        node.number("/host/trial/failures") == Some(2)
    });
    // Nor after a re-execution.
    init.signal(59);
    init.says("re-executed");
    init.signal(44);
    assert_eq!(node.room.told.next(), "stay");
    node.will_have(&Files::new("2", None, false));
    eventually("its failures", || {
        node.number("/host/trial/failures") == Some(2)
    });
    stop(init);
}

#[test]
fn files_that_can_not_be_written_are_said_once_where_there_is_a_record() {
    let mut node =
        Node::new(&["exit 1"; 6]).config(&format!("{RECORD}\nstart-limit = 100\nbackoff = \"0s\""));
    fs::create_dir_all(node.path("start-attempts")).unwrap();
    let mut init = node.start();

    assert_eq!(node.room.told.next(), "stay");

    assert_eq!(init.stop(), End::Code(0));
    let said = init.said().all();
    let complaints = said.iter().filter(|line| line.contains("is a directory"));
    assert_eq!(complaints.count(), 2, "{said:#?}");
}
