//! The functions that the compiler calls by name, which a C library would have.
//!
//! They are here and not in the library, where they would replace those of every
//! test. The compiler knows a loop over bytes for what it is and would call the
//! function that the loop is in: so moves are single instructions or assembly
//! (`sys::arch`), and comparisons read through volatile pointers.
//!
//! # Safety
//!
//! Each is called as the C function of its name (`string(3)`).

use host_init::sys::arch;

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(target: *mut u8, source: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller hands over two places of `count` bytes.
    unsafe { arch::copy_forward(target, source, count) };
    target
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(target: *mut u8, source: *const u8, count: usize) -> *mut u8 {
    if target.addr().wrapping_sub(source.addr()) >= count {
        // SAFETY: as memcpy; the target does not begin inside the source.
        unsafe { arch::copy_forward(target, source, count) };
    } else {
        // SAFETY: as memcpy; the source does not begin inside the target.
        unsafe { arch::copy_backward(target, source, count) };
    }
    target
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(target: *mut u8, byte: i32, count: usize) -> *mut u8 {
    let [byte, ..] = byte.to_le_bytes();
    // SAFETY: the caller hands over a place of `count` bytes.
    unsafe { arch::fill(target, byte, count) };
    target
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for index in 0..count {
        let (left, right) = (left.wrapping_add(index), right.wrapping_add(index));
        // SAFETY: the caller hands over two places of `count` bytes.
        let left = unsafe { left.read_volatile() };
        // SAFETY: as above.
        let right = unsafe { right.read_volatile() };
        if left != right {
            return i32::from(left) - i32::from(right);
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: bcmp asks less than memcmp gives.
    unsafe { memcmp(left, right, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    loop {
        let byte = text.wrapping_add(length);
        // SAFETY: the caller hands over a string that ends with 0, and no byte
        // before was one.
        if unsafe { byte.read_volatile() } == 0 {
            return length;
        }
        length += 1;
    }
}

/// Builds without link-time optimization name these two, and call neither: a
/// panic ends the program where it is.
#[cfg(debug_assertions)]
mod unwinding {
    #[unsafe(no_mangle)]
    extern "C" fn rust_eh_personality() {}

    #[unsafe(no_mangle)]
    extern "C" fn _Unwind_Resume() -> ! {
        loop {
            core::hint::spin_loop();
        }
    }
}
