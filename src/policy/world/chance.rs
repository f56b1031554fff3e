//! Where everything unforeseen comes from.

/// A xorshift generator: the same seed is the same world.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        // Neighbouring seeds must not be neighbouring worlds, and none is zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    pub(super) const fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = usize::try_from(self.next()).unwrap() % choices.len();
        choices[index]
    }
}
