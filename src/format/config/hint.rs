//! The key that a person probably meant.

use heapless::Vec;

use crate::format::config::keys::{KEYS, Key, Table};

/// Characters of the longest name that is compared. No key is longer than 13.
const LONGEST: usize = 24;

/// The key nearest to `name` in the table, else one of that very name in another
/// table; none when nothing is near.
pub(super) fn nearest(table: Table, name: &str) -> Option<&'static Key> {
    let in_table = KEYS
        .iter()
        .filter(|key| key.table == table)
        .map(|key| (distance(name, key.name), key))
        .min_by_key(|(distance, _)| *distance)
        // A third of the characters may be wrong: 1 of `sync`, 3 of `stop-grace`.
        .filter(|(distance, key)| distance.saturating_mul(3) <= key.name.len().max(4))
        .map(|(_, key)| key);
    in_table.or_else(|| KEYS.iter().find(|key| key.name == name))
}

/// How many characters must be changed, added or taken away to make the one of
/// the other (Levenshtein). Case, and `_` for `-`, are no difference.
#[inline(never)]
fn distance(ours: &str, theirs: &str) -> usize {
    let mut row: Vec<usize, { LONGEST + 1 }> = (0..=theirs.len().min(LONGEST)).collect();
    if ours.len() > LONGEST || theirs.len() > LONGEST {
        return usize::MAX;
    }
    for (index, our) in ours.bytes().enumerate() {
        let mut diagonal = index;
        let mut left = index.saturating_add(1);
        let mut cells = row.iter_mut();
        if let Some(first) = cells.next() {
            *first = left;
        }
        for (cell, their) in cells.zip(theirs.bytes()) {
            let is_other = usize::from(fold(our) != fold(their));
            let best = diagonal
                .saturating_add(is_other)
                .min(left.saturating_add(1))
                .min(cell.saturating_add(1));
            diagonal = *cell;
            *cell = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

const fn fold(byte: u8) -> u8 {
    match byte {
        b'_' => b'-',
        other => other.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_changes() {
        for (ours, theirs, expected) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("STOP_GRACE", "stop-grace", 0),
            ("ab", "ba", 2),
            ("x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", usize::MAX),
        ] {
            assert_eq!(distance(ours, theirs), expected, "{ours} {theirs}");
            assert_eq!(distance(theirs, ours), expected, "{theirs} {ours}");
        }
    }

    #[test]
    fn a_slip_finds_its_key_and_noise_finds_none() {
        for (table, name, expected) in [
            (Table::Host, "stop_grace", Some("stop-grace")),
            (Table::Host, "stop-grase", Some("stop-grace")),
            (Table::Host, "commands", Some("command")),
            (Table::Host, "Backoff", Some("backoff")),
            (Table::Root, "mounts", Some("mount")),
            (Table::Root, "stop-grace", Some("stop-grace")),
            (Table::Signals, "term", Some("TERM")),
            (Table::Host, "redy", Some("ready")),
            (Table::Host, "replicas", None),
            (Table::Root, "x", None),
        ] {
            let found = nearest(table, name).map(|key| key.name);

            assert_eq!(found, expected, "{name}");
        }
    }
}
