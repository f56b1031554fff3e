//! Mount options as people write them: flags of `mount(2)` and the rest.
//!
//! `noatime,nosuid,size=64M` is two flags and one word for the filesystem. The
//! words are those of `mount(8)`; what only a tool would use (`defaults`, `auto`,
//! `_netdev`, `x-…`, `nofail`) is taken and means nothing.

use core::ffi::CStr;

/// Flags of `mount(2)`, the numbers of `linux/mount.h`.
pub mod flag {
    /// Read-only.
    pub const RDONLY: u32 = 0x1;
    /// Set-id bits have no effect.
    pub const NOSUID: u32 = 0x2;
    /// Device files have no effect.
    pub const NODEV: u32 = 0x4;
    /// Nothing can be executed.
    pub const NOEXEC: u32 = 0x8;
    /// Writes are synchronous.
    pub const SYNCHRONOUS: u32 = 0x10;
    /// Changes to directories are synchronous.
    pub const DIRSYNC: u32 = 0x80;
    /// Symbolic links are not followed (Linux 5.10).
    pub const NOSYMFOLLOW: u32 = 0x100;
    /// Access times are not kept.
    pub const NOATIME: u32 = 0x400;
    /// Access times of directories are not kept.
    pub const NODIRATIME: u32 = 0x800;
    /// A bind mount.
    pub const BIND: u32 = 0x1000;
    /// With [`BIND`], what is mounted below comes too.
    pub const REC: u32 = 0x4000;
    /// Fewer messages of the filesystem.
    pub const SILENT: u32 = 0x8000;
    /// Access times are kept when they say something new: the default.
    pub const RELATIME: u32 = 0x20_0000;
    /// Access times are always kept.
    pub const STRICTATIME: u32 = 0x100_0000;
    /// Times are written late.
    pub const LAZYTIME: u32 = 0x200_0000;
}

/// Each word with the flag it sets or clears.
const WORDS: [(&str, Change); 29] = [
    ("ro", Change::Set(flag::RDONLY)),
    ("rw", Change::Clear(flag::RDONLY)),
    ("nosuid", Change::Set(flag::NOSUID)),
    ("suid", Change::Clear(flag::NOSUID)),
    ("nodev", Change::Set(flag::NODEV)),
    ("dev", Change::Clear(flag::NODEV)),
    ("noexec", Change::Set(flag::NOEXEC)),
    ("exec", Change::Clear(flag::NOEXEC)),
    ("sync", Change::Set(flag::SYNCHRONOUS)),
    ("async", Change::Clear(flag::SYNCHRONOUS)),
    ("dirsync", Change::Set(flag::DIRSYNC)),
    ("nosymfollow", Change::Set(flag::NOSYMFOLLOW)),
    ("symfollow", Change::Clear(flag::NOSYMFOLLOW)),
    ("noatime", Change::Set(flag::NOATIME)),
    ("atime", Change::Clear(flag::NOATIME)),
    ("nodiratime", Change::Set(flag::NODIRATIME)),
    ("diratime", Change::Clear(flag::NODIRATIME)),
    ("bind", Change::Set(flag::BIND)),
    ("rbind", Change::Set(flag::BIND | flag::REC)),
    ("silent", Change::Set(flag::SILENT)),
    ("loud", Change::Clear(flag::SILENT)),
    ("relatime", Change::Set(flag::RELATIME)),
    ("norelatime", Change::Clear(flag::RELATIME)),
    ("strictatime", Change::Set(flag::STRICTATIME)),
    ("lazytime", Change::Set(flag::LAZYTIME)),
    ("nolazytime", Change::Clear(flag::LAZYTIME)),
    ("defaults", Change::Clear(0)),
    ("auto", Change::Clear(0)),
    ("nofail", Change::Clear(0)),
];

#[derive(Clone, Copy)]
enum Change {
    Set(u32),
    Clear(u32),
}

/// Parts options into the flags of `mount(2)` and what is left for the
/// filesystem, as a C string in `buffer`. None when that does not fit.
pub fn parse<'b>(options: &[u8], buffer: &'b mut [u8]) -> Option<(u32, &'b CStr)> {
    let mut flags = 0;
    let mut length = 0_usize;
    for word in options.split(|byte| *byte == b',') {
        if word.is_empty() || word == b"_netdev" || word.starts_with(b"x-") {
            continue;
        }
        match WORDS.iter().find(|(name, _)| name.as_bytes() == word) {
            Some((_, Change::Set(flag))) => flags |= flag,
            Some((_, Change::Clear(flag))) => flags &= !flag,
            None => {
                if length > 0 {
                    *buffer.get_mut(length)? = b',';
                    length = length.checked_add(1)?;
                }
                let end = length.checked_add(word.len())?;
                buffer.get_mut(length..end)?.copy_from_slice(word);
                length = end;
            }
        }
    }
    *buffer.get_mut(length)? = 0;
    let rest = CStr::from_bytes_until_nul(buffer.get(..=length)?).ok()?;
    Some((flags, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &str) -> (u32, String) {
        let mut buffer = [0xaa; 64];
        let (flags, rest) = parse(options.as_bytes(), &mut buffer).unwrap();
        (flags, rest.to_str().unwrap().to_owned())
    }

    #[test]
    fn flags_and_words_for_the_filesystem_are_parted() {
        assert_eq!(
            parsed("noatime,size=64M,nosuid,mode=0755"),
            (
                flag::NOATIME | flag::NOSUID,
                "size=64M,mode=0755".to_owned()
            )
        );
        assert_eq!(parsed(""), (0, String::new()));
        assert_eq!(
            parsed(",,errors=remount-ro,"),
            (0, "errors=remount-ro".to_owned())
        );
    }

    #[test]
    fn the_last_of_two_that_contradict_counts() {
        assert_eq!(parsed("ro,rw").0, 0);
        assert_eq!(parsed("rw,ro").0, flag::RDONLY);
    }

    #[test]
    fn the_numbers_are_the_c_librarys() {
        for (name, number) in [
            ("ro", libc::MS_RDONLY),
            ("nosuid", libc::MS_NOSUID),
            ("nodev", libc::MS_NODEV),
            ("noexec", libc::MS_NOEXEC),
            ("sync", libc::MS_SYNCHRONOUS),
            ("dirsync", libc::MS_DIRSYNC),
            ("noatime", libc::MS_NOATIME),
            ("nodiratime", libc::MS_NODIRATIME),
            ("rbind", libc::MS_BIND | libc::MS_REC),
            ("silent", libc::MS_SILENT),
            ("relatime", libc::MS_RELATIME),
            ("strictatime", libc::MS_STRICTATIME),
            ("lazytime", 1 << 25),
        ] {
            assert_eq!(u64::from(parsed(name).0), number, "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut buffer = [0; 4];

        assert!(parse(b"abc", &mut buffer).is_some());
        assert!(parse(b"abcd", &mut buffer).is_none());
        assert!(parse(b"ab,c", &mut buffer).is_none());
        assert!(parse(b"", &mut []).is_none());
    }
}
