//! The three files of a launcher script, which a host may come from and go back to.
//!
//! | file | content |
//! |---|---|
//! | `start-attempts` | failures in a row, decimal, and a newline |
//! | `halted` | why, a line; it is there while the host is halted |
//! | `rollback-attempted` | anything; it is there when the version was taken back |
//!
//! What the script could not read was 0 to it, so that the host is started: here too.

use core::ffi::CStr;
use core::fmt::Write;

use heapless::String;

use crate::policy::trial::Halt;

/// The file with the failures in a row.
pub const ATTEMPTS: &CStr = c"start-attempts";

/// The file that is there while the host is halted.
pub const HALTED: &CStr = c"halted";

/// The file that is there when the version was taken back.
pub const TAKEN_BACK: &CStr = c"rollback-attempted";

/// Bytes of the longest [`spell_attempts`].
pub const ATTEMPTS_BYTES: usize = 11;

/// The failures in a row: the first word of the first line, when it is a number. More
/// than fit are the most that do.
pub fn attempts(text: &[u8]) -> u32 {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let word = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    if !word.iter().all(u8::is_ascii_digit) {
        return 0;
    }
    word.iter().fold(0, |number: u32, digit| {
        let digit = u32::from(digit.saturating_sub(b'0'));
        number.saturating_mul(10).saturating_add(digit)
    })
}

/// The text that [`attempts`] and the script read this number from.
pub fn spell_attempts(failures: u32) -> String<ATTEMPTS_BYTES> {
    let mut text = String::new();
    // Ten digits and a newline fit.
    let _ = writeln!(text, "{failures}");
    text
}

/// The text of `halted` for a reason; none for one that the text itself is.
pub const fn reason(halt: Halt) -> Option<&'static str> {
    match halt {
        Halt::NoWayBack => Some("failing, and nothing to roll back to\n"),
        Halt::WasGood => Some("failing, though this version was healthy before\n"),
        Halt::TakenBackBefore => Some("rolled back and still failing\n"),
        Halt::TakeBackFailed => Some("rollback failed\n"),
        Halt::TakeBackUnknown => Some("the power went during a rollback\n"),
        Halt::Before => None,
    }
}

/// The reason that `halted` gives, whoever wrote it.
pub fn halt(text: &[u8]) -> Halt {
    [
        Halt::NoWayBack,
        Halt::WasGood,
        Halt::TakenBackBefore,
        Halt::TakeBackFailed,
        Halt::TakeBackUnknown,
    ]
    .into_iter()
    .find(|halt| reason(*halt).is_some_and(|reason| reason.as_bytes() == text))
    .unwrap_or(Halt::Before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_the_first_word_of_the_first_line() {
        for (text, expected) in [
            (&b""[..], 0),
            (b"0\n", 0),
            (b"3\n", 3),
            (b"1 2\n", 1),
            (b"\t 2 \n", 2),
            (b"2\n9\n", 2),
            (b"\n5\n", 0),
            (b" \n", 0),
            (b"abc\n", 0),
            (b"3x\n", 0),
            (b"-1\n", 0),
            (b"+3\n", 0),
            (b"2\r\n", 0),
            (b"\0\0\0\0", 0),
            (b"3\0\n", 0),
            (b"\xff\n", 0),
            // Whole, though nobody ended the line.
            (b"2", 2),
            (b"08\n", 8),
            (b"010\n", 10),
            (b"4294967295\n", u32::MAX),
            (b"4294967296\n", u32::MAX),
            (b"99999999999999999999\n", u32::MAX),
        ] {
            assert_eq!(attempts(text), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn what_is_spelled_is_read_back() {
        for failures in [0, 1, 10, u32::MAX] {
            assert_eq!(attempts(spell_attempts(failures).as_bytes()), failures);
        }
        assert_eq!(spell_attempts(u32::MAX).len(), ATTEMPTS_BYTES);
    }

    #[test]
    fn the_script_s_own_reasons_are_known_and_others_are_a_person_s() {
        for (text, expected) in [
            ("rollback failed\n", Halt::TakeBackFailed),
            ("rolled back and still failing\n", Halt::TakenBackBefore),
            ("rollback failed", Halt::Before),
            ("the disk is to be replaced\n", Halt::Before),
            ("", Halt::Before),
        ] {
            assert_eq!(halt(text.as_bytes()), expected, "{text}");
        }
        for known in [Halt::NoWayBack, Halt::WasGood, Halt::TakeBackUnknown] {
            assert_eq!(halt(reason(known).unwrap().as_bytes()), known);
        }
    }
}
