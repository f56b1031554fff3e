//! Words one behind the other, as a command line and an environment are in memory.

use core::ffi::CStr;

/// Words one behind the other, each with a NUL at its end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Words<'t>(&'t [u8]);

impl<'t> Words<'t> {
    /// No words.
    pub const NONE: Self = Self(b"");

    /// These; what has no NUL behind it is no word.
    pub const fn new(bytes: &'t [u8]) -> Self {
        Self(bytes)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn each(self) -> impl Iterator<Item = &'t CStr> {
        let words = self.0.split_inclusive(|byte| *byte == 0);
        words.filter_map(|word| CStr::from_bytes_with_nul(word).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_has_an_end() {
        let words: Vec<_> = Words::new(b"/a\0\0-/b c\0rest").each().collect();

        assert_eq!(words, [c"/a", c"", c"-/b c"]);
        assert_eq!(Words::NONE.each().count(), 0);
    }
}
