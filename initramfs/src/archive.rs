//! A set of paths and what is at each of them, written as one archive.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry as Place};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::compression::Compression;
use crate::entry::{Content, DeviceKind, Entry, Mode};
use crate::error::{Error, reason, shown};
use crate::layout::Layout;
use crate::newc::{FILE_BYTES, MAJOR_MAX, MINOR_MAX, TARGET_BYTES, Writer};
use crate::path::ImagePath;

/// An archive in the making.
///
/// The order in which entries are added changes nothing: they are written sorted,
/// parents first, with inode numbers in that order and one time for all. A
/// directory that nobody added but that something is in is written with mode 0755
/// and owner root. An entry below a symlink goes where the symlink points, as if
/// all symlinks had been there first.
///
/// A path can be added once. What cannot be unpacked is refused by an [`Error`]
/// as early as it shows, and by [`write`](Self::write) at the latest.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    entries: BTreeMap<ImagePath, Entry>,
    /// Directories that give way to an entry at the same path.
    implied: BTreeSet<ImagePath>,
    mtime: u32,
}

/// What was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Written {
    /// How many entries, the trailer aside.
    pub entries: usize,
    /// How many bytes before packing.
    pub bytes: u64,
}

impl Archive {
    /// An archive with nothing in it, whose times are 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time of every entry, in seconds since 1970.
    pub const fn mtime(&mut self, seconds: u32) -> &mut Self {
        self.mtime = seconds;
        self
    }

    /// Adds a directory that belongs to root.
    pub fn directory(&mut self, path: impl AsRef<Path>, mode: u32) -> Result<&mut Self, Error> {
        self.add(path, Entry::directory().mode(mode))
    }

    /// Adds a file of these bytes that belongs to root.
    pub fn file(
        &mut self,
        path: impl AsRef<Path>,
        mode: u32,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<&mut Self, Error> {
        self.add(path, Entry::file(bytes).mode(mode))
    }

    /// Adds a file that belongs to root, with the bytes that `source` has now.
    /// Of `source` nothing but its bytes gets into the archive.
    pub fn file_from(
        &mut self,
        path: impl AsRef<Path>,
        mode: u32,
        source: impl AsRef<Path>,
    ) -> Result<&mut Self, Error> {
        let bytes = contents(source.as_ref())?;
        self.file(path, mode, bytes)
    }

    /// Adds a symlink that belongs to root. `target` is kept as it is.
    pub fn symlink(
        &mut self,
        path: impl AsRef<Path>,
        target: impl AsRef<Path>,
    ) -> Result<&mut Self, Error> {
        self.add(path, Entry::symlink(target))
    }

    /// Adds a device node that belongs to root.
    pub fn device(
        &mut self,
        path: impl AsRef<Path>,
        kind: DeviceKind,
        major: u32,
        minor: u32,
        mode: u32,
    ) -> Result<&mut Self, Error> {
        self.add(path, Entry::device(kind, major, minor).mode(mode))
    }

    /// Adds any entry.
    pub fn add(&mut self, path: impl AsRef<Path>, entry: Entry) -> Result<&mut Self, Error> {
        self.place(ImagePath::parse(path)?, entry)
    }

    /// Makes sure that there is a directory: 0755 and root's, unless an entry at
    /// the same path says otherwise.
    pub fn ensure(&mut self, path: impl AsRef<Path>) -> Result<&mut Self, Error> {
        self.imply(ImagePath::parse(path)?);
        Ok(self)
    }

    /// The archive's bytes.
    pub fn write(&self, compression: Compression) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.emit(&self.layout()?, &mut bytes, compression)
            .map_err(|error| Error::new("write", "the archive", reason(&error)))?;
        Ok(bytes)
    }

    /// Writes the archive's bytes. An entry that cannot be written comes back as
    /// an [`io::Error`] of kind `InvalidInput`, before the first byte.
    pub fn write_to(
        &self,
        writer: impl io::Write,
        compression: Compression,
    ) -> io::Result<Written> {
        self.layout()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
            .and_then(|layout| self.emit(&layout, writer, compression))
    }

    pub(crate) fn place(&mut self, path: ImagePath, entry: Entry) -> Result<&mut Self, Error> {
        hold(&path, &entry)?;
        match self.entries.entry(path) {
            Place::Occupied(taken) => Err(Error::new("add", taken.key(), "it is added twice")),
            Place::Vacant(free) => {
                free.insert(entry);
                Ok(self)
            }
        }
    }

    pub(crate) fn imply(&mut self, path: ImagePath) {
        // The root is there without an entry.
        if path != ImagePath::root() {
            self.implied.insert(path);
        }
    }

    /// The time of every entry.
    pub(crate) const fn time(&self) -> u32 {
        self.mtime
    }

    /// Where everything ends up.
    pub(crate) fn layout(&self) -> Result<Layout<'_>, Error> {
        Layout::new(&self.entries, &self.implied)
    }

    fn emit(
        &self,
        layout: &Layout<'_>,
        writer: impl io::Write,
        compression: Compression,
    ) -> io::Result<Written> {
        let mut bytes = 0;
        compression.pack(writer, |packer| {
            let mut archive = Writer::new(packer, self.mtime);
            for (path, entry) in layout.entries() {
                archive.entry(path, entry)?;
            }
            bytes = archive.finish()?;
            Ok(())
        })?;
        Ok(Written {
            entries: layout.entries().count(),
            bytes,
        })
    }
}

