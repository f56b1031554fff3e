//! A pipe by which a child says one thing: a byte that is looked for.

use rustix::fd::{AsFd, OwnedFd};
use rustix::pipe::{PipeFlags, pipe_with};

use super::{Result, reason};
use crate::base::errno::Errno;

/// The two ends of a pipe, both closed by an exec.
pub struct Pipe {
    /// Where it is read, without waiting.
    pub reader: OwnedFd,
    /// Where it is written. A program finds it as every program expects it: a write
    /// waits for room.
    pub writer: OwnedFd,
}

/// What a look at a pipe brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// The byte that was looked for.
    It,
    /// Only so many others.
    Others(usize),
    /// Nothing so far.
    Nothing,
    /// No more will come: nobody has the writer's end.
    End,
}

/// Bytes of one look; more are there for the next.
const LOOK_BYTES: usize = 4096;

impl Pipe {
    /// A new one.
    ///
    /// # Errors
    ///
    /// When descriptors or memory have run out.
    pub fn new() -> Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(reason)?;
        rustix::io::ioctl_fionbio(&reader, true).map_err(reason)?;
        Ok(Self { reader, writer })
    }
}

/// Takes some of what came, and looks for a byte in it. Never waits.
pub fn look_for(byte: u8, reader: impl AsFd) -> Found {
    let mut buffer = [0; LOOK_BYTES];
    match rustix::io::read(reader, &mut buffer).map_err(reason) {
        Ok(0) => Found::End,
        Ok(count) if buffer.iter().take(count).any(|other| *other == byte) => Found::It,
        Ok(count) => Found::Others(count),
        Err(Errno::EAGAIN | Errno::EINTR) => Found::Nothing,
        // A later look would meet it as well.
        Err(_) => Found::End,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_wherever_it_is_and_an_end_is_an_end() {
        let Pipe { reader, writer } = Pipe::new().unwrap();
        assert_eq!(look_for(b'\n', &reader), Found::Nothing);

        for (text, found) in [
            ("xy", Found::Others(2)),
            ("\n", Found::It),
            ("a\nb", Found::It),
        ] {
            rustix::io::write(&writer, text.as_bytes()).unwrap();
            assert_eq!(look_for(b'\n', &reader), found, "{text:?}");
        }

        assert_eq!(look_for(b'\n', &reader), Found::Nothing);
        drop(writer);
        assert_eq!(look_for(b'\n', &reader), Found::End);
    }

    #[test]
    fn a_look_takes_so_much_and_no_more() {
        let Pipe { reader, writer } = Pipe::new().unwrap();
        let mut text = [b'x'; LOOK_BYTES + 1];
        text[LOOK_BYTES] = b'\n';
        rustix::io::write(&writer, &text).unwrap();

        assert_eq!(look_for(b'\n', &reader), Found::Others(LOOK_BYTES));
        assert_eq!(look_for(b'\n', &reader), Found::It);
    }

    #[test]
    fn only_the_reader_does_not_wait() {
        let Pipe { reader, writer } = Pipe::new().unwrap();
        let waits = |fd: &OwnedFd| {
            let flags = rustix::fs::fcntl_getfl(fd).unwrap();
            !flags.contains(rustix::fs::OFlags::NONBLOCK)
        };

        assert!(waits(&writer));
        assert!(!waits(&reader));
    }
}
