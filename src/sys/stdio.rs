//! Makes descriptors 0, 1 and 2 valid, whatever they were.
//!
//! A program started with one of them closed would give the number to the next
//! file it opens, and a stray message would go into that file.

use rustix::fd::{AsRawFd, IntoRawFd};
use rustix::fs::{Mode, OFlags};

use super::{Result, reason};

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
    let fd = unsafe { rustix::fd::BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_getfd(fd).is_ok()
}
