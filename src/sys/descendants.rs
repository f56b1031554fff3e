//! The processes that descend from this one, as `/proc` tells of them.
//!
//! Which they are changes while it is read. Children stay in place until they are
//! waited for, so that of those none is passed over; of the others some may be.

use core::ffi::CStr;
use core::fmt::{self, Write};

use rustix::fs::{Mode, OFlags};

use super::memory::List;
use super::{Result, files, process, reason};
use crate::base::errno::Errno;

/// The most processes that a Linux kernel may have (`PID_MAX_LIMIT`).
const MOST: usize = 4 * 1024 * 1024;

/// Enough for nearly all, where there is no room for so many.
const FEWER: usize = 1024;

/// Hands each child of this process to `each`, also those that ended and were not
/// waited for. This process has one thread.
///
/// # Errors
///
/// The kernel's reasons to refuse the list: `ENOENT` without a `/proc`, or with one
/// that is another pid namespace's, whose numbers mean others here.
pub fn each_child(each: impl FnMut(u32)) -> Result<()> {
    let mut own = Path::new();
    let _ = write!(own, "{}", process::pid());
    let mut place = [0; 16];
    if files::read_link(c"/proc/self", &mut place)? != own.text()?.to_bytes() {
        return Err(Errno::ENOENT);
    }
    each_number(c"/proc/thread-self/children", each)
}

/// The pids of the processes below this one: its children first, then theirs, and so
/// on.
///
/// # Errors
///
/// As [`each_child`], and when the kernel has no room.
pub fn find() -> Result<List<u32>> {
    let mut found = List::new(MOST).or_else(|_| List::new(FEWER))?;
    each_child(|pid| found.push(pid))?;
    let mut next = 0;
    while let Some(pid) = found.values().get(next).copied() {
        next += 1;
        // One that has ended since has no children any more.
        let _ = push_children(pid, &mut found);
    }
    Ok(found)
}

/// The threads of a process have children each.
fn push_children(pid: u32, found: &mut List<u32>) -> Result<()> {
    let mut path = Path::new();
    let _ = write!(path, "/proc/{pid}/task");
    files::each_entry(path.text()?, |thread| {
        let mut path = Path::new();
        let thread = thread.to_str().unwrap_or_default();
        let _ = write!(path, "/proc/{pid}/task/{thread}/children");
        if let Ok(path) = path.text() {
            let _ = each_number(path, |child| found.push(child));
        }
    })
}

/// Hands each number of a file to `each`, however long the file is.
fn each_number(path: &CStr, mut each: impl FnMut(u32)) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(reason)?;
    let mut buffer = [0; 2048];
    let mut numbers = Numbers::default();
    loop {
        match rustix::io::read(&file, &mut buffer) {
            Ok(0) => break,
            Ok(count) => numbers.take(buffer.get(..count).unwrap_or_default(), &mut each),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(reason(errno)),
        }
    }
    numbers.end(&mut each);
    Ok(())
}

/// Decimal numbers in a text that comes piece by piece: one may begin in a piece and
/// go on in the next.
#[derive(Default)]
struct Numbers {
    begun: Option<u32>,
}

impl Numbers {
    fn take(&mut self, piece: &[u8], each: &mut impl FnMut(u32)) {
        for byte in piece {
            if byte.is_ascii_digit() {
                let begun = self.begun.unwrap_or(0).saturating_mul(10);
                self.begun = Some(begun.saturating_add(u32::from(byte - b'0')));
            } else {
                self.end(each);
            }
        }
    }

    fn end(&mut self, each: &mut impl FnMut(u32)) {
        self.begun.take().into_iter().for_each(each);
    }
}

/// A short text, as the path of a file of `/proc` is.
struct Path {
    bytes: [u8; 64],
    length: usize,
}

impl Path {
    const fn new() -> Self {
        Self {
            bytes: [0; 64],
            length: 0,
        }
    }

    fn text(&self) -> Result<&CStr> {
        CStr::from_bytes_until_nul(&self.bytes).map_err(|_| Errno::ENAMETOOLONG)
    }
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length.saturating_add(text.len());
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_wherever_the_pieces_end() {
        let text = b"4 17 4194304 999 ";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut found = Vec::new();
                let mut numbers = Numbers::default();
                let mut each = |number| found.push(number);

                numbers.take(&text[..first], &mut each);
                numbers.take(&text[first..second], &mut each);
                numbers.take(&text[second..], &mut each);
                numbers.end(&mut each);

                assert_eq!(found, [4, 17, 4_194_304, 999], "{first} {second}");
            }
        }
    }

    #[test]
    fn a_number_that_nothing_follows_is_one() {
        let mut found = Vec::new();
        let mut numbers = Numbers::default();

        numbers.take(b"12 3", &mut |number| found.push(number));
        numbers.end(&mut |number| found.push(number));

        assert_eq!(found, [12, 3]);
    }
}
