//! Small files: read whole, written whole, replaced at once.

use core::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::{Result, reason};
use crate::base::errno::Errno;

/// Reads a whole file into `buffer`; what is read. Regular files and those of
/// /proc and /sys: one that could make the reader wait is refused by the kernel
/// or read as it is (`O_NONBLOCK`).
///
/// # Errors
///
/// The kernel's reasons, and `EFBIG` when the file is longer than the buffer.
pub fn read<'b>(path: &CStr, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(reason)?;
    // Without a writer it reads as empty, and with one as whatever is there.
    let kind = rustix::fs::fstat(&file).map_err(reason)?.st_mode;
    if rustix::fs::FileType::from_raw_mode(kind) == rustix::fs::FileType::Fifo {
        return Err(Errno::ESPIPE);
    }
    read_all(&file, buffer)
}

/// Reads the start of a file, as much as one read gives, by a path that starts at an open
/// directory. A FIFO without a writer is empty.
///
/// # Errors
///
/// The kernel's reasons.
pub fn read_start_at<'b>(
    directory: impl AsFd,
    path: &CStr,
    buffer: &'b mut [u8],
) -> Result<&'b [u8]> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::fs::openat(directory, path, flags, Mode::empty()).map_err(reason)?;
    let length = rustix::io::read(&file, &mut *buffer).map_err(reason)?;
    Ok(buffer.get(..length).unwrap_or_default())
}

/// Reads what is left of an open file.
///
/// # Errors
///
/// As [`read`].
pub fn read_all(file: impl AsFd, buffer: &mut [u8]) -> Result<&[u8]> {
    let mut length = 0;
    loop {
        let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) else {
            // Full: right only if there is nothing more.
            let mut more = [0];
            return match rustix::io::read(&file, &mut more).map_err(reason)? {
                0 => Ok(buffer),
                _ => Err(Errno::EFBIG),
            };
        };
        match rustix::io::read(&file, rest) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(reason(errno)),
        }
    }
    Ok(buffer.get(..length).unwrap_or_default())
}

/// Writes to a file that is there, as the kernel's own files want it: one write.
///
/// # Errors
///
/// The kernel's reasons; `EIO` when it took only a part.
pub fn write_existing(path: &CStr, text: &[u8]) -> Result<()> {
    write_existing_at(CWD, path, text)
}

/// [`write_existing`], with a path that starts at an open directory.
///
/// # Errors
///
/// As [`write_existing`].
pub fn write_existing_at(directory: impl AsFd, path: &CStr, text: &[u8]) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::openat(directory, path, flags, Mode::empty()).map_err(reason)?;
    match rustix::io::write(&file, text).map_err(reason)? {
        count if count == text.len() => Ok(()),
        _ => Err(Errno::EIO),
    }
}

/// Replaces `name` in an open directory at once: a reader sees the old content
/// or the new, never a part. For a filesystem in memory: nothing is synced.
///
/// # Errors
///
/// The kernel's reasons; the old content is then still there.
pub fn replace(directory: impl AsFd, name: &CStr, aside: &CStr, content: &[u8]) -> Result<()> {
    let directory = directory.as_fd();
    write_aside(directory, aside, content, 0o644)?;
    rustix::fs::renameat(directory, aside, directory, name).map_err(reason)
}

/// [`replace`] on a disk: whoever looks after a power cut finds the old content or
/// the new as well. It is the new one when this returns.
///
/// May block as long as the disk does: for a child.
///
/// # Errors
///
/// The kernel's reasons.
pub fn replace_durably(
    directory: impl AsFd,
    name: &CStr,
    aside: &CStr,
    content: &[u8],
) -> Result<()> {
    let directory = directory.as_fd();
    let file = write_aside(directory, aside, content, 0o644)?;
    rustix::fs::fsync(file).map_err(reason)?;
    rustix::fs::renameat(directory, aside, directory, name).map_err(reason)?;
    rustix::fs::fsync(directory).map_err(reason)
}

/// Writes a file that nobody knows yet, in place of whatever has its name.
///
/// # Errors
///
/// The kernel's reasons.
pub(super) fn write_aside(
    directory: impl AsFd,
    aside: &CStr,
    content: &[u8],
    mode: u16,
) -> Result<OwnedFd> {
    let directory = directory.as_fd();
    // A new file and nothing else: a link would lead elsewhere, and a FIFO would
    // make the writer wait.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(u32::from(mode));
    let file = match rustix::fs::openat(directory, aside, flags, mode) {
        Err(rustix::io::Errno::EXIST) => {
            remove_at(directory, aside)?;
            rustix::fs::openat(directory, aside, flags, mode).map_err(reason)?
        }
        opened => opened.map_err(reason)?,
    };
    let mut rest = content;
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(0) => return Err(Errno::EIO),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(reason(errno)),
        }
    }
    Ok(file)
}

