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
//!
//! What a file grows by may be anybody's after a power cut, and then nobody can tell
//! it from what is not ours. So a file gets its name when all of it is on the disk, and
//! has the magic in both slots then: whatever the first write becomes, the other slot
//! says whose it is. What somebody else has made blank, too short or not, is at risk up
//! to the end of its first write; nothing was answered for until then.

use core::ffi::CStr;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};

use super::{Result, files, reason};
use crate::base::errno::Errno;
use crate::base::limits::PATH_BYTES;
use crate::base::slot::{BYTES, MAGIC, Slot};

/// Bytes of both slots.
const LENGTH: usize = 2 * BYTES;

/// Bytes of a name in a directory: `NAME_MAX`, and its terminating NUL.
const NAME_BYTES: usize = 256;

/// What a file's name has behind it until the file is whole.
const ASIDE: &[u8] = b".new";

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
/// the disk. Until it is whole, a file that is made has `.new` behind its name; what
/// else has that name is removed.
///
/// May block as long as the disk does: for a child. Touches no memory but its own
/// stack, so that a forked one may call it.
///
/// # Errors
///
/// The kernel's reasons: `EROFS`, `ENOSPC`, `EIO`. `EISDIR` for a directory,
/// `ESPIPE` for a FIFO, and `ENOTBLK` for all else that is neither a file nor a
/// block device. A link that leads nowhere is left alone (`EEXIST`), and in place of
/// a device no file is made (`ENODEV`).
pub fn write(path: &CStr, slot: Slot, content: &[u8; BYTES]) -> Result<()> {
    let file = match open(path, OFlags::RDWR) {
        Err(Errno::ENOENT) => {
            create(path)?;
            open(path, OFlags::RDWR)?
        }
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

/// Makes the file, with no record in either slot. They are on the disk before it has
/// its name; the name is not yet.
fn create(path: &CStr) -> Result<()> {
    if is_device(path) {
        return Err(Errno::ENODEV);
    }
    let mut memory = [0; PATH_BYTES];
    let directory = files::open_directory(files::parent(path, &mut memory)?)?;
    let name = files::name(path)?;
    let mut memory = [0; NAME_BYTES];
    let aside = aside(name, &mut memory)?;
    leave_alone(&directory, name)?;
    let mut content = [0; LENGTH];
    for slot in content.as_chunks_mut::<BYTES>().0 {
        if let Some(place) = slot.first_chunk_mut() {
            *place = MAGIC;
        }
    }
    let made = files::write_aside(&directory, aside, &content, 0o600)
        .and_then(|file| retry(|| rustix::fs::fsync(&file)))
        .and_then(|()| give_name(&directory, aside, name));
    made.inspect_err(|_| {
        // A disk that is full is not to be fuller for it. If it stays, the next write
        // removes it.
        let _ = files::remove_at(&directory, aside);
    })
}

/// The name of a file that is not whole yet.
fn aside<'b>(name: &CStr, buffer: &'b mut [u8; NAME_BYTES]) -> Result<&'b CStr> {
    let name = name.to_bytes();
    let (last, places) = buffer.split_last_mut().ok_or(Errno::ENAMETOOLONG)?;
    *last = 0;
    if name.len() + ASIDE.len() > places.len() {
        return Err(Errno::ENAMETOOLONG);
    }
    for (place, byte) in places.iter_mut().zip(name.iter().chain(ASIDE)) {
        *place = *byte;
    }
    CStr::from_bytes_until_nul(buffer).map_err(|_| Errno::ENAMETOOLONG)
}

/// Gives a file its name, unless something has it (`EEXIST`).
fn give_name(directory: impl AsFd, aside: &CStr, name: &CStr) -> Result<()> {
    let directory = directory.as_fd();
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(directory, aside, directory, name, flags) {
        // The filesystem has not that flag, or the kernel not that call.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            leave_alone(directory, name)?;
            rustix::fs::renameat(directory, aside, directory, name).map_err(reason)
        }
        named => named.map_err(reason),
    }
}

/// Refuses a name that something has, also a link that leads nowhere.
fn leave_alone(directory: impl AsFd, name: &CStr) -> Result<()> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(Errno::EEXIST),
        Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(errno) => Err(reason(errno)),
    }
}

/// Sees to it that a file's name and the blocks of both slots are on the disk. Its
/// name first: a file that is long enough and had a record is one whose name is on the
/// disk, whenever this was interrupted.
fn complete(file: &OwnedFd, path: &CStr) -> Result<()> {
    let stat = rustix::fs::fstat(file).map_err(reason)?;
    let mut length = usize::try_from(stat.st_size).unwrap_or(0);
    // A device says that it has no bytes.
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    if length >= LENGTH {
        // Whoever made it may have been given up before its name was there for good.
        return if is_unwritten(file) {
            sync_directory(path)
        } else {
            Ok(())
        };
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

/// Whether no record was ever written to either slot, as far as they can be read.
fn is_unwritten(file: &OwnedFd) -> bool {
    let mut memory = [0; BYTES];
    [Slot::First, Slot::Second].into_iter().all(|slot| {
        let content = read_slot(file, slot, &mut memory).unwrap_or_default();
        content.iter().skip(MAGIC.len()).all(|byte| *byte == 0)
    })
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
