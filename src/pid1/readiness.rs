//! The descriptor at which a host says that it is ready, as s6 has it: a newline.
//!
//! Each life of such a host has a pipe of its own. Its reader's end is held until
//! that life is ready or can't become so any more; its writer's end only until the
//! host has it.

use crate::base::level::Level;
use crate::pid1::log::Log;
use crate::pid1::watch::Watch;
use crate::sys::pipe::{self, Found, Pipe};
use crate::sys::spawn::Passed;
use crate::sys::{AsFd, Fd};

/// Looks before anything else is looked at again: as many as empty a pipe of the usual
/// size, so that what a process wrote before it ended is among them.
const LOOKS_AT_ONCE: usize = 16;

/// Looks without a newline after which there will be none: 1 MiB at least, when each
/// brings all it can.
const LOOKS: u32 = 256;

/// What a newline is waited for from, if anything is.
#[derive(Default)]
pub struct Readiness {
    reader: Option<Fd>,
    /// Looks that have brought something, but no newline.
    looks: u32,
    /// What the host that is about to be started is given, and where.
    writer: Option<(Fd, u8)>,
}

/// What a host has said by its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// That it is ready.
    Ready,
    /// That it will never say so: every process that could has closed it.
    Never,
}

impl Readiness {
    /// Gets ready for a life of the host that is ready by this descriptor.
    pub fn open(&mut self, number: u8, watch: &Watch, log: &Log) {
        self.close(watch);
        let pipe = Pipe::new().and_then(|pipe| watch.add_notices(&pipe.reader).map(|()| pipe));
        match pipe {
            Ok(Pipe { reader, writer }) => {
                self.reader = Some(reader);
                self.writer = Some((writer, number));
            }
            Err(errno) => log.failed(Level::Error, "listen to", b"the host", errno),
        }
    }

    /// What the host that is started gets.
    pub fn passed(&self) -> Option<Passed<'_>> {
        let (writer, number) = self.writer.as_ref()?;
        Some(Passed {
            fd: writer.as_fd(),
            number: *number,
        })
    }

    /// The host has its end.
    pub fn has_passed(&mut self) {
        self.writer = None;
    }

    /// Nothing more is waited for.
    pub fn close(&mut self, watch: &Watch) {
        self.writer = None;
        self.looks = 0;
        // A child in flight may have it open still, and it would go on waking.
        if let Some(reader) = self.reader.take() {
            watch.remove(&reader);
        }
    }

    /// Goes on with the pipe of the life before.
    pub fn adopt(&mut self, reader: Fd, watch: &Watch) {
        if watch.add_notices(&reader).is_ok() {
            self.reader = Some(reader);
        }
    }

    /// Its reader's end, for the next life.
    pub const fn reader(&self) -> Option<&Fd> {
        self.reader.as_ref()
    }

    /// Takes what the host has written.
    pub fn hear(&mut self) -> Option<Said> {
        let reader = self.reader.as_ref()?;
        for _ in 0..LOOKS_AT_ONCE {
            match pipe::look_for(b'\n', reader) {
                Found::It => return Some(Said::Ready),
                Found::Others if self.looks < LOOKS => self.looks += 1,
                // Whatever it writes there for ever, it is not that.
                Found::Others => return Some(Said::Never),
                Found::Nothing => break,
                Found::End => return Some(Said::Never),
            }
        }
        None
    }
}
