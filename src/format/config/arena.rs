//! The strings of a config: decoded one after the other into a given buffer.
//!
//! As many bytes as the file has are always enough. A string in quotes loses
//! two bytes and gains a NUL; an escape is never shorter than what it stands
//! for (`\n` 2 to 1, `\x41` 4 to 1, `\u20ac` 6 to 3, `\U0001f600` 10 to 4). An
//! entry of an environment, `NAME = "value"`, gains `=` for its own and a NUL
//! for a quote. What is not kept is overwritten by what comes next.

use core::ffi::CStr;

use toml_parser::decoder::StringBuilder;

pub(super) struct Arena<'t> {
    free: &'t mut [u8],
    /// Bytes at the start of `free` that [`StringBuilder::clear`] leaves alone.
    prefix: usize,
    length: usize,
    is_full: bool,
}

impl<'t> Arena<'t> {
    pub(super) const fn new(buffer: &'t mut [u8]) -> Self {
        Self {
            free: buffer,
            prefix: 0,
            length: 0,
            is_full: false,
        }
    }

    /// Starts a new text.
    pub(super) const fn start(&mut self) {
        self.prefix = 0;
        self.length = 0;
        self.is_full = false;
    }

    /// Makes what is there, and a `=`, the start of the text that follows.
    pub(super) fn start_value(&mut self) {
        self.push(b"=");
        self.prefix = self.length;
    }

    /// The text so far, without its prefix; none when it did not fit.
    pub(super) fn text(&self) -> Option<&str> {
        if self.is_full {
            return None;
        }
        core::str::from_utf8(self.free.get(self.prefix..self.length)?).ok()
    }

    /// The text so far, prefix included.
    pub(super) fn whole(&self) -> &[u8] {
        self.free.get(..self.length).unwrap_or_default()
    }

    /// Keeps the text for as long as the buffer lives; none when it has a NUL
    /// in it or did not fit.
    pub(super) fn keep(&mut self) -> Option<&'t CStr> {
        self.push(b"\0");
        if self.is_full {
            return None;
        }
        let (kept, free) = core::mem::take(&mut self.free).split_at_mut_checked(self.length)?;
        self.free = free;
        self.start();
        CStr::from_bytes_with_nul(kept).ok()
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.length.saturating_add(bytes.len());
        match self.free.get_mut(self.length..end) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.length = end;
            }
            None => self.is_full = true,
        }
    }
}

/// Never refuses: that it did not fit is known when the text is asked for.
impl<'s> StringBuilder<'s> for Arena<'_> {
    fn clear(&mut self) {
        self.length = self.prefix;
    }

    fn push_str(&mut self, text: &'s str) -> bool {
        self.push(text.as_bytes());
        true
    }

    fn push_char(&mut self, character: char) -> bool {
        self.push(character.encode_utf8(&mut [0; 4]).as_bytes());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(arena: &mut Arena<'_>, text: &'static str) {
        arena.clear();
        assert!(arena.push_str(text));
    }

    #[test]
    fn what_is_kept_stays_and_what_is_not_is_overwritten() {
        let mut buffer = [0xff; 9];
        let mut arena = Arena::new(&mut buffer);

        pushed(&mut arena, "abc");
        let first = arena.keep();
        pushed(&mut arena, "none");
        pushed(&mut arena, "d\u{e9}");
        assert_eq!(arena.text(), Some("d\u{e9}"));
        let second = arena.keep();

        assert_eq!((first, second), (Some(c"abc"), Some(c"d\u{e9}")));
        assert_eq!(arena.text(), Some(""));
    }

    #[test]
    fn an_entry_is_a_name_and_a_value() {
        let mut buffer = [0xff; 4];
        let mut arena = Arena::new(&mut buffer);

        pushed(&mut arena, "A");
        arena.start_value();
        pushed(&mut arena, "xx");
        pushed(&mut arena, "b");

        assert_eq!(arena.text(), Some("b"));
        assert_eq!(arena.whole(), b"A=b");
        assert_eq!(arena.keep(), Some(c"A=b"));
    }

    #[test]
    fn what_does_not_fit_or_has_a_nul_is_not_kept() {
        let mut buffer = [0xff; 4];
        let mut arena = Arena::new(&mut buffer);

        pushed(&mut arena, "abcd");
        assert_eq!(arena.text(), Some("abcd"));
        assert_eq!(arena.keep(), None);
        arena.start();
        pushed(&mut arena, "abcde");
        assert_eq!(arena.text(), None);
        arena.start();
        pushed(&mut arena, "a\0b");
        assert_eq!(arena.keep(), None);
    }
}
