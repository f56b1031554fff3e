//! What the kernel gave the program: its arguments and its environment.

use core::ffi::CStr;
use core::ffi::c_char;

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
}

fn strings(pointers: &'static [*const c_char]) -> impl Iterator<Item = &'static CStr> + Clone {
    pointers
        .iter()
        .filter(|pointer| !pointer.is_null())
        // SAFETY: each is a C string of the kernel's making, which stays.
        .map(|pointer| unsafe { CStr::from_ptr(*pointer) })
}
