//! The kernel's log, and the console when the kernel takes none.

use core::ffi::CStr;
use core::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};

use super::{Result, reason};

/// Where messages go. Never blocks on a reader.
pub struct Sink {
    kmsg: Option<OwnedFd>,
}

impl Sink {
    /// A sink that can only reach standard error so far.
    pub const fn new() -> Self {
        Self { kmsg: None }
    }

    /// Writes to the kernel's log from now on.
    ///
    /// # Errors
    ///
    /// When `path` can't be opened: there is no device node, or no right.
    pub fn open(&mut self, path: &CStr) -> Result<()> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        self.kmsg = Some(rustix::fs::open(path, flags, Mode::empty()).map_err(reason)?);
        Ok(())
    }

    /// Whether the kernel's log takes the messages.
    pub const fn is_kmsg(&self) -> bool {
        self.kmsg.is_some()
    }

    /// Writes one record, `<level>text`, to the kernel's log; the text alone to
    /// the console or standard error when the kernel's log takes nothing. What
    /// nothing takes is lost.
    pub fn write(&self, record: &[u8], text: &[u8]) {
        if let Some(kmsg) = &self.kmsg
            && rustix::io::write(kmsg, record).is_ok()
        {
            return;
        }
        // SAFETY: `stdio::repair` made it valid before the first message, and
        // nothing closes it.
        let stderr = unsafe { BorrowedFd::borrow_raw(2) };
        if !write_ready(stderr, text) {
            write_console(text);
        }
    }
}

impl Default for Sink {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes to the console by a descriptor of its own, opened for this one write;
/// a console that takes nothing gets nothing.
pub fn write_console(text: &[u8]) {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    if let Ok(console) = rustix::fs::open(c"/dev/console", flags, Mode::empty()) {
        let _ = rustix::io::write(&console, text);
    }
}

/// Writes when the descriptor takes bytes at once; whether it did.
fn write_ready(fd: BorrowedFd<'_>, text: &[u8]) -> bool {
    let mut polled = [PollFd::new(&fd, PollFlags::OUT)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match rustix::event::poll(&mut polled, Some(&at_once)) {
        Ok(1..) if polled[0].revents().contains(PollFlags::OUT) => {
            rustix::io::write(fd, text).is_ok()
        }
        Ok(_) | Err(_) => false,
    }
}

/// Waits at most `duration` with nothing to wait for: only for a process that
/// has nothing else left to do.
pub fn pause(duration: Duration) {
    let time = Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    };
    let mut nothing: [PollFd<'_>; 0] = [];
    let _ = rustix::event::poll(&mut nothing, Some(&time));
}

/// A descriptor for a child's output: the console, without making it anybody's
/// controlling terminal.
///
/// # Errors
///
/// When there is no console, or nothing behind it.
pub fn console_output() -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
    rustix::fs::open(c"/dev/console", flags, Mode::empty()).map_err(reason)
}

/// Whether bytes can be written to `fd` now.
pub fn takes_bytes(fd: impl AsFd) -> bool {
    let fd = fd.as_fd();
    let mut polled = [PollFd::new(&fd, PollFlags::OUT)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(rustix::event::poll(&mut polled, Some(&at_once)), Ok(1..))
}
