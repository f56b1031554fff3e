//! The arguments of a program before its `main`.

use std::ffi::{CStr, c_char, c_int};

/// The arguments as a constructor is given them.
///
/// # Safety
///
/// There are `count` pointers, each to a C string.
pub(crate) unsafe fn of(count: c_int, words: *const *const c_char) -> Vec<String> {
    let mut arguments = Vec::new();
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the caller has so many pointers.
        let word = unsafe { words.add(index) };
        // SAFETY: as above.
        let word = unsafe { word.read() };
        // SAFETY: each is a C string.
        let word = unsafe { CStr::from_ptr(word) };
        arguments.push(word.to_string_lossy().into_owned());
    }
    arguments
}
