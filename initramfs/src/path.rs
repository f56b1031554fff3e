//! A path in the image, in the one spelling that the archive uses.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, shown};

/// Longest path that the kernel unpacks: `PATH_MAX` less the zero at its end.
const PATH_BYTES: usize = 4095;

/// Longest name in a directory: `NAME_MAX`.
const NAME_BYTES: usize = 255;

/// The name that ends an archive, so no entry can have it.
pub(crate) const TRAILER: &str = "TRAILER!!!";

/// An absolute path in the image.
///
/// It may hold any bytes but zero. `//` and `/./` are folded when it is parsed;
/// `..` is refused, since what it means depends on the symlinks before it. It
/// sorts name by name, so a directory comes right before what is in it.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct ImagePath {
    /// Names joined by `/`, with none at the start: what the archive stores.
    names: Vec<u8>,
}

impl ImagePath {
    /// Reads an absolute path.
    pub fn parse(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = path.as_os_str().as_bytes();
        let refuse = |reason: &str| Err(Error::new("add", shown(path), reason));

        if bytes.first() != Some(&b'/') {
            return refuse("a path in the image starts with /");
        }
        if bytes.contains(&0) {
            return refuse("a path cannot hold a zero byte");
        }
        let mut parsed = Self::root();
        for name in bytes.split(|byte| *byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => return refuse("a path in the image cannot have .. in it"),
                name if name.len() > NAME_BYTES => {
                    return refuse("a name is longer than 255 bytes");
                }
                name => parsed.push(name),
            }
        }
        if parsed.names.len() > PATH_BYTES {
            return refuse("the path is longer than 4095 bytes");
        }
        if parsed.names == TRAILER.as_bytes() {
            return refuse("this name marks the end of an archive");
        }
        Ok(parsed)
    }

    /// The directory that everything is in.
    pub(crate) const fn root() -> Self {
        Self { names: Vec::new() }
    }

    pub(crate) fn push(&mut self, name: &[u8]) {
        if !self.names.is_empty() {
            self.names.push(b'/');
        }
        self.names.extend_from_slice(name);
    }

    pub(crate) fn pop(&mut self) {
        let end = self.names.iter().rposition(|byte| *byte == b'/');
        self.names.truncate(end.unwrap_or(0));
    }

    pub(crate) fn join(&self, name: &[u8]) -> Self {
        let mut joined = self.clone();
        joined.push(name);
        joined
    }

    /// The directory this is in; `None` for the root.
    pub(crate) fn parent(&self) -> Option<Self> {
        if self.names.is_empty() {
            return None;
        }
        let mut parent = self.clone();
        parent.pop();
        Some(parent)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
    }

    /// As the archive spells it: relative, the root as `.`.
    pub(crate) fn stored(&self) -> Cow<'_, [u8]> {
        if self.names.is_empty() {
            return Cow::Borrowed(b".");
        }
        Cow::Borrowed(&self.names)
    }

    /// The same path with its leading `/`.
    pub fn to_path_buf(&self) -> PathBuf {
        Path::new("/").join(OsStr::from_bytes(&self.names))
    }
}

impl FromStr for ImagePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for ImagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.to_path_buf()))
    }
}

impl fmt::Debug for ImagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for ImagePath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.names().cmp(other.names())
    }
}

impl PartialOrd for ImagePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(path: impl AsRef<Path>) -> String {
        ImagePath::parse(path).unwrap_err().to_string()
    }

    #[test]
    fn spellings_of_one_path_are_one_path() {
        let plain = ImagePath::parse("/usr/bin").unwrap();

        for other in ["/usr//bin", "/usr/./bin/", "//usr/bin/."] {
            assert_eq!(ImagePath::parse(other).unwrap(), plain);
        }
        assert_eq!(plain.to_string(), "/usr/bin");
        assert_eq!(ImagePath::parse("/").unwrap(), ImagePath::root());
    }

    #[test]
    fn a_path_that_could_mean_two_things_is_refused() {
        assert_eq!(reason("etc"), "add etc: a path in the image starts with /");
        assert_eq!(
            reason("/a/../b"),
            "add /a/../b: a path in the image cannot have .. in it"
        );
        assert_eq!(reason(""), "add : a path in the image starts with /");
    }

    #[test]
    fn a_path_that_the_kernel_would_skip_is_refused() {
        let name = "n".repeat(255);
        let deep = format!("/{}", vec!["d".repeat(255); 16].join("/"));

        assert!(ImagePath::parse(format!("/{name}")).is_ok());
        assert!(reason(format!("/{name}n")).ends_with(": a name is longer than 255 bytes"));
        assert_eq!(deep.len() - 1, PATH_BYTES);
        assert!(ImagePath::parse(&deep).is_ok());
        assert!(reason(format!("{deep}/x")).ends_with(": the path is longer than 4095 bytes"));
    }

    #[test]
    fn a_path_that_would_cut_the_archive_is_refused() {
        assert!(reason("/TRAILER!!!").ends_with(": this name marks the end of an archive"));
        assert!(reason("/a\0b").ends_with(": a path cannot hold a zero byte"));
        assert!(ImagePath::parse("/a/TRAILER!!!").is_ok());
    }

    #[test]
    fn a_name_need_not_be_text() {
        let path = ImagePath::parse(OsStr::from_bytes(b"/caf\xe9 au lait")).unwrap();

        assert_eq!(&*path.stored(), b"caf\xe9 au lait");
        assert_eq!(path.to_string(), r"/caf\xe9 au lait");
    }

    #[test]
    fn a_directory_sorts_right_before_what_is_in_it() {
        let mut paths: Vec<ImagePath> = ["/a-b", "/a/z", "/a", "/a/b/c", "/a/b", "/"]
            .map(|path| path.parse().unwrap())
            .to_vec();

        paths.sort();

        let sorted: Vec<String> = paths.iter().map(ImagePath::to_string).collect();
        assert_eq!(sorted, ["/", "/a", "/a/b", "/a/b/c", "/a/z", "/a-b"]);
    }
}
