//! The layer of a container image: the tree as tar.
//!
//! The headers are GNU's: a path that is long or no UTF-8 has a spelling there,
//! and every runtime reads it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use tar::{Builder, EntryType, Header};

use crate::entry::{Content, DeviceKind, Entry};
use crate::error::{Error, reason};
use crate::layout::Layout;
use crate::path::ImagePath;

/// What a name starts with that takes away something of a layer below.
const WHITEOUT: &[u8] = b".wh.";

/// What has its own filesystem in every container.
const DEVICES: &[u8] = b"dev";

/// Entries in the making, written one after the other.
pub(crate) struct Layer {
    builder: Builder<Vec<u8>>,
    mtime: u32,
    entries: usize,
}

impl Layer {
    /// Everything of a tree that means something in a container: a device node in
    /// `/dev` does not, since whoever starts a container mounts another `/dev`, and
    /// whoever unpacks a layer without root cannot make it.
    pub(crate) fn new(layout: &Layout<'_>, mtime: u32) -> Result<Self, Error> {
        let mut layer = Self {
            builder: Builder::new(Vec::new()),
            mtime,
            entries: 0,
        };
        for (path, entry) in layout.entries() {
            let is_device = matches!(entry.content, Content::Device { .. });
            if is_device && path.names().next() == Some(DEVICES) {
                continue;
            }
            hold(path)?;
            layer
                .add(path, entry)
                .map_err(|error| Error::new("add", path, reason(&error)))?;
            layer.entries += 1;
        }
        Ok(layer)
    }

    pub(crate) const fn entries(&self) -> usize {
        self.entries
    }

    /// The tar archive.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        self.builder
            .into_inner()
            .map_err(|error| Error::new("write", "the layer", reason(&error)))
    }

    fn add(&mut self, path: &ImagePath, entry: &Entry) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_mode(entry.mode);
        header.set_uid(entry.owner.user.into());
        header.set_gid(entry.owner.group.into());
        header.set_mtime(self.mtime.into());
        header.set_size(0);
        let mut name = path.stored().into_owned();
        let mut body: &[u8] = &[];
        match &entry.content {
            Content::Directory => {
                header.set_entry_type(EntryType::Directory);
                name.push(b'/');
            }
            Content::File(bytes) => {
                header.set_entry_type(EntryType::Regular);
                header.set_size(bytes.len() as u64);
                body = bytes;
            }
            Content::Symlink(target) => {
                header.set_entry_type(EntryType::Symlink);
                let name = OsStr::from_bytes(&name);
                // Only what is too long is left to the crate, which would also
                // fold the slashes of the others.
                if header.set_link_name_literal(target).is_err() {
                    let target = OsStr::from_bytes(target);
                    return self.builder.append_link(&mut header, name, target);
                }
            }
            Content::Device { kind, major, minor } => {
                header.set_entry_type(match kind {
                    DeviceKind::Char => EntryType::Char,
                    DeviceKind::Block => EntryType::Block,
                });
                header.set_device_major(*major)?;
                header.set_device_minor(*minor)?;
            }
        }
        self.builder
            .append_data(&mut header, OsStr::from_bytes(&name), body)
    }
}

