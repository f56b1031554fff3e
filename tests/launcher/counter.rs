//! How `start-attempts` is read.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use host_init::format::launcher;

use crate::differences::As::{self, Difference, Script};
use crate::lines::eventually;
use crate::node::{Node, stop};

/// What the script made of a content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// This number of failures.
    Is(u32),
    /// A number that its end came with: it could not count on.
    Dies,
}

use Value::{Dies, Is};

/// A content, what the script took it for, and host-init.
pub(crate) const ROWS: [(&[u8], Value, As, u32); 24] = [
    (b"", Is(0), Script, 0),
    (b"0\n", Is(0), Script, 0),
    (b"1\n", Is(1), Script, 1),
    (b"3\n", Is(3), Script, 3),
    // Without its blanks it would be 12.
    (b"1 2\n", Is(1), Script, 1),
    (b"  2\n", Is(2), Script, 2),
    (b"2", Is(0), Difference(1), 2),
    (b"3", Is(0), Difference(1), 3),
    (b"\n5\n", Is(0), Script, 0),
    (b"   \n", Is(0), Script, 0),
    (b"abc\n", Is(0), Script, 0),
    (b"3x\n", Is(0), Script, 0),
    (b"-1\n", Is(0), Script, 0),
    (b"+3\n", Is(0), Script, 0),
    (b"2\r\n", Is(0), Script, 0),
    (b"\0\0\0\0", Is(0), Script, 0),
    (b"3\0\n", Is(3), Difference(2), 0),
    (b"08\n", Dies, Difference(3), 8),
    (b"09\n", Dies, Difference(3), 9),
    // It compared as 10, and 9 came after it.
    (b"010\n", Dies, Difference(3), 10),
    (b"9223372036854775807\n", Is(u32::MAX), Script, u32::MAX),
    (b"99999999999999999999\n", Dies, Difference(4), u32::MAX),
    (b"1\n7\n", Is(1), Script, 1),
    (b"2\t\n", Is(2), Script, 2),
];

#[test]
fn every_content_has_its_value() {
    for (content, script, is, value) in ROWS {
        let shown = content.escape_ascii();
        assert_eq!(launcher::attempts(content), value, "{shown}");
        assert_eq!(is == Script, script == Is(value), "{shown}");
    }
}

/// Waits until it is known how many failures a life has begun with.
fn begins_with(node: &Node, value: u32, what: &str) {
    let mut init = node.start();
    if value < 3 {
        eventually(what, || {
            node.number("/host/trial/failures") == Some(value.into()) && node.starts() == 1
        });
    } else {
        init.says("host: failed too often, taking it back");
    }
    stop(init);
}

#[test]
fn every_content_is_read_so_at_a_start() {
    for (content, _, _, value) in ROWS {
        let node = Node::new(&[]);
        node.put("start-attempts", content);

        begins_with(&node, value, &content.escape_ascii().to_string());
    }
}

#[test]
fn a_counter_that_can_not_be_read_is_none() {
    begins_with(&Node::new(&[]), 0, "missing");

    let node = Node::new(&[]);
    fs::create_dir(node.path("start-attempts")).unwrap();
    begins_with(&node, 0, "a directory");

    // Root reads it all the same.
    // SAFETY: has no arguments.
    if unsafe { libc::geteuid() } != 0 {
        let node = Node::new(&[]);
        node.put("start-attempts", b"2\n");
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(node.path("start-attempts"), none).unwrap();
        begins_with(&node, 0, "unreadable");
    }
}
