//! Memory from the kernel: shared with forked children, or given back after use.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{Result, reason};
use crate::base::errno::Errno;

/// Zeroed memory of this process alone, given back when it is dropped.
pub struct Scratch {
    start: NonNull<u8>,
    length: usize,
}

impl Scratch {
    /// `length` bytes of zeros, of which only those that are touched cost
    /// anything.
    ///
    /// # Errors
    ///
    /// When the kernel has no room.
    pub fn new(length: usize) -> Result<Self> {
        let start = map(length, MapFlags::PRIVATE)?;
        Ok(Self { start, length })
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping has `length` bytes, is this value's alone, and
        // lives as long as it does.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// The bytes as values of another type, as many as fit.
    pub fn slice_of<T: Plain>(&mut self) -> &mut [T] {
        let count = self.length / size_of::<T>();
        // SAFETY: a page is aligned for every `Plain` type, for which zeros and
        // any other bytes are values; the length was rounded down.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), count) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and every borrow of it has ended.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Values one behind the other, of which only those that are there cost anything.
pub struct List<T> {
    memory: Scratch,
    length: usize,
    values: PhantomData<T>,
}

impl<T: Copy> List<T> {
    /// An empty list with room for `most`.
    ///
    /// # Errors
    ///
    /// When the kernel has no room.
    pub fn new(most: usize) -> Result<Self> {
        const { assert!(align_of::<T>() <= 4096, "a mapping begins with a page") };
        let bytes = most.checked_mul(size_of::<T>()).ok_or(Errno::ENOMEM)?;
        Ok(Self {
            // There is no mapping of nothing.
            memory: Scratch::new(bytes.max(1))?,
            length: 0,
            values: PhantomData,
        })
    }

    /// Appends a value; one for which there is no room is left out.
    pub fn push(&mut self, value: T) {
        let end = self.length.saturating_add(1).saturating_mul(size_of::<T>());
        if end <= self.memory.length {
            // SAFETY: the mapping goes on to the end of this value.
            let place = unsafe { self.start().add(self.length) };
            // SAFETY: as above; it is aligned, and this list's alone.
            unsafe { place.write(value) };
            self.length += 1;
        }
    }

    /// Leaves out what `keeps` does not want.
    pub fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        let mut length = 0;
        for index in 0..self.length {
            let values = self.values_mut();
            let value = values[index];
            if keeps(&value) {
                values[length] = value;
                length += 1;
            }
        }
        self.length = length;
    }

    /// The values, to be put into another order.
    pub fn values_mut(&mut self) -> &mut [T] {
        // SAFETY: so many were written, of a type that needs no drop; the list is
        // borrowed as long as they are.
        unsafe { core::slice::from_raw_parts_mut(self.start(), self.length) }
    }

    /// The values.
    pub fn values(&self) -> &[T] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts(self.start(), self.length) }
    }

    const fn start(&self) -> *mut T {
        self.memory.start.as_ptr().cast()
    }
}

/// A C string of these parts, for the life of the process.
///
/// # Errors
///
/// When the kernel has no room.
pub fn kept(parts: &[&[u8]]) -> Result<&'static CStr> {
    let length = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut memory = Scratch::new(length + 1)?;
    let mut place = memory.bytes();
    for part in parts {
        let (head, rest) = place.split_at_mut(part.len());
        head.copy_from_slice(part);
        place = rest;
    }
    // SAFETY: the mapping has as many bytes, is never undone (it is forgotten), and
    // nobody writes it any more.
    let text = unsafe { core::slice::from_raw_parts(memory.start.as_ptr(), length + 1) };
    core::mem::forget(memory);
    CStr::from_bytes_until_nul(text).map_err(|_| Errno::EINVAL)
}

/// A value that borrows from memory which it brings along. The value itself is in
/// that memory too: moving a `Held` moves two words.
pub struct Held<F: Family> {
    /// Where the memory begins and the value is. Its lifetime is really that of
    /// the memory; nobody gets to see this one.
    value: NonNull<F::Of<'static>>,
    /// Kept for the value's sake.
    _memory: Scratch,
}

/// A type with a lifetime, named without it.
pub trait Family {
    /// The type for one lifetime.
    type Of<'a>;

    /// The same value for a shorter time: its body is `value`, which compiles
    /// only for a type whose lifetime can be shortened.
    fn shorten<'s, 'l: 's>(value: &'s Self::Of<'l>) -> &'s Self::Of<'s>;
}

impl<F: Family> Held<F> {
    /// The value that `build` makes in `length` bytes of memory, if it makes one.
    ///
    /// # Errors
    ///
    /// When the kernel has no room.
    pub fn new(
        length: usize,
        build: impl for<'a> FnOnce(&'a mut [u8]) -> Option<F::Of<'a>>,
    ) -> Result<Option<Self>> {
        // Behind the value, at its start: a mapping is aligned for anything.
        const { assert!(align_of::<F::Of<'static>>() <= 4096) };
        let own = size_of::<F::Of<'static>>();
        let memory = Scratch::new(own.saturating_add(length))?;
        // SAFETY: that many bytes are in the mapping.
        let rest = unsafe { memory.start.add(own) };
        // SAFETY: the mapping stays where it is when `Scratch` moves, lives until
        // the value is dropped, and nothing else writes these bytes.
        let bytes = unsafe { core::slice::from_raw_parts_mut(rest.as_ptr(), length) };
        let Some(value) = build(bytes) else {
            return Ok(None);
        };
        let place = memory.start.cast::<F::Of<'static>>();
        // SAFETY: the mapping begins with room for one, aligned, and nothing else
        // is there.
        unsafe { place.write(value) };
        Ok(Some(Self {
            value: place,
            _memory: memory,
        }))
    }

    /// The value.
    pub fn value(&self) -> &F::Of<'_> {
        // SAFETY: `new` wrote it, and it lives as long as `self`.
        F::shorten(unsafe { self.value.as_ref() })
    }
}