/// A file's bytes, refused before they are read if there are too many.
pub(crate) fn contents(source: &Path) -> Result<Vec<u8>, Error> {
    let read = |error: io::Error| Error::io("read", source, &error);
    let mut file = File::open(source).map_err(read)?;
    let metadata = file.metadata().map_err(read)?;
    if !metadata.is_file() {
        return Err(Error::new("read", shown(source), "it is no regular file"));
    }
    if metadata.len() > FILE_BYTES {
        return Err(Error::new("read", shown(source), TOO_LARGE));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(read)?;
    Ok(bytes)
}

const TOO_LARGE: &str = "a file in the image is smaller than 4 GiB";

/// Refuses what the format cannot say or the kernel would skip.
fn hold(path: &ImagePath, entry: &Entry) -> Result<(), Error> {
    let refuse = |reason: &str| Err(Error::new("add", path, reason));
    if entry.mode > Mode::MAX {
        return refuse("a mode goes up to 7777");
    }
    match &entry.content {
        Content::Directory => Ok(()),
        Content::File(bytes) if bytes.len() as u64 > FILE_BYTES => refuse(TOO_LARGE),
        Content::Symlink(target) if target.is_empty() => refuse("the symlink points nowhere"),
        Content::Symlink(target) if target.contains(&0) => {
            refuse("a symlink's target cannot hold a zero byte")
        }
        Content::Symlink(target) if target.len() > TARGET_BYTES => {
            refuse("a symlink's target is longer than 4095 bytes")
        }
        Content::Device { major, .. } if *major > MAJOR_MAX => refuse("a major goes up to 4095"),
        Content::Device { minor, .. } if *minor > MINOR_MAX => refuse("a minor goes up to 1048575"),
        Content::File(_) | Content::Symlink(_) | Content::Device { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(result: Result<&mut Archive, Error>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn the_order_of_adding_changes_nothing() {
        let mut one = Archive::new();
        one.file("/b/c", 0o644, "c").unwrap();
        one.symlink("/a", "b").unwrap();
        one.directory("/b", 0o700).unwrap();
        let mut other = Archive::new();
        other.directory("/b", 0o700).unwrap();
        other.symlink("/a", "b").unwrap();
        other.ensure("/b").unwrap();
        other.file("/b/c", 0o644, "c").unwrap();

        let one = one.write(Compression::None).unwrap();

        assert_eq!(one, other.write(Compression::None).unwrap());
    }

    #[test]
    fn a_path_is_added_once() {
        let mut archive = Archive::new();
        archive.file("/etc/motd", 0o644, "one").unwrap();

        let again = archive.file("//etc/./motd", 0o644, "two");

        assert_eq!(reason(again), "add /etc/motd: it is added twice");
    }

    #[test]
    fn what_the_format_cannot_say_is_refused() {
        let mut archive = Archive::new();
        let add = |entry: Entry| reason(Archive::new().add("/x", entry));

        assert_eq!(
            add(Entry::directory().mode(0o10_000)),
            "add /x: a mode goes up to 7777"
        );
        assert_eq!(
            add(Entry::device(DeviceKind::Char, 4096, 0)),
            "add /x: a major goes up to 4095"
        );
        assert_eq!(
            add(Entry::device(DeviceKind::Block, 0, 1 << 20)),
            "add /x: a minor goes up to 1048575"
        );
        assert_eq!(
            add(Entry::symlink("")),
            "add /x: the symlink points nowhere"
        );
        assert_eq!(
            add(Entry::symlink("t".repeat(4096))),
            "add /x: a symlink's target is longer than 4095 bytes"
        );
        assert_eq!(
            add(Entry::symlink("a\0b")),
            "add /x: a symlink's target cannot hold a zero byte"
        );
        archive
            .device("/x", DeviceKind::Block, 4095, (1 << 20) - 1, 0o7777)
            .unwrap()
            .symlink("/y", "t".repeat(4095))
            .unwrap();
    }

    #[test]
    fn a_file_of_4_gib_is_refused_before_it_is_read() {
        let path = std::env::temp_dir().join(format!("initramfs-4gib-{}", std::process::id()));
        // Sparse: it takes no room.
        File::create(&path).unwrap().set_len(1 << 32).unwrap();

        let refused = reason(Archive::new().file_from("/big", 0o644, &path));

        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            refused,
            format!(
                "read {}: a file in the image is smaller than 4 GiB",
                path.display()
            )
        );
    }

    #[test]
    fn a_source_that_is_no_file_is_refused() {
        assert_eq!(
            reason(Archive::new().file_from("/a", 0o644, "/nonexistent/a")),
            "read /nonexistent/a: no such file or directory"
        );
        assert_eq!(
            reason(Archive::new().file_from("/a", 0o644, "/dev/null")),
            "read /dev/null: it is no regular file"
        );
    }
}
