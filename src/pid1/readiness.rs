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

/// Bytes without a newline after which none is waited for: who writes for ever is not
/// read for ever. A re-execution begins anew.
const PATIENCE: usize = 1024 * 1024;

/// What a newline is waited for from, if anything is.
#[derive(Default)]
pub struct Readiness {
    reader: Option<Fd>,
    /// Bytes that came so far.
    passed_over: usize,
    /// What the host that is about to be started is given, and where.
    writer: Option<(Fd, u8)>,
}

/// What a host has said by its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// That it is ready.
    Ready,
    /// Nothing, and it never will by this descriptor.
    Never(Why),
}

/// Why a host will never say by its descriptor that it is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Every process that could say it has closed it.
    Closed,
    /// It writes more than anybody reads.
    TooMuch,
}

impl Readiness {
    /// Gets ready for a life of the host that is ready by this descriptor.
    pub fn open(&mut self, number: u8, watch: &Watch, log: &Log) {
        self.close(watch);
        self.passed_over = 0;
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
                Found::Others(count) => {
                    self.passed_over = self.passed_over.saturating_add(count);
                    if self.passed_over >= PATIENCE {
                        return Some(Said::Never(Why::TooMuch));
                    }
                }
                Found::Nothing => break,
                Found::End => return Some(Said::Never(Why::Closed)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::handover;

    #[test]
    fn bytes_count_and_not_how_often_they_come() {
        let Pipe { reader, writer } = Pipe::new().unwrap();
        let mut readiness = Readiness {
            reader: Some(reader),
            ..Readiness::default()
        };
        let path = format!("/proc/self/fd/{}", handover::number(&writer));
        let mut writer = std::fs::File::options().write(true).open(path).unwrap();
        let mut write = |text: &[u8]| std::io::Write::write_all(&mut writer, text).unwrap();
        for _ in 0..4096 {
            write(b"x");
            assert_eq!(readiness.hear(), None);
        }
        write(b"x\n");
        assert_eq!(readiness.hear(), Some(Said::Ready));

        // What is left of a mebibyte.
        for _ in 0..254 {
            write(&[b'x'; 4096]);
            assert_eq!(readiness.hear(), None);
        }
        write(&[b'x'; 4095]);
        assert_eq!(readiness.hear(), None);
        write(b"x");
        assert_eq!(readiness.hear(), Some(Said::Never(Why::TooMuch)));
    }
}
