//! The two places of a record that is written in turn.

/// Bytes of a slot: a page, and the largest sector that a disk writes whole.
pub const BYTES: usize = 4096;

/// What a record begins with, and a slot in which there was none yet.
pub const MAGIC: [u8; 8] = *b"hostboot";

/// One of two places, the first at the start and the second right behind it. While
/// one is written, the other is still whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slot {
    /// The place at the start.
    #[default]
    First,
    /// The place behind it.
    Second,
}

impl Slot {
    /// The slot that is written after this one.
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}
