//! Faults of this process itself, caught on a stack of their own.

use core::cell::UnsafeCell;

use linux_raw_sys::general as raw;

use super::Result;
use super::call::{ALL_SIGNALS, SIGNAL_SET_BYTES, check};
use crate::base::signal::Signal;

/// The faults that a program can commit.
const FAULTS: [Signal; 5] = [
    Signal::SEGV,
    Signal::BUS,
    Signal::ILL,
    Signal::FPE,
    Signal::TRAP,
];

/// The handler's stack. 16 KiB hold the kernel's frame with every vector
/// register of today and the emergency ending.
const STACK_BYTES: usize = 16 * 1024;

#[repr(align(16))]
struct Stack(UnsafeCell<[u8; STACK_BYTES]>);

// SAFETY: only the kernel writes it, and only for the one thread there is.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; STACK_BYTES]));

/// Calls `handler` when this process commits a fault, on a stack of its own,
/// with every signal blocked. The kernel would end PID 1, and panic.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn catch(handler: extern "C" fn(number: i32) -> !) -> Result<()> {
    let stack = raw::sigaltstack {
        ss_sp: STACK.0.get().cast(),
        ss_flags: 0,
        ss_size: STACK_BYTES as _,
    };
    let words = [(&raw const stack).addr(), 0, 0, 0, 0, 0];
    // SAFETY: the stack is static, and nothing else uses it.
    unsafe { check(raw::__NR_sigaltstack, words) }?;
    for signal in FAULTS {
        set_handler(signal, handler)?;
    }
    Ok(())
}

fn set_handler(signal: Signal, handler: extern "C" fn(i32) -> !) -> Result<()> {
    let address = handler as usize;
    let action = raw::kernel_sigaction {
        // SAFETY: a handler is called with the signal's number and never
        // returns, so a type that could return is as good.
        sa_handler_kernel: unsafe {
            core::mem::transmute::<usize, raw::__kernel_sighandler_t>(address)
        },
        sa_flags: u64::from(raw::SA_ONSTACK | raw::SA_RESTORER | raw::SA_NODEFER),
        // x86-64 refuses a handler without one; it is never reached.
        // SAFETY: as above.
        sa_restorer: unsafe { core::mem::transmute::<usize, raw::__sigrestore_t>(address) },
        sa_mask: raw::kernel_sigset_t { sig: [ALL_SIGNALS] },
    };
    let words = [
        usize::from(signal.number()),
        (&raw const action).addr(),
        0,
        SIGNAL_SET_BYTES,
        0,
        0,
    ];
    // SAFETY: the kernel reads one sigaction, which `action` is.
    unsafe { check(raw::__NR_rt_sigaction, words) }.map(drop)
}
