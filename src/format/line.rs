//! One line of the log: a fixed buffer that takes anything and never fails.
//!
//! A message is one line and one write, so what would break a line or steer a
//! terminal is spelt out (`\n`, `\x1b`). A backslash itself is left alone: the
//! reader is a person, and nothing reads the line back.

use core::fmt::Write;

use heapless::Vec;

use crate::base::level::Level;
use crate::base::limits;

/// Stands where a line was cut.
const CUT: &str = "…";

/// A line that is being written. What does not fit is cut at a character and
/// marked with `…`; writing to it never fails.
#[derive(Clone, Debug, Default)]
pub struct Line {
    bytes: Vec<u8, { limits::LOG_LINE_BYTES }>,
    is_cut: bool,
}

impl Line {
    /// An empty line.
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            is_cut: false,
        }
    }

    /// A line for `/dev/kmsg` that already says its level and who speaks:
    /// `<29>host-init: `.
    pub fn kmsg(level: Level) -> Self {
        let mut line = Self::new();
        line.push(prefix(level));
        line
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\n' => self.append("\\n"),
                '\r' => self.append("\\r"),
                '\t' => self.append("\\t"),
                '\0'..='\x1f' | '\x7f' => self.push_hex(u32::from(character)),
                // The second set of controls, which some terminals obey, and
                // the line ends and direction marks of Unicode.
                '\u{80}'..='\u{9f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}' => self.append("\u{fffd}"),
                _ => self.append(character.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// Adds bytes that need not be UTF-8, such as a path; a byte that is not
    /// text becomes `\xff`.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.push(chunk.valid());
            for byte in chunk.invalid() {
                self.push_hex(u32::from(*byte));
            }
        }
    }

    /// Adds a number in decimal.
    pub fn push_number(&mut self, number: u64) {
        // Writing to a line can't fail.
        let _ = write!(self, "{number}");
    }

    /// What the line holds, without a line end: at most
    /// [`limits::LOG_LINE_BYTES`] of UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn push_hex(&mut self, byte: u32) {
        self.append("\\x");
        for digit in [byte >> 4, byte & 0xf] {
            let digit = char::from_digit(digit, 16).unwrap_or('?');
            self.append(digit.encode_utf8(&mut [0; 4]));
        }
    }

    /// Adds a piece whole, or cuts the line.
    fn append(&mut self, piece: &str) {
        if self.is_cut || self.bytes.extend_from_slice(piece.as_bytes()).is_ok() {
            return;
        }
        self.is_cut = true;
        // The buffer may be full to the last byte: make room for the mark.
        while self.bytes.capacity().saturating_sub(self.bytes.len()) < CUT.len() {
            self.drop_character();
        }
        let _ = self.bytes.extend_from_slice(CUT.as_bytes());
    }

    /// Takes the last character away, however many bytes it has.
    fn drop_character(&mut self) {
        while let Some(byte) = self.bytes.pop() {
            let is_continuation = byte & 0xc0 == 0x80;
            if !is_continuation {
                break;
            }
        }
    }
}

impl Write for Line {
    /// Never fails.
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// The kernel log's record prefix (`syslog(3)`): facility daemon is 3, so the
/// number is 24 and the level; then the name, as every program has one there.
const fn prefix(level: Level) -> &'static str {
    match level {
        Level::Error => "<27>host-init: ",
        Level::Warning => "<28>host-init: ",
        Level::Notice => "<29>host-init: ",
        Level::Info => "<30>host-init: ",
        Level::Debug => "<31>host-init: ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::level::LEVELS;

    fn text(line: &Line) -> &str {
        core::str::from_utf8(line.as_bytes()).unwrap()
    }

    #[test]
    fn the_prefix_is_the_facility_daemon_and_the_level() {
        for (_, level) in LEVELS {
            let line = Line::kmsg(level);

            let number = 3 * 8 + LEVELS.iter().position(|known| known.1 == level).unwrap() + 3;
            assert_eq!(text(&line), format!("<{number}>host-init: "));
        }
    }

    #[test]
    fn a_message_stays_one_line() {
        let mut line = Line::new();

        write!(line, "a\nb\r\tc\0\x1b[2J\x7f\u{9b}d\u{202e}").unwrap();

        assert_eq!(
            text(&line),
            "a\\nb\\r\\tc\\x00\\x1b[2J\\x7f\u{fffd}d\u{fffd}"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_spelt_out() {
        let mut line = Line::new();

        line.push_bytes(b"/caf\xc3\xa9/\xff\xfe\n");
        line.push_number(u64::MAX);

        assert_eq!(text(&line), "/café/\\xff\\xfe\\n18446744073709551615");
    }

    #[test]
    fn a_line_that_just_fits_is_whole() {
        let mut line = Line::new();

        line.push(&"x".repeat(limits::LOG_LINE_BYTES));

        assert_eq!(line.as_bytes().len(), limits::LOG_LINE_BYTES);
        assert!(!line.is_cut);
        assert!(text(&line).ends_with('x'));
    }

    #[test]
    fn a_longer_line_is_cut_at_a_character_and_marked() {
        for character in ["x", "é", "…", "𝄞", "\n", "\0"] {
            for start in 0..8 {
                let mut line = Line::new();
                line.push(&"-".repeat(start));

                line.push(&character.repeat(limits::LOG_LINE_BYTES));
                line.push("more");
                line.push_number(7);

                assert!(line.is_cut);
                assert!(text(&line).ends_with(CUT), "{character:?} {start}");
                assert_eq!(text(&line).matches("more").count(), 0);
                assert!(line.as_bytes().len() <= limits::LOG_LINE_BYTES);
                assert!(line.as_bytes().len() > limits::LOG_LINE_BYTES - 8);
            }
        }
    }
}
