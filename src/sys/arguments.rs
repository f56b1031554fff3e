//! What the kernel gave the program, its arguments and its environment, and what
//! another program is to be given of them.

use core::ffi::{CStr, c_char};

use super::Result;
use super::memory::Scratch;
use super::spawn::OwnPid;

/// The words of the kernel's initial stack. Lives as long as the process.
#[derive(Clone, Copy)]
pub struct Arguments {
    words: &'static [*const c_char],
    environment: &'static [*const c_char],
}

impl Arguments {
    /// Reads the initial stack: `argc`, `argv`, 0, `envp`, 0.
    ///
    /// # Safety
    ///
    /// `stack` is the stack pointer at the program's first instruction.
    pub unsafe fn new(stack: *const usize) -> Self {
        // SAFETY: the kernel puts the count there (`execve(2)`).
        let count = unsafe { stack.read() };
        // SAFETY: the pointers follow the count.
        let first = unsafe { stack.add(1) }.cast::<*const c_char>();
        // SAFETY: `count` pointers follow, which nobody writes.
        let words = unsafe { core::slice::from_raw_parts(first, count) };
        // SAFETY: a null pointer ends them, and the environment follows it.
        let start = unsafe { first.add(count.saturating_add(1)) };
        let mut length = 0;
        loop {
            // SAFETY: the environment goes on until its null pointer.
            let entry = unsafe { start.add(length) };
            // SAFETY: as above, so this entry can be read.
            if unsafe { entry.read() }.is_null() {
                break;
            }
            length += 1;
        }
        // SAFETY: `length` pointers were just read.
        let environment = unsafe { core::slice::from_raw_parts(start, length) };
        Self { words, environment }
    }

    /// The arguments; the first is the program's own name, if it was given one.
    pub fn words(self) -> impl Iterator<Item = &'static CStr> + Clone {
        strings(self.words)
    }

    /// The value of a variable of the environment; none when it is empty.
    pub fn variable(self, name: &str) -> Option<&'static [u8]> {
        let value = self.environment().find_map(|entry| {
            let rest = entry.to_bytes().strip_prefix(name.as_bytes())?;
            rest.strip_prefix(b"=")
        });
        value.filter(|value| !value.is_empty())
    }

    /// The environment, each entry `NAME=value`.
    pub fn environment(self) -> impl Iterator<Item = &'static CStr> + Clone {
        strings(self.environment)
    }

    /// The entries of the environment that begin so, which is without a NUL. Little is
    /// read of the others: a container may be given thousands of bytes.
    pub fn entries_with(self, start: &'static [u8]) -> impl Iterator<Item = &'static CStr> + Clone {
        let entries = self.environment.iter();
        // SAFETY: each is a C string of the kernel's making.
        let entries = entries.filter(move |entry| unsafe { begins_with(**entry, start) });
        // SAFETY: as above, and it stays.
        entries.map(|entry| unsafe { CStr::from_ptr(*entry) })
    }

    /// The words from this one on, as another program's arguments; none when there
    /// is no such word.
    pub fn rest(self, from: usize) -> Option<Rest> {
        let words = self.words.get(from..).filter(|words| !words.is_empty())?;
        Some(Rest { words })
    }

    /// The environment as another program's.
    pub fn inherited(self) -> Environment {
        Environment {
            entries: self.environment.as_ptr().cast(),
            tells_pid: false,
        }
    }
}

/// The last of this program's own arguments, which are another's.
#[derive(Clone, Copy)]
pub struct Rest {
    /// In the kernel's array: a null pointer follows them.
    words: &'static [*const c_char],
}

impl Rest {
    /// The first: what the program is called.
    pub fn name(self) -> &'static CStr {
        strings(self.words).next().unwrap_or_default()
    }

    /// The words for `execve(2)`.
    pub(super) fn pointers(self) -> *const *const u8 {
        self.words.as_ptr().cast()
    }
}

/// An environment for `execve(2)`, which stays as long as this process does.
#[derive(Clone, Copy)]
pub struct Environment {
    entries: *const *const u8,
    /// Whether an entry is to have the program's own pid.
    tells_pid: bool,
}

/// An entry that a program is given.
#[derive(Clone, Copy)]
pub enum Given {
    /// These bytes, `NAME=value`.
    Text(&'static CStr),
    /// A variable with the program's own pid.
    OwnPid(OwnPid),
}

impl Environment {
    /// An environment of these entries, of which there are at most `most`.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory for it.
    pub fn new(most: usize, entries: impl Iterator<Item = Given>) -> Result<Self> {
        let mut memory = Scratch::new((most + 1).saturating_mul(size_of::<*const u8>()))?;
        let places = memory.slice_of::<*const u8>();
        let mut tells_pid = false;
        // The last place keeps its null pointer.
        for (place, entry) in places.iter_mut().take(most).zip(entries) {
            *place = match entry {
                Given::Text(text) => text.as_ptr().cast(),
                Given::OwnPid(text) => {
                    tells_pid = true;
                    text.entry()
                }
            };
        }
        let entries = places.as_ptr();
        // It is for the life of the process.
        core::mem::forget(memory);
        Ok(Self { entries, tells_pid })
    }

    /// The entries for `execve(2)`.
    pub(super) const fn pointers(self) -> *const *const u8 {
        self.entries
    }

    /// Whether an entry is to have the program's own pid.
    pub(super) const fn tells_pid(self) -> bool {
        self.tells_pid
    }
}

/// Whether a string begins with these bytes, of which none is NUL.
///
/// # Safety
///
/// `string` is a C string.
unsafe fn begins_with(string: *const c_char, start: &[u8]) -> bool {
    start.iter().enumerate().all(|(at, byte)| {
        // SAFETY: the bytes before it were equal, so none was the string's NUL.
        let place = unsafe { string.add(at) };
        // SAFETY: as above, and the string goes on to its NUL.
        unsafe { place.cast::<u8>().read() == *byte }
    })
}

fn strings(pointers: &'static [*const c_char]) -> impl Iterator<Item = &'static CStr> + Clone {
    pointers
        .iter()
        .filter(|pointer| !pointer.is_null())
        // SAFETY: each is a C string of the kernel's making, which stays.
        .map(|pointer| unsafe { CStr::from_ptr(*pointer) })
}
