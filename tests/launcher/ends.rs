//! What follows an end of the host that nobody asked for. The limit is 3.

use std::fs;

use crate::differences::As::{self, Difference, Script};
use crate::host;
use crate::lines::eventually;
use crate::node::{Files, Node, stop};

/// A row: the end, whether what followed is the same, and what does follow.
pub(crate) const ROWS: [(&str, As, fn()); 13] = [
    ("exit 0: not counted", Script, || {
        let mut node = Node::new(&["exit 0", "exit 0"]);
        node.put("start-attempts", b"2\n");
        let init = node.start();

        assert_eq!(node.room.told.next(), "stay");

        node.will_have(&Files::new("2", None, false));
        stop(init);
    }),
    ("exit 0: at once, for ever", Difference(5), || {
        // Ten of them are a failure.
        let mut node = Node::new(&["exit 0"; 10]);
        let init = node.start();

        assert_eq!(node.room.told.next(), "stay");

        node.will_have(&Files::new("1", None, false));
        stop(init);

        // And they come at most once a back-off.
        let node = Node::new(&["exit 0"; 10]).variable("MESH_HOST_BACKOFF", "3600");
        let mut init = node.start();
        is_an_hour(&init.says("host: next start in "));
        stop(init);
    }),
    ("exit 0 between failures: they count on", Script, || {
        let mut node = Node::new(&["exit 1", "exit 1", "exit 0", "exit 1"]);
        let init = node.start();

        assert_eq!(node.room.told.next(), "rollback");

        stop(init);
    }),
    ("exit n: one more", Script, || {
        for code in [1, 2, 126, 127, 255] {
            counts_one(&format!("exit {code}"), &format!("host: exit {code}"));
        }
    }),
    ("exit n: waits BACKOFF", Difference(6), || {
        let plan = ["exit 1"; 2];
        let node = Node::new(&plan).variable("MESH_HOST_BACKOFF", "3600");
        let mut init = node.start();

        // The first failure has cost no wait, the second costs all of it.
        is_an_hour(&init.says("host: next start in "));
        eventually("two starts", || node.starts() == 2);
        stop(init);
    }),
    ("signal s: one more", Script, || {
        counts_one("signal 9", "host: killed by KILL");
    }),
    ("signal s: called 128+s", Difference(25), || {
        for (number, name) in [(15, "TERM"), (11, "SEGV"), (9, "KILL")] {
            let said = format!("host: killed by {name}");
            counts_one(&format!("signal {number}"), &said);
        }
        // What the script could not tell from it.
        counts_one("exit 137", "host: exit 137");
    }),
    ("missing: 127 and one more", Script, || {
        is_taken_back("/nothing", |_| ());
    }),
    ("not executable: 126 and one more", Script, || {
        is_taken_back("/libexec/text", |node| {
            node.room.write("libexec/text", "no program");
        });
    }),
    ("the counter can't be written", Difference(9), || {
        let mut node = Node::new(&["exit 1"; 3]);
        fs::create_dir(node.path("start-attempts")).unwrap();
        let mut init = node.start();

        init.says("write /state: is a directory");
        assert_eq!(node.room.told.next(), "rollback");

        stop(init);
    }),
    ("a life: the helper leaves its marker", Script, || {
        life("write rollback-attempted yes exit 0");
    }),
    ("a life: the helper leaves none", Difference(10), || {
        life("exit 0");
    }),
    ("up for long", Difference(7), || {
        let node = Node::new(&[]);
        node.room.write(
            "etc/host-init.toml",
            "[host]\ncompat = \"launcher\"\nhealthy-after = \"10ms\"\n",
        );
        node.put("start-attempts", b"2\n");
        let mut init = node.start();

        init.says("host: healthy");

        node.will_have(&Files::new("0", None, false));
        stop(init);
    }),
];

#[test]
fn every_end_has_its_row() {
    for (name, _, row) in ROWS {
        eprintln!("{name}");
        row();
    }
}

/// What is said of a wait of an hour, less the little that has passed of it.
fn is_an_hour(line: &str) {
    let millis = line.split(' ').rev().nth(1).unwrap();
    let millis: u32 = millis.parse().unwrap();
    assert!((3_500_000..=3_600_000).contains(&millis), "{line}");
}

/// An end is said so, and counted.
fn counts_one(end: &str, said: &str) {
    let mut node = Node::new(&[end]);
    let mut init = node.start();

    init.says(said);
    assert_eq!(node.room.told.next(), "stay");

    node.will_have(&Files::new("1", None, false));
    stop(init);
}

/// A host that can't be started is one that failed.
fn is_taken_back(program: &str, prepare: impl FnOnce(&Node)) {
    let mut node = Node::new(&[]).variable("MESH_HOST_BIN", program);
    prepare(&node);
    let init = node.start();

    assert_eq!(node.room.told.next(), "rollback");

    node.will_have(&Files::new(
        "3",
        Some("rolled back and still failing"),
        true,
    ));
    stop(init);
}

/// Three failures, taken back, three failures, halted.
fn life(helper: &str) {
    let mut node = Node::new(&["exit 1"; 7]);
    node.help(helper);
    let mut init = node.start();

    assert_eq!(node.room.told.next(), "rollback");
    node.is_halted(&mut init, "again after it was taken back");

    eventually("six starts", || node.starts() == 6);
    node.will_have(&Files::new(
        "3",
        Some("rolled back and still failing"),
        true,
    ));
    let left = fs::read_to_string(node.room.path().join(&host::PLAN[1..])).unwrap();
    assert_eq!(left, "exit 1\n", "no start after it");
    stop(init);
}
