//! What is done before a start: the counter, `halted`, `rollback-attempted`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::differences::As::{self, Difference, Script};
use crate::host;
use crate::init::End;
use crate::node::{Files, Node, stop};

/// What there is of `halted`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Halted {
    No,
    With(&'static str),
    Directory,
    /// A link that leads nowhere.
    Dangling,
}

/// What the helper is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Helper {
    Does(&'static str),
    Missing,
    NoProgram,
}

/// What follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// The host is started, with this many failures.
    Starts(&'static str),
    /// The helper was run, and the host is started.
    TakesBack,
    /// The host is not started; what is said, and what the file says then.
    Halts(&'static str, Option<&'static str>),
}

use Then::{Halts, Starts, TakesBack};

/// A row: what there is, and what follows. The script did the same where it is its
/// own, except that it ended, with code 0, where host-init stays.
pub(crate) struct Row {
    halted: Halted,
    attempts: Option<&'static str>,
    taken_back: bool,
    helper: Helper,
    then: Then,
    pub(crate) is: As,
}

/// The script's table: limit 3.
pub(crate) const ROWS: [Row; 20] = {
    const GOOD: Helper = Helper::Does("exit 0");
    const BEFORE: &str = "by the file halted";
    const FAILED: &str = "could not be taken back";
    const AGAIN: &str = "again after it was taken back";
    const fn row(halted: Halted, attempts: &'static str, taken_back: bool, then: Then) -> Row {
        Row {
            halted,
            attempts: Some(attempts),
            taken_back,
            helper: GOOD,
            then,
            is: Script,
        }
    }
    const fn helped(helper: Helper, then: Then) -> Row {
        Row {
            helper,
            ..row(Halted::No, "3", false, then)
        }
    }
    /// It refuses as the script did, and stays.
    const fn stays(row: Row) -> Row {
        Row {
            is: Difference(12),
            ..row
        }
    }
    const BAD: Then = Halts(FAILED, Some("rollback failed"));
    const SAYS: Halted = Halted::With("the disk is to be replaced\n");
    const KEPT: Then = Halts(BEFORE, Some("the disk is to be replaced"));
    [
        stays(row(SAYS, "0", false, KEPT)),
        stays(row(SAYS, "2", true, KEPT)),
        stays(row(SAYS, "3", false, KEPT)),
        stays(row(Halted::With(""), "1", false, Halts(BEFORE, None))),
        stays(row(Halted::Directory, "1", false, Halts(BEFORE, None))),
        stays(row(
            Halted::With("rollback failed\n"),
            "3",
            false,
            Halts(FAILED, Some("rollback failed")),
        )),
        row(Halted::Dangling, "1", false, Starts("1")),
        Row {
            attempts: None,
            ..row(Halted::No, "", false, Starts("0"))
        },
        row(Halted::No, "abc", true, Starts("0")),
        row(Halted::No, "2", false, Starts("2")),
        row(Halted::No, "2", true, Starts("2")),
        row(Halted::No, "3", false, TakesBack),
        row(Halted::No, "7", false, TakesBack),
        stays(helped(Helper::Does("exit 1"), BAD)),
        stays(helped(Helper::Does("signal 9"), BAD)),
        stays(helped(Helper::Missing, BAD)),
        stays(helped(Helper::NoProgram, BAD)),
        stays(row(
            Halted::No,
            "3",
            true,
            Halts(AGAIN, Some("rolled back and still failing")),
        )),
        // The helper need not leave a marker: it is host-init's own.
        Row {
            is: Difference(10),
            ..helped(GOOD, TakesBack)
        },
        // One that does makes no difference.
        helped(
            Helper::Does("write rollback-attempted yes exit 0"),
            TakesBack,
        ),
    ]
};

fn prepare(row: &Row) -> Node {
    let node = Node::new(&[]);
    match row.halted {
        Halted::No => {}
        Halted::With(text) => node.put("halted", text.as_bytes()),
        Halted::Directory => fs::create_dir(node.path("halted")).unwrap(),
        Halted::Dangling => symlink("nowhere", node.path("halted")).unwrap(),
    }
    if let Some(attempts) = row.attempts {
        node.put("start-attempts", format!("{attempts}\n").as_bytes());
    }
    if row.taken_back {
        node.put("rollback-attempted", b"");
    }
    let helper = node.room.path().join(&host::HELPER[1..]);
    match row.helper {
        Helper::Does(what) => node.help(what),
        Helper::Missing => fs::remove_file(helper).unwrap(),
        Helper::NoProgram => {
            fs::remove_file(&helper).unwrap();
            fs::write(&helper, "no program").unwrap();
        }
    }
    node
}

#[test]
fn every_row_is_decided() {
    for (number, row) in ROWS.iter().enumerate() {
        let mut node = prepare(row);
        let before = node.files();
        let mut init = node.start();

        match row.then {
            Starts(failures) => {
                assert_eq!(node.room.told.next(), "stay", "row {number}");
                let expected = match row.attempts {
                    Some(_) => Files::new(failures, None, row.taken_back),
                    // Nothing is written for nothing.
                    None => before,
                };
                node.will_have(&expected);
            }
            TakesBack => {
                init.says("host: failed too often, taking it back");
                assert_eq!(node.room.told.next(), "rollback", "row {number}");
                assert_eq!(node.room.told.next(), "stay", "row {number}");
                node.will_have(&Files::new("0", None, true));
            }
            Halts(why, reason) => {
                node.is_halted(&mut init, why);
                assert_eq!(node.starts(), 0, "row {number}");
                let after = node.files();
                assert_eq!(after.attempts, before.attempts, "row {number}");
                match reason {
                    Some(reason) => assert_eq!(after.halted, Some(format!("{reason}\n"))),
                    None => assert_eq!(after.halted, before.halted),
                }
                assert!(node.path("halted").exists(), "row {number}");
            }
        }
        stop(init);
    }
}

#[test]
fn a_person_who_removes_only_halted_is_halted_again_as_by_the_script() {
    let node = Node::new(&[]);
    node.put("start-attempts", b"3\n");
    node.put("rollback-attempted", b"");

    for _ in 0..2 {
        let mut init = node.start();
        node.is_halted(&mut init, "again after it was taken back");
        stop(init);
        fs::remove_file(node.path("halted")).unwrap();
    }

    // All three is what clears it.
    fs::remove_file(node.path("start-attempts")).unwrap();
    fs::remove_file(node.path("rollback-attempted")).unwrap();
    let mut node = node;
    let init = node.start();
    assert_eq!(node.room.told.next(), "stay");
    stop(init);
}

#[test]
fn a_halted_container_ends_when_the_config_says_so() {
    let node = Node::new(&[]).config("on-halt = \"exit\"");
    node.put("halted", b"");

    assert_eq!(node.start().end(), End::Code(253));
}
