//! Descriptors 0, 1 and 2: made valid, whatever they were, and written to.
//!
//! A program started with one of them closed would give the number to the next
//! file it opens, and a stray message would go into that file.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use super::{Result, reason, signals};
use crate::base::errno::Errno;
use crate::base::signal::Signal;

/// Opens what is closed of 0, 1 and 2: the console when there is one, else
/// `/dev/null`, else a pipe nobody else has, which needs no filesystem.
///
/// Never gives this process a controlling terminal, and never waits for one.
///
/// # Errors
///
/// When not even a pipe can be made.
pub fn repair() -> Result<()> {
    for number in 0..3 {
        if is_open(number) {
            continue;
        }
        let opened = rustix::fs::open(c"/dev/console", flags(), Mode::empty())
            .or_else(|_| rustix::fs::open(c"/dev/null", flags(), Mode::empty()));
        // The lowest free number is the one that is wanted, so what is opened
        // now is kept by forgetting that it is owned.
        match opened {
            Ok(fd) if fd.as_raw_fd() == number => {
                // Whoever gets it from this process is to find it as others make it.
                let _ = rustix::fs::fcntl_setfl(&fd, OFlags::empty());
                let _ = fd.into_raw_fd();
            }
            Ok(_) => return Ok(()),
            Err(_) => {
                let (read, write) = rustix::pipe::pipe().map_err(reason)?;
                let _ = read.into_raw_fd();
                let _ = write.into_raw_fd();
            }
        }
    }
    Ok(())
}

fn flags() -> OFlags {
    // NONBLOCK keeps the open itself from waiting for a carrier.
    OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK
}

fn is_open(number: i32) -> bool {
    // SAFETY: the descriptor is only asked for its flags; a closed one answers
    // EBADF.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_getfd(fd).is_ok()
}

/// Writes a line to standard output or error and waits for nobody: room for a
/// byte, which is all that `poll(2)` tells of, is not room for a line.
///
/// To anything but a file by a descriptor of its own, since the mode of the one
/// that was given is also that of everybody else who has it.
///
/// A pipe that nobody reads sends this process PIPE, which it was to take for somebody
/// else's: it is taken back. Every signal must be blocked.
///
/// # Errors
///
/// The kernel's reasons: `EAGAIN` when there is no room.
pub fn write_line(number: i32, text: &[u8]) -> Result<()> {
    let result = try_write_line(number, text);
    if result == Err(Errno::EPIPE) {
        signals::take_own(Signal::PIPE);
    }
    result
}

fn try_write_line(number: i32, text: &[u8]) -> Result<()> {
    // SAFETY: a closed one answers EBADF.
    let given = unsafe { BorrowedFd::borrow_raw(number) };
    let kind = rustix::fs::fstat(given).map_err(reason)?.st_mode;
    match FileType::from_raw_mode(kind) {
        // It has no reader to wait for, and one place to write at for all who have it.
        FileType::RegularFile => return write_whole_line(given, text),
        FileType::Socket => {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let nothing = &mut SendAncillaryBuffer::default();
            let sent = sendmsg(given, &whole_line(text), nothing, flags);
            return sent.map(drop).map_err(reason);
        }
        _ => {}
    }
    let path = if number == 1 {
        c"/proc/self/fd/1"
    } else {
        c"/proc/self/fd/2"
    };
    if let Ok(own) = rustix::fs::open(path, NOT_WAITING, Mode::empty()) {
        return write_whole_line(own.as_fd(), text);
    }
    // No /proc, or no right: the mode changes for this one write.
    let mode = rustix::fs::fcntl_getfl(given).map_err(reason)?;
    rustix::fs::fcntl_setfl(given, mode | OFlags::NONBLOCK).map_err(reason)?;
    let result = write_whole_line(given, text);
    let _ = rustix::fs::fcntl_setfl(given, mode);
    result
}

/// How a place for one line is opened.
pub(super) const NOT_WAITING: OFlags = OFlags::WRONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY)
    .union(OFlags::NONBLOCK);

/// Writes a line in one call.
pub(super) fn write_whole_line(fd: BorrowedFd<'_>, text: &[u8]) -> Result<()> {
    rustix::io::writev(fd, &whole_line(text))
        .map(drop)
        .map_err(reason)
}

fn whole_line(text: &[u8]) -> [IoSlice<'_>; 2] {
    [IoSlice::new(text), IoSlice::new(b"\n")]
}
