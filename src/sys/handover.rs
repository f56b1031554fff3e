//! Re-executing PID 1: what it knows goes through memory to its next life.
//!
//! The record is in a memory file whose content is sealed; the descriptors that
//! the next life needs stay open over the exec under the same numbers.

use core::ffi::CStr;

use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags};
use static_assertions::const_assert;

use super::arguments::Arguments;
use super::call::execve;
use super::memory::Scratch;
use super::{Result, files, reason};
use crate::base::errno::Errno;
use crate::base::limits;

/// The variable that names the descriptor of the record.
const VARIABLE: &str = "HOST_INIT_HANDOVER";

const_assert!(VARIABLE.len() + "=0123456789".len() < 32);

/// Words of PID 1's own command line that its next life gets.
const WORDS: usize = limits::WORDS;

/// Becomes the program at its own path again, which may be another version by
/// now, with the same arguments. Returns only when that fails; nothing has
/// changed then.
pub fn reexecute(record: &[u8], kept: &[Option<&OwnedFd>], arguments: Arguments) -> Errno {
    match try_reexecute(record, kept, arguments) {
        Ok(never) => match never {},
        Err(errno) => {
            for fd in kept.iter().flatten() {
                let _ = rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC);
            }
            errno
        }
    }
}

fn try_reexecute(
    record: &[u8],
    kept: &[Option<&OwnedFd>],
    arguments: Arguments,
) -> Result<core::convert::Infallible> {
    let flags = MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create(c"host-init", flags).map_err(reason)?;
    if rustix::io::write(&file, record).map_err(reason)? != record.len() {
        return Err(Errno::EIO);
    }
    rustix::fs::fcntl_add_seals(&file, seals()).map_err(reason)?;
    for fd in kept.iter().flatten() {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()).map_err(reason)?;
    }
    let variable = variable(file.as_raw_fd());
    let mut path = [0; limits::PATH_BYTES];
    let path = own_path(&mut path)?;

    let mut words = [core::ptr::null(); WORDS + 1];
    for (place, word) in words.iter_mut().take(WORDS).zip(arguments.words()) {
        *place = word.as_ptr().cast::<u8>();
    }
    let inherited = arguments.environment().filter(|entry| !is_variable(entry));
    let entries = inherited.clone().count() + 1;
    let mut environment = Scratch::new((entries + 1) * size_of::<*const u8>())?;
    let environment = environment.slice_of::<*const u8>();
    let entries =
        core::iter::once(variable.as_ptr()).chain(inherited.map(|entry| entry.as_ptr().cast()));
    for (place, entry) in environment.iter_mut().zip(entries) {
        *place = entry;
    }
    // SAFETY: both arrays hold C strings and end with a null pointer.
    Err(unsafe { execve(path, words.as_ptr(), environment.as_ptr()) })
}

/// `HOST_INIT_HANDOVER=` and a descriptor's number, as a C string.
fn variable(number: i32) -> [u8; 32] {
    let mut text = [0; 32];
    let (name, value) = text.split_at_mut(VARIABLE.len());
    name.copy_from_slice(VARIABLE.as_bytes());
    let mut rest = number.unsigned_abs();
    // As many digits as an i32 may have, zeros in front: whoever reads the
    // number does not mind.
    let (equals, digits) = value.split_at_mut(1);
    equals.fill(b'=');
    for place in digits.iter_mut().take(10).rev() {
        *place = b"0123456789"[rest as usize % 10];
        rest /= 10;
    }
    text
}

/// Whether an entry of the environment is host-init's own, for its next life and
/// for nobody else.
fn is_variable(entry: &CStr) -> bool {
    let rest = entry.to_bytes().strip_prefix(VARIABLE.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"="))
}

/// Whether this is a next life, whatever the one before has handed over.
pub fn is_next_life(arguments: Arguments) -> bool {
    arguments.environment().any(is_variable)
}

/// Reads the record that the life before left, when this is a next life.
pub fn take(arguments: Arguments, buffer: &mut [u8]) -> Option<&[u8]> {
    let number = arguments
        .environment()
        .find_map(|entry| {
            let entry = entry.to_bytes().strip_prefix(VARIABLE.as_bytes())?;
            core::str::from_utf8(entry.strip_prefix(b"=")?).ok()
        })?
        .parse()
        .ok()?;
    let file = adopt(number)?;
    // Somebody else's descriptor is not a sealed memory file.
    if !rustix::fs::fcntl_get_seals(&file).ok()?.contains(seals()) {
        return None;
    }
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0)).ok()?;
    files::read_all(&file, buffer).ok()
}

/// Owns a descriptor that came over the exec; none when it is not open.
pub fn adopt(number: i32) -> Option<OwnedFd> {
    if number <= 2 {
        return None;
    }
    // SAFETY: only asked for its flags; one that is not open answers EBADF.
    let borrowed = unsafe { rustix::fd::BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_setfd(borrowed, rustix::io::FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, and in this life nobody else owns it.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The descriptor's number, for the record.
pub fn number(fd: &OwnedFd) -> i32 {
    fd.as_raw_fd()
}

fn seals() -> SealFlags {
    SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE
}

/// Where this program was started from. A file that was replaced since is the
/// new one: the kernel marks the old one's name.
fn own_path(buffer: &mut [u8]) -> Result<&CStr> {
    let path = c"/proc/self/exe";
    let length = rustix::fs::readlinkat_raw(rustix::fs::CWD, path, &mut *buffer).map_err(reason)?;
    let bytes = buffer.get(..length).unwrap_or_default();
    let length = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes).len();
    *buffer.get_mut(length).ok_or(Errno::ENAMETOOLONG)? = 0;
    CStr::from_bytes_until_nul(buffer).map_err(|_| Errno::ENAMETOOLONG)
}