impl<F: Family> Drop for Held<F> {
    fn drop(&mut self) {
        // SAFETY: `new` wrote it, nobody borrows it any more, and its memory is
        // given back only after this.
        unsafe { self.value.drop_in_place() };
    }
}

/// Types for which every pattern of bytes is a value.
///
/// # Safety
///
/// That must be true of the type.
pub unsafe trait Plain: Copy {}

// SAFETY: of an address, any bytes are one, wherever it leads.
unsafe impl Plain for *const u8 {}

/// A zeroed value that this process and the children it forks see together; it
/// stays for the life of the process.
///
/// # Errors
///
/// When the kernel has no room.
pub fn shared<T: Zeroed>() -> Result<&'static T> {
    let start = map(size_of::<T>(), MapFlags::SHARED)?;
    // SAFETY: zeros are a value of `T`, a page is aligned for it, and the mapping
    // is never undone.
    Ok(unsafe { start.cast::<T>().as_ref() })
}

/// A piece of memory that a forked child writes and its parent reads after the
/// child's end.
pub struct Paper {
    length: AtomicU32,
    bytes: [AtomicU8; PAPER_BYTES],
}

/// Bytes that a [`Paper`] has room for.
pub const PAPER_BYTES: usize = 4096;

// SAFETY: of integers, zeros are a value.
unsafe impl Zeroed for Paper {}

impl Paper {
    /// Writes in place of what is there; what does not fit is left out.
    pub fn write(&self, bytes: &[u8]) {
        for (place, byte) in self.bytes.iter().zip(bytes) {
            place.store(*byte, Ordering::Relaxed);
        }
        let length = u32::try_from(bytes.len().min(PAPER_BYTES)).unwrap_or(0);
        self.length.store(length, Ordering::Release);
    }

    /// What is there, as much as fits.
    pub fn read<'b>(&self, buffer: &'b mut [u8]) -> &'b [u8] {
        let length = self.length.load(Ordering::Acquire) as usize;
        let length = length.min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(&self.bytes) {
            *place = byte.load(Ordering::Relaxed);
        }
        &buffer[..length]
    }
}

/// Gives back the pages of the stack that deeper calls have left behind, up to
/// `bytes` below this one: the boot needs more stack than the years after it.
///
/// Never inlined: `here` must lie below all that the caller has on its stack. In
/// the caller's own frame it may lie above what is still in use.
#[inline(never)]
pub fn give_back_stack(bytes: usize) {
    /// What this call and the kernel's own use of it may still need, in bytes.
    const KEPT: usize = 4096;
    let here = 0_u8;
    let page = !4095;
    let end = ((&raw const here).addr() - KEPT) & page;
    let start = end.saturating_sub(bytes) & page;
    let advice = linux_raw_sys::general::MADV_DONTNEED as usize;
    let words = [start, end - start, advice, 0, 0, 0];
    // SAFETY: below the frame of the deepest call that is under way, nothing on
    // the stack is alive (the red zone is within what is kept). What of the range
    // was never stack is not mapped, and the kernel skips it.
    let _ = unsafe { super::call::check(linux_raw_sys::general::__NR_madvise, words) };
}

/// Types of which all zeros are a value, and that many may read and write at
/// one time.
///
/// # Safety
///
/// That must be true of the type.
pub unsafe trait Zeroed: Sync {}

fn map(length: usize, flags: MapFlags) -> Result<NonNull<u8>> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing
    // that is there.
    let start = unsafe { mmap_anonymous(core::ptr::null_mut(), length, protection, flags) }
        .map_err(reason)?;
    Ok(NonNull::new(start.cast()).unwrap_or(NonNull::dangling()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_zeroed_and_as_long_as_asked() {
        let mut scratch = Scratch::new(10_000).unwrap();

        assert_eq!(scratch.bytes().len(), 10_000);
        assert!(scratch.bytes().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_list_has_what_it_was_given_and_has_room_for() {
        let mut list = List::new(1_000).unwrap();
        assert_eq!(list.values(), [""; 0]);

        // A page is the least that there is.
        for word in ["a", "b", "c"].into_iter().cycle().take(1_100) {
            list.push(word);
        }
        list.values_mut().sort_unstable();
        list.retain(|word| *word != "b");

        assert!(list.values().len() < 1_000, "{}", list.values().len());
        assert!(list.values().is_sorted());
        assert!(list.values().contains(&"a") && list.values().contains(&"c"));
        assert!(!list.values().contains(&"b"));
    }

    #[test]
    fn a_list_may_have_no_room() {
        let mut list = List::new(0).unwrap();

        list.push([0_u64; 1_000]);

        assert!(list.values().is_empty());
    }
}
