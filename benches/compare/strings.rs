//! Shows what the addresses in a trace point to: texts of the program's file.

use std::error::Error;
use std::fs;
use std::path::Path;

/// The longest text that is shown.
const LONGEST: usize = 40;

/// The file of a program that is not relocated.
pub(crate) struct Strings {
    bytes: Vec<u8>,
    /// Where parts of the file are: address, offset, length.
    segments: Vec<(u64, usize, usize)>,
    /// Bytes of the headers, in which there are no texts.
    headers: usize,
}

impl Strings {
    /// Reads the file.
    pub(crate) fn of(path: &Path) -> Result<Self, Box<dyn Error>> {
        let bytes = fs::read(path)?;
        let mut strings = Self {
            bytes,
            segments: Vec::new(),
            headers: 0,
        };
        let table = strings.word(32, 8).unwrap_or(0) as usize;
        let count = strings.word(56, 2).unwrap_or(0) as usize;
        strings.headers = table + count * 56;
        for number in 0..count {
            let header = table + number * 56;
            let field = |at, size| strings.word(header + at, size).unwrap_or(0);
            if field(0, 4) == 1 {
                let segment = (field(16, 8), field(8, 8) as usize, field(32, 8) as usize);
                strings.segments.push(segment);
            }
        }
        Ok(strings)
    }

    /// A call as the trace has it, with texts for addresses and without the names
    /// of its arguments: `mount("proc", "/proc", …)`.
    pub(crate) fn explain(&self, call: &str) -> String {
        let Some((name, arguments)) = call.split_once('(') else {
            return call.to_owned();
        };
        let arguments = arguments.trim_end_matches(')').split(", ");
        let shown: Vec<String> = arguments
            .filter_map(|argument| argument.split_once(": "))
            .map(|(_, value)| {
                let address = u64::from_str_radix(value.trim_start_matches("0x"), 16);
                let text = address.ok().and_then(|address| self.text(address));
                text.map_or_else(|| value.to_owned(), |text| format!("{text:?}"))
            })
            .collect();
        format!("{name}({})", shown.join(", "))
    }

    /// The C string at an address, if there is one that a person can read.
    fn text(&self, address: u64) -> Option<String> {
        let (base, offset, _) = self.segments.iter().find(|(base, _, length)| {
            (*base..base.saturating_add(*length as u64)).contains(&address)
        })?;
        let start = offset + usize::try_from(address - base).ok()?;
        if start < self.headers {
            return None;
        }
        let text = self.bytes.get(start..start + LONGEST)?;
        let end = text.iter().position(|byte| *byte == 0)?;
        let text = text.get(..end)?;
        let is_readable = text
            .iter()
            .all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        if !is_readable {
            return None;
        }
        String::from_utf8(text.to_vec()).ok()
    }

    fn word(&self, at: usize, size: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at + size)?;
        let mut word = [0; 8];
        word.get_mut(..size)?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }
}
