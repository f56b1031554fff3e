//! Chance that is the same in every run: xorshift.

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // The first numbers of seeds that follow each other are alike.
        for _ in 0..8 {
            chance.next();
        }
        chance
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end
    }

    pub(crate) fn is_one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}