/// Removes a file of an open directory; one that is not there is fine.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn remove_at(directory: impl AsFd, name: &CStr) -> Result<()> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(errno) => Err(reason(errno)),
    }
}

/// Removes a file of an open directory for good, also over a power cut; one that is
/// not there is fine.
///
/// # Errors
///
/// As [`remove_at`].
pub fn remove_durably(directory: impl AsFd, name: &CStr) -> Result<()> {
    let directory = directory.as_fd();
    remove_at(directory, name)?;
    rustix::fs::fsync(directory).map_err(reason)
}

/// Opens a directory, as a place for the calls above.
///
/// # Errors
///
/// The kernel's reasons.
pub fn open_directory(path: &CStr) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(reason)
}

/// Makes a directory; one that is there is fine, whatever its mode.
///
/// # Errors
///
/// The kernel's reasons but that: `ENOENT` for a missing parent, `EROFS`.
pub fn make_directory(path: &CStr, mode: u16) -> Result<()> {
    match rustix::fs::mkdir(path, Mode::from_raw_mode(u32::from(mode))) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(errno) => Err(reason(errno)),
    }
}

/// Makes a directory and its missing parents, the parents with mode 0755.
///
/// # Errors
///
/// The kernel's reasons, of the first directory that can't be made.
pub fn make_directories(path: &CStr, mode: u16) -> Result<()> {
    match make_directory(path, mode) {
        Err(Errno::ENOENT) => {}
        result => return result,
    }
    let mut parent = [0_u8; crate::base::limits::PATH_BYTES];
    let bytes = path.to_bytes();
    for end in (1..bytes.len()).filter(|end| bytes.get(*end) == Some(&b'/')) {
        let Some(place) = parent.get_mut(..=end) else {
            return Err(Errno::ENAMETOOLONG);
        };
        let (text, terminator) = place.split_at_mut(end);
        text.copy_from_slice(bytes.get(..end).unwrap_or_default());
        terminator.fill(0);
        let parent = CStr::from_bytes_until_nul(place).map_err(|_| Errno::EINVAL)?;
        make_directory(parent, 0o755)?;
    }
    make_directory(path, mode)
}

/// Sets the mode and the owner of a directory, exactly.
///
/// # Errors
///
/// The kernel's reasons.
pub fn own(path: &CStr, mode: u16, uid: u32, gid: u32) -> Result<()> {
    let directory = open_directory(path)?;
    let owner = rustix::fs::Uid::from_raw(uid);
    let group = rustix::fs::Gid::from_raw(gid);
    rustix::fs::fchown(&directory, Some(owner), Some(group)).map_err(reason)?;
    // After the owner: a change of owner takes set-id bits away.
    rustix::fs::fchmod(&directory, Mode::from_raw_mode(u32::from(mode))).map_err(reason)
}

/// Makes a symbolic link; one that is there is fine, wherever it leads.
///
/// # Errors
///
/// The kernel's reasons but that.
pub fn link(target: &CStr, path: &CStr) -> Result<()> {
    match rustix::fs::symlink(target, path) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(errno) => Err(reason(errno)),
    }
}

/// The directory that a path is in; `.` for one word.
///
/// # Errors
///
/// `ENAMETOOLONG` when it does not fit.
pub fn parent<'b>(path: &CStr, buffer: &'b mut [u8]) -> Result<&'b CStr> {
    let path = path.to_bytes();
    let parent = match path.iter().rposition(|byte| *byte == b'/') {
        None => b".",
        Some(0) => b"/",
        Some(end) => path.get(..end).unwrap_or_default(),
    };
    let place = buffer.get_mut(..=parent.len());
    let (last, place) = place
        .and_then(<[u8]>::split_last_mut)
        .ok_or(Errno::ENAMETOOLONG)?;
    place.copy_from_slice(parent);
    *last = 0;
    CStr::from_bytes_until_nul(buffer).map_err(|_| Errno::ENAMETOOLONG)
}

/// The name that a path has in its directory: what is behind the last slash.
///
/// # Errors
///
/// None: a part of a path up to its end is a path.
pub fn name(path: &CStr) -> Result<&CStr> {
    let slash = path.to_bytes().iter().rposition(|byte| *byte == b'/');
    let name = path.to_bytes_with_nul();
    let name = name.get(slash.map_or(0, |at| at + 1)..).unwrap_or_default();
    CStr::from_bytes_with_nul(name).map_err(|_| Errno::EINVAL)
}

