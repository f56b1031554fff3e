//! A string of JSON from any bytes (RFC 8259).
//!
//! JSON has no bytes, only text: a byte that is not UTF-8 becomes U+FFFD, the
//! mark that every reader knows.

use core::fmt::{Result, Write};

/// Writes `bytes` as a JSON string, quotes included.
pub fn write_string(out: &mut dyn Write, bytes: &[u8]) -> Result {
    out.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            write_character(out, character)?;
        }
        if !chunk.invalid().is_empty() {
            out.write_char('\u{fffd}')?;
        }
    }
    out.write_char('"')
}

fn write_character(out: &mut dyn Write, character: char) -> Result {
    match character {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        // DEL too: legal in JSON, but a terminal obeys it.
        '\0'..='\x1f' | '\x7f' => {
            let code = u32::from(character);
            out.write_str("\\u00")?;
            out.write_char(char::from_digit(code >> 4, 16).unwrap_or('0'))?;
            out.write_char(char::from_digit(code & 0xf, 16).unwrap_or('0'))
        }
        _ => out.write_char(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(bytes: &[u8]) -> String {
        let mut out = String::new();
        write_string(&mut out, bytes).unwrap();
        assert!(
            !out.contains(|character: char| character.is_ascii_control()),
            "{out:?}"
        );
        serde_json::from_str(&out).unwrap()
    }

    #[test]
    fn every_character_comes_back() {
        for code in (0..0x3000).chain(0x1_f600..0x1_f610) {
            let Some(character) = char::from_u32(code) else {
                continue;
            };
            let text = format!("a{character}b");

            assert_eq!(read_back(text.as_bytes()), text);
        }
    }

    #[test]
    fn any_bytes_become_the_text_that_a_lossy_reader_sees() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..24)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state.to_le_bytes()[3]
                })
                .collect();

            assert_eq!(read_back(&bytes), String::from_utf8_lossy(&bytes));
        }
    }
}
