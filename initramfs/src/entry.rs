//! What is at a path: a directory, a file, a symlink or a device node.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

/// What an archive holds at a path.
///
/// A fresh entry belongs to root and has the usual mode of its kind: 0755 for a
/// directory, 0644 for a file, 0600 for a device. A symlink's mode means nothing
/// and is always 0777.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    pub(crate) content: Content,
    pub(crate) mode: u32,
    pub(crate) owner: Owner,
}

impl Entry {
    /// A directory.
    #[must_use]
    pub const fn directory() -> Self {
        Self::new(Content::Directory, 0o755)
    }

    /// A regular file with these bytes.
    #[must_use]
    pub fn file(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Content::File(bytes.into()), 0o644)
    }

    /// A symlink with this text in it; what it points to need not exist.
    #[must_use]
    pub fn symlink(target: impl AsRef<Path>) -> Self {
        let target = target.as_ref().as_os_str().as_bytes().to_vec();
        Self::new(Content::Symlink(target), 0o777)
    }

    /// A device node.
    #[must_use]
    pub const fn device(kind: DeviceKind, major: u32, minor: u32) -> Self {
        Self::new(Content::Device { kind, major, minor }, 0o600)
    }

    /// The same with these permissions, set-id bits and sticky bit. An archive
    /// refuses what is above 07777.
    #[must_use]
    pub const fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// The same with this owner.
    #[must_use]
    pub const fn owner(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    const fn new(content: Content, mode: u32) -> Self {
        Self {
            content,
            mode,
            owner: Owner::ROOT,
        }
    }
}

/// The part that differs from kind to kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Content {
    Directory,
    File(Vec<u8>),
    Symlink(Vec<u8>),
    Device {
        kind: DeviceKind,
        major: u32,
        minor: u32,
    },
}

/// How a device is spoken to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeviceKind {
    /// A stream of bytes: a terminal, `/dev/null`.
    Char,
    /// Blocks at positions: a disk.
    Block,
}

/// User and group by number: names mean nothing outside the image.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Owner {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
}

impl Owner {
    /// User and group 0.
    pub const ROOT: Self = Self { user: 0, group: 0 };
}

/// Permissions, set-id bits and sticky bit, as written by people: in octal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mode(u32);

impl Mode {
    /// The highest mode there is.
    pub(crate) const MAX: u32 = 0o7777;

    /// A mode from 0 to 07777; `None` above.
    #[must_use]
    pub const fn new(bits: u32) -> Option<Self> {
        if bits > Self::MAX {
            return None;
        }
        Some(Self(bits))
    }

    /// The number in the header.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    /// Reads octal digits, with or without a leading zero. A sign or `0o` is
    /// refused: neither is how modes are written.
    fn from_str(text: &str) -> Result<Self, ModeError> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ModeError(text.to_owned()));
        }
        u32::from_str_radix(text, 8)
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| ModeError(text.to_owned()))
    }
}

/// A text that is no mode.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ModeError(String);

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no mode: octal up to 7777, as 0644", self.0)
    }
}

impl std::error::Error for ModeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal_with_or_without_a_leading_zero() {
        assert_eq!("0755".parse::<Mode>().unwrap().bits(), 0o755);
        assert_eq!("1777".parse::<Mode>().unwrap().bits(), 0o1777);
        assert_eq!("07777".parse::<Mode>().unwrap().bits(), 0o7777);
    }

    #[test]
    fn what_is_not_octal_up_to_7777_is_no_mode() {
        for text in ["", "8", "0o644", "+644", "rwx", "10000", "-1"] {
            let error = text.parse::<Mode>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("{text:?} is no mode: octal up to 7777, as 0644")
            );
        }
    }
}
