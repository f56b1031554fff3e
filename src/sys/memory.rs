//! Memory from the kernel: what a forked child shares, and scratch space that is
//! given back.

use core::marker::PhantomData;
use core::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{Result, reason};

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

    /// The bytes for as long as the process lives; never given back.
    pub fn leak(self) -> &'static mut [u8] {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: as in `bytes`, and nobody unmaps it any more.
        unsafe { core::slice::from_raw_parts_mut(this.start.as_ptr(), this.length) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and every borrow of it has ended.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Types for which every pattern of bytes is a value.
///
/// # Safety
///
/// That must be true of the type.
pub unsafe trait Plain: Copy {}

/// A zeroed value that this process and the children it forks see together.
pub struct Shared<T: Sync> {
    value: NonNull<T>,
    owns: PhantomData<T>,
}

impl<T: Sync + Zeroed> Shared<T> {
    /// A value of zeros, which stays for the life of the process.
    ///
    /// # Errors
    ///
    /// When the kernel has no room.
    pub fn new() -> Result<&'static T> {
        let start = map(size_of::<T>(), MapFlags::SHARED)?;
        let shared = Self {
            value: start.cast(),
            owns: PhantomData,
        };
        // SAFETY: zeros are a value of `T`, a page is aligned for it, and the
        // mapping is never undone.
        Ok(unsafe { shared.value.as_ref() })
    }
}

/// Types of which all zeros are a value.
///
/// # Safety
///
/// That must be true of the type.
pub unsafe trait Zeroed {}

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
}
