//! Numbers out of the kernel's files, and lines to the console.

use core::ffi::CStr;
use core::fmt::{self, Write};

use linux_raw_sys::general::{O_RDONLY, O_RDWR};

use crate::kernel;

/// A line in the making; what does not fit is left out.
#[derive(Debug)]
pub struct Line {
    bytes: [u8; 256],
    length: usize,
}

impl Line {
    /// An empty line.
    pub const fn new() -> Self {
        Self {
            bytes: [0; 256],
            length: 0,
        }
    }

    /// What was written.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = self.bytes.get_mut(self.length..).unwrap_or_default();
        for (place, byte) in rest.iter_mut().zip(text.as_bytes()) {
            *place = *byte;
            self.length += 1;
        }
        Ok(())
    }
}

/// Tells whoever reads the console one figure: `bench: name value`.
pub fn tell(name: &str, value: i64) {
    let mut line = Line::new();
    let _ = writeln!(line, "bench: {name} {value}");
    say(&line);
}

/// Tells which kernel this is.
pub fn tell_kernel() {
    let mut buffer = [0; 128];
    let release = read_file(c"/proc/sys/kernel/osrelease", &mut buffer);
    let mut line = Line::new();
    let release = core::str::from_utf8(release).unwrap_or("?\n");
    let _ = write!(line, "bench: kernel {release}");
    say(&line);
}

fn say(line: &Line) {
    let console = kernel::open(c"/dev/console", O_RDWR);
    kernel::write(console, line.as_bytes());
    kernel::close(console);
}

/// Reads a whole small file.
pub fn read_file<'b>(path: &CStr, buffer: &'b mut [u8]) -> &'b [u8] {
    let fd = kernel::open(path, O_RDONLY);
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..)
        && let Ok(count @ 1..) = usize::try_from(kernel::read(fd, rest))
    {
        length += count;
    }
    kernel::close(fd);
    buffer.get(..length).unwrap_or_default()
}

/// The number at the beginning of a text, after blanks.
pub fn number(text: &[u8]) -> i64 {
    text.iter()
        .skip_while(|byte| byte.is_ascii_whitespace())
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
}

/// The text behind the first occurrence of a word.
pub fn behind<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let at = text.windows(word.len()).position(|window| window == word)?;
    text.get(at + word.len()..)
}