/// Where a symbolic link leads, as it is written.
///
/// # Errors
///
/// The kernel's reasons: `EINVAL` for what is no link; `ENAMETOOLONG` when it does not
/// fit.
pub fn read_link<'b>(path: &CStr, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
    let size = buffer.len();
    let length = rustix::fs::readlinkat_raw(CWD, path, &mut *buffer).map_err(reason)?;
    match buffer.get(..length) {
        Some(target) if length < size => Ok(target),
        _ => Err(Errno::ENAMETOOLONG),
    }
}

/// Makes a symbolic link lead elsewhere, at once and durably: whoever looks, and
/// whoever looks after a power cut, finds the old or the new. Where it leads must be
/// there.
///
/// # Errors
///
/// The kernel's reasons. The link is then as before, unless nothing but making it
/// durable has failed.
pub fn replace_link(path: &CStr, target: &CStr) -> Result<()> {
    let mut place = [0; crate::base::limits::PATH_BYTES];
    let directory = open_directory(parent(path, &mut place)?)?;
    let name = name(path)?;
    rustix::fs::statat(&directory, target, AtFlags::empty()).map_err(reason)?;
    let aside = c".host-init-link";
    remove_at(&directory, aside)?;
    rustix::fs::symlinkat(target, &directory, aside).map_err(reason)?;
    rustix::fs::renameat(&directory, aside, &directory, name).map_err(reason)?;
    rustix::fs::fsync(&directory).map_err(reason)
}

/// Hands the name of each entry of a directory to `each`, but `.` and `..`.
///
/// # Errors
///
/// The kernel's reasons.
pub fn each_entry(path: &CStr, mut each: impl FnMut(&CStr)) -> Result<()> {
    let directory = open_directory(path)?;
    let mut buffer = [const { core::mem::MaybeUninit::uninit() }; 2048];
    let mut entries = rustix::fs::RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(reason)?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name);
        }
    }
    Ok(())
}

/// The device that the file at the end of a path is on, as major and minor
/// number; none when the path leads nowhere.
pub fn device_of(path: &CStr) -> Option<(u32, u32)> {
    let device = rustix::fs::stat(path).ok()?.st_dev;
    Some((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// A number for the content of a file as far as its size and time tell; it is the same
/// after a copy that keeps both, and in another boot.
///
/// # Errors
///
/// The kernel's reasons.
pub fn stamp(path: &CStr) -> Result<u64> {
    let stat = rustix::fs::stat(path).map_err(reason)?;
    let seconds = u64::from_ne_bytes(stat.st_mtime.to_ne_bytes());
    let size = u64::from_ne_bytes(stat.st_size.to_ne_bytes());
    Ok(seconds.rotate_left(32) ^ u64::from(stat.st_mtime_nsec as u32) ^ size.rotate_left(1))
}

/// Whether two paths lead to the same file.
pub fn is_same(one: &CStr, other: &CStr) -> bool {
    let identity = |path| rustix::fs::stat(path).map(|stat| (stat.st_dev, stat.st_ino));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether the path leads to something that can be run by this process.
pub fn is_program(path: &CStr) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether the path leads anywhere.
pub fn exists(path: &CStr) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXISTS).is_ok()
}

/// Whether a path that starts at an open directory leads anywhere.
pub fn exists_at(directory: impl AsFd, path: &CStr) -> bool {
    rustix::fs::accessat(
        directory,
        path,
        rustix::fs::Access::EXISTS,
        AtFlags::empty(),
    )
    .is_ok()
}

/// Writes all bytes to a descriptor of a person's tool; may block on its reader.
///
/// # Errors
///
/// The kernel's reasons.
pub fn print(number: i32, mut text: &[u8]) -> Result<()> {
    // SAFETY: `stdio::repair` made 0, 1 and 2 valid, and nothing closes them.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    while !text.is_empty() {
        match rustix::io::write(fd, text) {
            Ok(0) => return Err(Errno::EIO),
            Ok(count) => text = text.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(reason(errno)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_path_is_found() {
        let mut buffer = [0; 8];

        assert_eq!(parent(c"/dev/nvme0n1", &mut buffer), Ok(c"/dev"));
        assert_eq!(parent(c"/dev", &mut buffer), Ok(c"/"));
        assert_eq!(parent(c"dev", &mut buffer), Ok(c"."));
        assert_eq!(parent(c"/1234567/a", &mut buffer), Err(Errno::ENAMETOOLONG));
    }

    #[test]
    fn the_name_at_the_end_of_a_path_is_found() {
        assert_eq!(name(c"/dev/nvme0n1"), Ok(c"nvme0n1"));
        assert_eq!(name(c"dev"), Ok(c"dev"));
        assert_eq!(name(c"/dev/"), Ok(c""));
    }
}
