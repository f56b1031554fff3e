//! The differences that `docs/host.md` lists, and which row shows each.

use std::collections::BTreeSet;

use crate::{counter, decisions, ends, signals};

const DOCS: &str = include_str!("../../docs/host.md");

/// What host-init makes of a row of the script's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum As {
    /// The same.
    Script,
    /// Something else: the difference of this number.
    Difference(u32),
}

/// Those that no row of the tables has, since they are of another kind. The tests in
/// `moves` show them; the last is a machine's, and a guest's to show.
const BESIDE: [u32; 9] = [8, 11, 18, 19, 20, 21, 22, 23, 24];

/// The numbers of the list.
fn listed() -> Vec<u32> {
    let list = DOCS.split("### What is different, and why").nth(1).unwrap();
    let list = list.split("\n#").next().unwrap();
    list.lines()
        .filter_map(|line| line.split_once(". ")?.0.parse().ok())
        .collect()
}

#[test]
fn every_difference_is_listed_and_shown() {
    let rows = counter::ROWS.iter().map(|row| row.2);
    let rows = rows.chain(decisions::ROWS.iter().map(|row| row.is));
    let rows = rows.chain(ends::ROWS.iter().map(|row| row.1));
    let rows = rows.chain(signals::ROWS.iter().map(|row| row.1));
    let mut shown: BTreeSet<u32> = rows
        .filter_map(|row| match row {
            As::Script => None,
            As::Difference(number) => Some(number),
        })
        .collect();
    for number in BESIDE {
        assert!(shown.insert(number), "{number} has a row");
    }

    let listed = listed();

    let numbers: Vec<u32> = (1..).take(listed.len()).collect();
    assert_eq!(listed, numbers, "the list is in order");
    assert_eq!(shown, listed.into_iter().collect());
}
