//! Options with a value, and what their values mean.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::entry::{DeviceKind, Mode, Owner};
use crate::error::{Error, shown};
use crate::path::ImagePath;
use crate::recipe::{Item, What};

/// Why an option that counts once is refused.
pub(crate) const TWICE: &str = "it is given twice";

/// An option and what was said with it.
pub(crate) struct Spoken<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: OsString,
}

impl Spoken<'_> {
    pub(crate) fn once(self, place: &mut Option<PathBuf>) -> Result<(), Error> {
        if place.is_some() {
            return Err(self.wrong(TWICE));
        }
        if self.value.is_empty() {
            return Err(self.wrong("it is empty"));
        }
        *place = Some(self.value.into());
        Ok(())
    }

    /// `PATH[:DST]`.
    pub(crate) fn host(&self) -> Result<(OsString, Option<ImagePath>), Error> {
        let Some((source, path)) = self.split() else {
            return Ok((self.value.clone(), None));
        };
        Ok((owned(source), Some(self.path(path)?)))
    }

    /// `SRC:DST[:MODE]`.
    pub(crate) fn add(&self) -> Result<Item, Error> {
        let Some((source, rest)) = self.split() else {
            return Err(self.wrong("it is SRC:DST[:MODE], and DST starts with /"));
        };
        let source = PathBuf::from(owned(source));
        let (path, mode) = self.moded(rest)?;
        let what = if source.is_dir() {
            What::Tree(source)
        } else {
            What::File(source)
        };
        Ok(item(self.path(path)?, what, mode))
    }

    /// `DST[:MODE]`.
    pub(crate) fn directory(&self) -> Result<Item, Error> {
        let (path, mode) = self.moded(self.value.as_bytes())?;
        Ok(item(self.path(path)?, What::Directory, mode))
    }

    /// `TARGET:DST`.
    pub(crate) fn symlink(&self) -> Result<Item, Error> {
        let Some((target, path)) = self.split() else {
            return Err(self.wrong("it is TARGET:DST, and DST starts with /"));
        };
        let what = What::Symlink(owned(target).into());
        Ok(item(self.path(path)?, what, None))
    }

    /// `DST:c|b:MAJOR:MINOR[:MODE]`.
    pub(crate) fn device(&self) -> Result<Item, Error> {
        let wrong = || self.wrong("it is DST:c|b:MAJOR:MINOR[:MODE]");
        let number = |text: &[u8]| -> Result<u32, Error> {
            let text = std::str::from_utf8(text).map_err(|_| wrong())?;
            text.parse().map_err(|_| wrong())
        };
        let parts: Vec<&[u8]> = self.value.as_bytes().split(|byte| *byte == b':').collect();
        let (path, kind, major, minor, mode) = match parts[..] {
            [path, kind, major, minor] => (path, kind, major, minor, None),
            [path, kind, major, minor, mode] => (path, kind, major, minor, Some(self.mode(mode)?)),
            _ => return Err(wrong()),
        };
        let what = What::Device {
            kind: match kind {
                b"c" => DeviceKind::Char,
                b"b" => DeviceKind::Block,
                _ => return Err(wrong()),
            },
            major: number(major)?,
            minor: number(minor)?,
        };
        Ok(item(self.path(path)?, what, mode))
    }

    /// Cuts at the last `:` that a `/` follows: there the image's path starts.
    fn split(&self) -> Option<(&[u8], &[u8])> {
        let bytes = self.value.as_bytes();
        let cut = bytes.windows(2).rposition(|pair| pair == b":/")?;
        Some((&bytes[..cut], &bytes[cut + 1..])).filter(|(source, _)| !source.is_empty())
    }

    /// Cuts a mode off.
    fn moded<'b>(&self, text: &'b [u8]) -> Result<(&'b [u8], Option<Mode>), Error> {
        match text.iter().rposition(|byte| *byte == b':') {
            Some(cut) => Ok((&text[..cut], Some(self.mode(&text[cut + 1..])?))),
            None => Ok((text, None)),
        }
    }

    fn mode(&self, text: &[u8]) -> Result<Mode, Error> {
        String::from_utf8_lossy(text)
            .parse()
            .map_err(|error| self.wrong(error))
    }

    fn path(&self, text: &[u8]) -> Result<ImagePath, Error> {
        ImagePath::parse(OsStr::from_bytes(text)).map_err(|error| self.wrong(error.reason()))
    }

    pub(crate) fn wrong(&self, reason: impl Display) -> Error {
        let value = shown(Path::new(&self.value));
        Error::new("read", format_args!("--{} {value}", self.name), reason)
    }
}

pub(crate) const fn item(path: ImagePath, what: What, mode: Option<Mode>) -> Item {
    Item {
        path,
        what,
        mode,
        owner: Owner::ROOT,
    }
}

fn owned(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}
