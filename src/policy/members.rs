//! Sets of services: of those that others wait for.

use crate::base::limits;

/// Words that have a bit for the host, and for every app there can be.
const WORDS: usize = (1 + limits::APPS).div_ceil(64);

/// A set of the services that a config has: number 0 is the host, 1 the first app.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Members([u64; WORDS]);

impl Members {
    /// No service.
    pub const NONE: Self = Self([0; WORDS]);

    /// Adds the service with this number.
    pub fn insert(&mut self, number: u8) {
        let (word, bit) = place(number);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    /// Leaves out the service with this number.
    pub fn remove(&mut self, number: u8) {
        let (word, bit) = place(number);
        if let Some(word) = self.0.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether this service is in it.
    pub fn has(&self, number: u8) -> bool {
        let (word, bit) = place(number);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// The numbers of those that are in it, the lowest first.
    pub fn each(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX)
            .take(1 + limits::APPS)
            .filter(move |number| self.has(*number))
    }
}

/// The word that has its bit, and that.
fn place(number: u8) -> (usize, u64) {
    let bit = 1_u64.rotate_left(u32::from(number) % u64::BITS);
    (usize::from(number) / 64, bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let mut members = Members::NONE;
        for number in [0, 1, 63, 64, 128] {
            assert!(!members.has(number));
            members.insert(number);
            assert!(members.has(number));
        }

        members.remove(63);

        assert_eq!(members.each().collect::<Vec<_>>(), [0, 1, 64, 128]);
        assert!(!members.is_empty() && !members.has(2) && !members.has(255));
    }
}
