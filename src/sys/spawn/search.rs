//! Becomes a program that is called by its name, as `execvp(3)` does.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::limits;
use crate::sys::call::execve;
use crate::sys::memory::Scratch;

/// What runs a program file that the kernel does not take for one.
const SHELL: &CStr = c"/bin/sh";

/// Becomes the program that the first word names: a path when there is a slash in
/// it, else the first of the directories that has it. A file that the kernel can't
/// run is a script for `/bin/sh`. Returns when nothing could be run.
///
/// # Safety
///
/// `words` and `environment` are arrays of C strings with a null pointer behind the
/// last, the first of at least one word. `path` is a C string.
pub(super) unsafe fn exec(
    words: *const *const u8,
    path: *const u8,
    environment: *const *const u8,
) -> Errno {
    // SAFETY: the caller says that there is a word.
    let name = unsafe { words.read() };
    // SAFETY: each is a C string.
    let name = unsafe { CStr::from_ptr(name.cast()) };
    // SAFETY: the caller answers for the path.
    let path = unsafe { CStr::from_ptr(path.cast()) };
    if name.is_empty() {
        return Errno::ENOENT;
    }
    if name.to_bytes().contains(&b'/') {
        // SAFETY: the caller answers for the arrays.
        return unsafe { exec_file(name, words, environment) };
    }
    // SAFETY: the caller answers for the arrays.
    unsafe { exec_found(name, path, words, environment) }
}

/// Apart, so that only a child that looks has room for a path on its stack.
///
/// # Safety
///
/// As [`exec`].
#[inline(never)]
unsafe fn exec_found(
    name: &CStr,
    path: &CStr,
    words: *const *const u8,
    environment: *const *const u8,
) -> Errno {
    let mut was_refused = false;
    let mut last = Errno::ENOENT;
    let mut place = [0; limits::PATH_BYTES];
    for directory in path.to_bytes().split(|byte| *byte == b':') {
        let Some(file) = join(directory, name, &mut place) else {
            continue;
        };
        // SAFETY: the caller answers for the arrays.
        match unsafe { exec_file(file, words, environment) } {
            // There may be a better one further on.
            Errno::EACCES => was_refused = true,
            errno @ (Errno::ENOENT
            | Errno::ENOTDIR
            | Errno::ENODEV
            | Errno::ESTALE
            | Errno::ETIMEDOUT) => last = errno,
            errno => return errno,
        }
    }
    if was_refused { Errno::EACCES } else { last }
}

/// The name in a directory; an empty one is where the child is.
fn join<'b>(directory: &[u8], name: &CStr, place: &'b mut [u8]) -> Option<&'b CStr> {
    let slash: &[u8] = if directory.is_empty() { b"" } else { b"/" };
    let mut rest = &mut *place;
    for part in [directory, slash, name.to_bytes_with_nul()] {
        let (head, tail) = rest.split_at_mut_checked(part.len())?;
        head.copy_from_slice(part);
        rest = tail;
    }
    CStr::from_bytes_until_nul(place).ok()
}

/// # Safety
///
/// As [`exec`].
unsafe fn exec_file(file: &CStr, words: *const *const u8, environment: *const *const u8) -> Errno {
    // SAFETY: the caller answers for the arrays.
    let errno = unsafe { execve(file, words, environment) };
    if errno != Errno::ENOEXEC {
        return errno;
    }
    // SAFETY: as above.
    unsafe { exec_script(file, words, environment) }
}

/// Runs a file as a script. Its words are in memory that this process alone knows of,
/// though it may share it.
///
/// # Safety
///
/// As [`exec`].
#[cold]
#[inline(never)]
unsafe fn exec_script(
    file: &CStr,
    words: *const *const u8,
    environment: *const *const u8,
) -> Errno {
    let mut count = 0;
    loop {
        // SAFETY: a null pointer ends the array.
        let place = unsafe { words.add(count) };
        // SAFETY: as above.
        if unsafe { place.read() }.is_null() {
            break;
        }
        count += 1;
    }
    // SAFETY: `count` pointers were just read, and nobody writes them.
    let words = unsafe { core::slice::from_raw_parts(words, count) };
    // The shell and the file in place of the first, and a null pointer behind all.
    let mut memory = match Scratch::new((count + 2) * size_of::<*const u8>()) {
        Ok(memory) => memory,
        Err(errno) => return errno,
    };
    let script = memory.slice_of::<*const u8>();
    let begin = [SHELL.as_ptr().cast(), file.as_ptr().cast()];
    let arguments = words.iter().skip(1).copied();
    for (place, word) in script.iter_mut().zip(begin.into_iter().chain(arguments)) {
        *place = word;
    }
    // SAFETY: the memory was zeros, and has room for one more than was written.
    unsafe { execve(SHELL, script.as_ptr(), environment) }
}
