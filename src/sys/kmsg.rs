//! The kernel's log, and the console when the kernel takes none.

use core::ffi::CStr;
use core::time::Duration;

use rustix::event::PollFd;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};

use super::poll::timespec;
use super::stdio;

/// Where messages go. Never blocks on a reader.
pub struct Sink {
    kmsg: Kmsg,
}

/// The kernel's log, as a place to write to.
enum Kmsg {
    /// There is none (yet).
    Absent,
    /// There is one, and nothing was written: opening it costs more than a
    /// message, and a good boot may have none before the host runs.
    Unopened(&'static CStr),
    /// It is open.
    Open(OwnedFd),
}

impl Sink {
    /// A sink that can only reach standard error so far.
    pub const fn new() -> Self {
        Self { kmsg: Kmsg::Absent }
    }

    /// Writes to the kernel's log from now on, if it can be opened when there is
    /// something to write.
    pub fn use_kmsg(&mut self, path: &'static CStr) {
        self.kmsg = Kmsg::Unopened(path);
    }

    /// Writes one record, `<level>text`, to the kernel's log; the text alone, as
    /// a line, to standard error or the console when the kernel's log takes
    /// nothing. What nothing takes is lost.
    pub fn write(&mut self, record: &[u8]) {
        if let Kmsg::Unopened(path) = self.kmsg {
            let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
            self.kmsg = match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(fd) => Kmsg::Open(fd),
                Err(_) => Kmsg::Absent,
            };
        }
        if let Kmsg::Open(kmsg) = &self.kmsg
            // Without its end a record stays open for a continuation, and nobody
            // can read it before the next one.
            && stdio::write_whole_line(kmsg.as_fd(), record).is_ok()
        {
            return;
        }
        let start = record.iter().position(|byte| *byte == b'>');
        let text = record
            .get(start.map_or(0, |at| at + 1)..)
            .unwrap_or_default();
        if stdio::write_line(2, text).is_err() {
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
fn write_console(text: &[u8]) {
    if let Ok(console) = rustix::fs::open(c"/dev/console", stdio::NOT_WAITING, Mode::empty()) {
        let _ = stdio::write_whole_line(console.as_fd(), text);
    }
}

/// Waits at most `duration` with nothing to wait for: only for a process that
/// has nothing else left to do.
pub fn pause(duration: Duration) {
    let mut nothing: [PollFd<'_>; 0] = [];
    let _ = rustix::event::poll(&mut nothing, Some(&timespec(duration)));
}