/// Refuses a name that means something else in a layer.
fn hold(path: &ImagePath) -> Result<(), Error> {
    match path.names().last() {
        Some(name) if name.starts_with(WHITEOUT) => {
            let reason = "in a container image a name with .wh. before it takes a file away";
            Err(Error::new("add", path, reason))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use super::*;
    use crate::archive::Archive;
    use crate::entry::Owner;

    fn layer(archive: &Archive) -> Vec<u8> {
        let layer = Layer::new(&archive.layout().unwrap(), 0).unwrap();
        layer.finish().unwrap()
    }

    fn names(tar: &[u8]) -> Vec<String> {
        let mut archive = tar::Archive::new(tar);
        archive
            .entries()
            .unwrap()
            .map(|entry| String::from_utf8_lossy(&entry.unwrap().path_bytes()).into_owned())
            .collect()
    }

    #[test]
    fn an_entry_is_spelled_as_it_was_added() {
        let owner = Owner {
            user: 1000,
            group: 5_000_000,
        };
        let mut archive = Archive::new();
        archive
            .add("/a b", Entry::file("hello").mode(0o4750).owner(owner))
            .unwrap();

        let bytes = layer(&archive);

        let mut tar = tar::Archive::new(&bytes[..]);
        let mut entry = tar.entries().unwrap().next().unwrap().unwrap();
        let header = entry.header().clone();
        assert_eq!(header.mode().unwrap(), 0o4750);
        assert_eq!(header.uid().unwrap(), 1000);
        assert_eq!(header.gid().unwrap(), 5_000_000);
        assert_eq!(header.mtime().unwrap(), 0);
        assert_eq!(header.username_bytes(), Some(&b""[..]));
        let mut body = String::new();
        entry.read_to_string(&mut body).unwrap();
        assert_eq!(body, "hello");
    }

    #[test]
    fn parents_come_first_and_the_root_is_a_directory() {
        let mut archive = Archive::new();
        archive.file("/usr/bin/tool", 0o755, "").unwrap();
        archive.directory("/", 0o755).unwrap();

        assert_eq!(
            names(&layer(&archive)),
            ["./", "usr/", "usr/bin/", "usr/bin/tool"]
        );
    }

    #[test]
    fn a_long_name_and_one_that_is_no_text_are_kept() {
        let long = format!("/{}/{}", "d".repeat(200), "f".repeat(255));
        let odd = OsStr::from_bytes(b"/caf\xe9");
        let mut archive = Archive::new();
        archive.file(&long, 0o644, "").unwrap();
        archive.file(odd, 0o644, "").unwrap();

        let bytes = layer(&archive);

        let mut tar = tar::Archive::new(&bytes[..]);
        let paths: Vec<Vec<u8>> = tar
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().path_bytes().into_owned())
            .collect();
        assert_eq!(paths[0], b"caf\xe9");
        assert_eq!(paths[2], long.as_bytes()[1..]);
    }

    #[test]
    fn a_symlink_points_where_it_pointed() {
        let long = format!("../{}", "t".repeat(300));
        for target in ["a//b/.", "/x", &long] {
            let mut archive = Archive::new();
            archive.symlink("/l", target).unwrap();

            let bytes = layer(&archive);

            let mut tar = tar::Archive::new(&bytes[..]);
            let entry = tar.entries().unwrap().next().unwrap().unwrap();
            assert_eq!(entry.link_name().unwrap().unwrap(), Path::new(target));
            assert_eq!(entry.link_name_bytes().unwrap(), target.as_bytes());
        }
    }

    #[test]
    fn a_device_is_left_out_in_dev_and_kept_elsewhere() {
        let mut archive = Archive::new();
        archive
            .device("/dev/console", DeviceKind::Char, 5, 1, 0o600)
            .unwrap()
            .device("/srv/dev/disk", DeviceKind::Block, 254, 70_000, 0o660)
            .unwrap()
            .symlink("/dev/fd", "/proc/self/fd")
            .unwrap();

        let bytes = layer(&archive);

        assert_eq!(
            names(&bytes),
            ["dev/", "dev/fd", "srv/", "srv/dev/", "srv/dev/disk"]
        );
        let mut tar = tar::Archive::new(&bytes[..]);
        let disk = tar.entries().unwrap().last().unwrap().unwrap();
        assert_eq!(disk.header().entry_type(), EntryType::Block);
        assert_eq!(disk.header().device_major().unwrap(), Some(254));
        assert_eq!(disk.header().device_minor().unwrap(), Some(70_000));
    }

    #[test]
    fn a_name_that_would_take_a_file_away_is_refused() {
        let mut archive = Archive::new();
        archive.file("/etc/.wh.motd", 0o644, "").unwrap();

        let refused = Layer::new(&archive.layout().unwrap(), 0).err().unwrap();

        assert_eq!(
            refused.to_string(),
            "add /etc/.wh.motd: in a container image a name with .wh. before it takes a file away"
        );
    }
}
