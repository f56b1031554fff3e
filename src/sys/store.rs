//! Two slots that survive power cuts, in a file or on a block device of their own.
//!
//! Whoever writes them in turn always has a whole one: the disk may lose or tear
//! what is being written, never what was answered for. Two things are the caller's:
//!
//! - One write at a time, also when it is given up: the next begins after the end of
//!   the process that was killed at it, or an older content could come last.
//! - After a write that failed or was given up, the same slot again. It may be read
//!   back as if it were written, out of memory, with nothing on the disk; then the
//!   other slot is the only one.

use core::ffi::CStr;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};

use super::{Result, files, reason};
use crate::base::errno::Errno;
use crate::base::limits::PATH_BYTES;
use crate::base::slot::{BYTES, Slot};

/// Bytes of both slots.
const LENGTH: usize = 2 * BYTES;

/// Room for both slots.
pub type Memory = [u8; LENGTH];

/// Reads both slots; one that is missing or can't be read is shorter than a slot.
///
/// May block as long as the disk does: for a child.
///
/// # Errors
///
/// The kernel's reasons: `ENOENT` when nothing was ever written. What is neither a
/// file nor a block device is refused, see [`write`]. A disk's error counts only
/// when it hides both slots.
pub fn read<'m>(path: &CStr, memory: &'m mut Memory) -> Result<(&'m [u8], &'m [u8])> {
    let file = open(path, OFlags::RDONLY)?;
    let (first, second) = memory.split_at_mut(BYTES);
    match (
        read_slot(&file, Slot::First, first),
        read_slot(&file, Slot::Second, second),
    ) {
        (Err(errno), Err(_)) => Err(errno),
        (first, second) => Ok((first.unwrap_or_default(), second.unwrap_or_default())),
    }
}

/// Writes a slot. It is on the disk when this returns, and the other one as before;
/// if it fails, nobody knows what this slot has.
///
/// A file that is missing is made, in a directory that is there, and one that is
/// too short made longer: before anything is in it, its name and its blocks are on
/// the disk.
///
/// May block as long as the disk does: for a child. Touches no memory but its own
/// stack, so that a forked one may call it.
///
/// # Errors
///
/// The kernel's reasons: `EROFS`, `ENOSPC`, `EIO`. `EISDIR` for a directory,
/// `ESPIPE` for a FIFO, and `ENOTBLK` for all else that is neither a file nor a
/// block device.
pub fn write(path: &CStr, slot: Slot, content: &[u8; BYTES]) -> Result<()> {
    let file = match open(path, OFlags::RDWR) {
        Err(Errno::ENOENT) => create(path)?,
        opened => opened?,
    };
    complete(&file, path)?;
    match retry(|| rustix::io::pwrite(&file, content, offset(slot)))? {
        BYTES => {}
        _ => return Err(Errno::EIO),
    }
    retry(|| rustix::fs::fdatasync(&file))
}

/// Opens what is there, if slots can be in it.
fn open(path: &CStr, access: OFlags) -> Result<OwnedFd> {
    // A FIFO without a partner does not make the opener wait.
    let flags = access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(reason)?;
    match kind(&file)? {
        FileType::RegularFile | FileType::BlockDevice => Ok(file),
        FileType::Directory => Err(Errno::EISDIR),
        FileType::Fifo => Err(Errno::ESPIPE),
        FileType::Symlink | FileType::Socket | FileType::CharacterDevice | FileType::Unknown => {
            Err(Errno::ENOTBLK)
        }
    }
}

/// Whether a path is a device's, by its name: there may be none yet.
pub fn is_device(path: &CStr) -> bool {
    let path = path.to_bytes();
    path.starts_with(b"/dev/") && !path.starts_with(b"/dev/shm/")
}

/// Makes the file, empty. A link that leads nowhere is left alone (`EEXIST`), and in
/// place of a device there is no file to be made (`ENODEV`).
fn create(path: &CStr) -> Result<OwnedFd> {
    if is_device(path) {
        return Err(Errno::ENODEV);
    }
    let access = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::open(path, access | OFlags::CLOEXEC, mode).map_err(reason)
}

/// Makes a file that is too short as long as both slots. Its name first: a file that
/// is long enough is one whose name is on the disk, whenever this was interrupted.
fn complete(file: &OwnedFd, path: &CStr) -> Result<()> {
    let stat = rustix::fs::fstat(file).map_err(reason)?;
    let mut length = usize::try_from(stat.st_size).unwrap_or(0);
    // A device says that it has no bytes.
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || length >= LENGTH {
        return Ok(());
    }
    retry(|| rustix::fs::fsync(file))?;
    sync_directory(path)?;
    // Blocks now rather than later, when the disk may be full.
    let zeros = [0; BYTES];
    while length < LENGTH {
        let rest = zeros.get(..LENGTH - length).unwrap_or(&zeros);
        match retry(|| rustix::io::pwrite(file, rest, length as u64))? {
            0 => return Err(Errno::EIO),
            count => length += count,
        }
    }
    retry(|| rustix::fs::fsync(file))
}

/// Makes the names in the directory of this path durable.
fn sync_directory(path: &CStr) -> Result<()> {
    let mut memory = [0; PATH_BYTES];
    let parent = files::parent(path, &mut memory)?;
    let directory = files::open_directory(parent)?;
    retry(|| rustix::fs::fsync(&directory))
}

/// What there is of a slot.
fn read_slot(file: impl AsFd, slot: Slot, memory: &mut [u8]) -> Result<&[u8]> {
    let mut length = 0;
    while let Some(rest) = memory.get_mut(length..).filter(|rest| !rest.is_empty()) {
        let place = offset(slot) + length as u64;
        match retry(|| rustix::io::pread(&file, &mut *rest, place))? {
            0 => break,
            count => length += count,
        }
    }
    Ok(memory.get(..length).unwrap_or_default())
}

const fn offset(slot: Slot) -> u64 {
    match slot {
        Slot::First => 0,
        Slot::Second => BYTES as u64,
    }
}

fn kind(file: impl AsFd) -> Result<FileType> {
    let stat = rustix::fs::fstat(file).map_err(reason)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

/// Makes a call again that a signal has interrupted.
fn retry<T>(call: impl FnMut() -> rustix::io::Result<T>) -> Result<T> {
    rustix::io::retry_on_intr(call).map_err(reason)
}

#[cfg(test)]
mod tests;
