//! The newc format ("070701"), as in the kernel's `buffer-format.rst`.

use std::io;

use crate::entry::{Content, DeviceKind, Entry};
use crate::path::{ImagePath, TRAILER};

/// Device numbers of newc are the kernel's `dev_t`: 12 bits and 20 bits.
pub(crate) const MAJOR_MAX: u32 = 0xfff;
pub(crate) const MINOR_MAX: u32 = 0xf_ffff;

/// Sizes are eight hexadecimal digits: 4 GiB less one byte.
pub(crate) const FILE_BYTES: u64 = u32::MAX as u64;

/// Longest text of a symlink that the kernel unpacks: `PATH_MAX` less one.
pub(crate) const TARGET_BYTES: usize = 4095;

/// Archives are cut in blocks of this size by tradition, and readers of tapes
/// and pipes still count on it.
const BLOCK: u64 = 512;

/// Writes entries one after the other and counts the bytes.
pub(crate) struct Writer<'a> {
    inner: &'a mut dyn io::Write,
    written: u64,
    inode: u32,
    mtime: u32,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(inner: &'a mut dyn io::Write, mtime: u32) -> Self {
        Self {
            inner,
            written: 0,
            inode: 0,
            mtime,
        }
    }

    /// The caller has held the entry to the limits above.
    pub(crate) fn entry(&mut self, path: &ImagePath, entry: &Entry) -> io::Result<()> {
        let (kind, links, body, device): (u32, u32, &[u8], (u32, u32)) = match &entry.content {
            Content::Directory => (0o040_000, 2, &[], (0, 0)),
            Content::File(bytes) => (0o100_000, 1, bytes, (0, 0)),
            Content::Symlink(target) => (0o120_000, 1, target, (0, 0)),
            Content::Device { kind, major, minor } => match kind {
                DeviceKind::Char => (0o020_000, 1, &[], (*major, *minor)),
                DeviceKind::Block => (0o060_000, 1, &[], (*major, *minor)),
            },
        };
        self.inode += 1;
        let header = Header {
            inode: self.inode,
            mode: kind | entry.mode,
            user: entry.owner.user,
            group: entry.owner.group,
            links,
            mtime: self.mtime,
            device,
        };
        self.record(header, &path.stored(), body)
    }

    /// Writes what ends an archive; returns how many bytes it has.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        let header = Header {
            links: 1,
            ..Header::default()
        };
        self.record(header, TRAILER.as_bytes(), &[])?;
        self.pad(BLOCK)?;
        Ok(self.written)
    }

    fn record(&mut self, header: Header, name: &[u8], body: &[u8]) -> io::Result<()> {
        self.bytes(b"070701")?;
        let fields = [
            header.inode,
            header.mode,
            header.user,
            header.group,
            header.links,
            header.mtime,
            u32::try_from(body.len()).expect("the archive refuses a larger file"),
            // The device that the files were on: none.
            0,
            0,
            header.device.0,
            header.device.1,
            u32::try_from(name.len() + 1).expect("the archive refuses a longer path"),
            // A checksum, which only the crc variant has.
            0,
        ];
        for field in fields {
            self.bytes(format!("{field:08x}").as_bytes())?;
        }
        self.bytes(name)?;
        self.bytes(&[0])?;
        self.pad(4)?;
        self.bytes(body)?;
        self.pad(4)
    }

    fn pad(&mut self, unit: u64) -> io::Result<()> {
        let gap = self.written.next_multiple_of(unit) - self.written;
        self.bytes(&vec![0; gap as usize])
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

/// The fields of a header that differ from entry to entry.
#[derive(Default)]
struct Header {
    inode: u32,
    mode: u32,
    user: u32,
    group: u32,
    links: u32,
    mtime: u32,
    device: (u32, u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Owner;

    #[test]
    fn an_entry_is_spelled_as_the_format_says() {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, 0);
        let entry = Entry::file("hello").mode(0o640).owner(Owner {
            user: 10,
            group: 11,
        });

        writer.entry(&"/a b".parse().unwrap(), &entry).unwrap();

        let expected = concat!(
            "070701",
            "00000001",
            "000081a0",
            "0000000a",
            "0000000b",
            "00000001",
            "00000000",
            "00000005",
            "00000000",
            "00000000",
            "00000000",
            "00000000",
            "00000004",
            "00000000",
            "a b\0\0\0hello\0\0\0",
        );
        assert_eq!(
            bytes.escape_ascii().to_string(),
            expected.replace('\0', r"\x00")
        );
    }

    #[test]
    fn an_archive_ends_with_a_trailer_in_whole_blocks() {
        let mut bytes = Vec::new();

        let written = Writer::new(&mut bytes, 0).finish().unwrap();

        assert_eq!(written, 512);
        assert_eq!(bytes.len(), 512);
        assert_eq!(&bytes[110..121], b"TRAILER!!!\0");
    }

    #[test]
    fn the_time_is_the_one_that_was_asked_for() {
        let mut bytes = Vec::new();

        Writer::new(&mut bytes, 0x6543_2100)
            .entry(&"/a".parse().unwrap(), &Entry::directory())
            .unwrap();

        assert_eq!(&bytes[46..54], b"65432100");
    }
}
