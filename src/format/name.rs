//! The name of a version, and the number that stands for it in the rules.

use crc::{CRC_64_XZ, Crc, NoTable};
use heapless::Vec;

use crate::policy::trial::Version;

/// Bytes of the longest name: a digest in hexadecimal with its kind fits.
pub const BYTES: usize = 128;

/// A sum that is written to disks: another one would make every version new.
const CRC: Crc<u64, NoTable> = Crc::<u64, NoTable>::new(&CRC_64_XZ);

/// The name of a version: one word of a path, 1 to [`BYTES`] bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name(Vec<u8, BYTES>);

impl Name {
    /// A name of these bytes; none when they are no word of a path (empty, with a
    /// NUL or a `/`, or the directory itself or the one above), or too many.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let is_word = !matches!(bytes, b"" | b"." | b"..")
            && bytes.iter().all(|byte| !matches!(byte, 0 | b'/'));
        let name = Vec::from_slice(bytes).ok()?;
        is_word.then_some(Self(name))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of the version with this name: its CRC-64/XZ. Names of one length
    /// that differ only within eight bytes in a row never have the same number, so
    /// `1.9.3` is not `1.9.4`; for others it is as good as chance.
    pub fn version(&self) -> Version {
        Version(CRC.checksum(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_is_one_word_of_a_path() {
        let digest = format!("sha256-{}", "0".repeat(64));
        let longest = [b'a'; BYTES];
        for bytes in [
            b"1.9.3",
            &b"\xff\n"[..],
            b"...",
            digest.as_bytes(),
            &longest,
        ] {
            assert_eq!(Name::new(bytes).unwrap().as_bytes(), bytes);
        }
        for bytes in [&b""[..], b".", b"..", b"a/b", b"a\0", &[b'a'; BYTES + 1]] {
            assert_eq!(Name::new(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_number_of_a_name_is_the_same_for_ever() {
        let version = Name::new(b"123456789").unwrap().version();

        // The sum that the catalogue of sums gives for this text.
        assert_eq!(version, Version(0x995d_c9bb_df19_39fa));
    }

    #[test]
    fn versions_that_follow_each_other_have_different_numbers() {
        let versions: HashSet<u64> = (0..100_000)
            .map(|number| Name::new(format!("app-{number:05}-stable").as_bytes()).unwrap())
            .map(|name| name.version().0)
            .collect();

        assert_eq!(versions.len(), 100_000);
    }
}
