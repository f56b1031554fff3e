//! Faults of this process itself, caught on a stack of their own.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

use linux_raw_sys::general as raw;

use super::call::{ALL_SIGNALS, SIGNAL_SET_BYTES, check, set_signal_mask};
use super::{Result, arch, signals};
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

/// What is called after a fault, with the signal's number.
static HANDLER: AtomicUsize = AtomicUsize::new(0);

/// Calls `handler` when this process commits a fault, on a stack of its own. The
/// kernel would end PID 1 and panic. The same signals sent by somebody change
/// nothing.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn catch(handler: fn(number: i32) -> !) -> Result<()> {
    HANDLER.store(handler as usize, Ordering::Relaxed);
    let stack = raw::sigaltstack {
        ss_sp: STACK.0.get().cast(),
        ss_flags: 0,
        ss_size: STACK_BYTES as _,
    };
    let words = [(&raw const stack).addr(), 0, 0, 0, 0, 0];
    // SAFETY: the stack is static, and nothing else uses it.
    unsafe { check(raw::__NR_sigaltstack, words) }?;
    for signal in FAULTS {
        set_handler(signal)?;
    }
    unblock()
}

/// Gives the faults their default action again: for a child that shares memory
/// with the process whose handlers they are.
pub(super) fn forget() {
    for signal in FAULTS {
        // None can fail.
        let _ = signals::set_action(signal.number(), 0);
    }
}

/// Blocks all signals but those of faults: a fault whose signal is blocked is the
/// end of the process.
fn unblock() -> Result<()> {
    let faults = FAULTS
        .iter()
        .fold(0, |set, signal| set | 1 << (signal.number() - 1));
    set_signal_mask(ALL_SIGNALS & !faults)
}

fn set_handler(signal: Signal) -> Result<()> {
    let handler: unsafe extern "C" fn(i32, *const raw::siginfo_t, *const u8) = handle;
    let restorer: unsafe extern "C" fn() = arch::restore;
    let action = raw::kernel_sigaction {
        // SAFETY: with SA_SIGINFO a handler has three arguments.
        sa_handler_kernel: unsafe {
            core::mem::transmute::<
                unsafe extern "C" fn(i32, *const raw::siginfo_t, *const u8),
                raw::__kernel_sighandler_t,
            >(handler)
        },
        sa_flags: u64::from(raw::SA_SIGINFO | raw::SA_ONSTACK | raw::SA_RESTORER),
        sa_restorer: Some(restorer),
        // One at a time: all that somebody sends at once would lie on the stack
        // one upon the other, and it has not the room.
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

/// # Safety
///
/// Called by the kernel, for a signal with this information.
unsafe extern "C" fn handle(number: i32, information: *const raw::siginfo_t, _: *const u8) {
    // SAFETY: the kernel hands it over; all begin with the signal's number, an
    // errno and this code.
    let [_, _, code] = unsafe { information.cast::<[i32; 3]>().read() };
    // Not positive: sent by a process. Positive: found by the kernel.
    if code <= 0 {
        return;
    }
    // A second fault, while the first is dealt with, is dealt with as well.
    let _ = unblock();
    let handler = HANDLER.load(Ordering::Relaxed);
    // SAFETY: `catch` stored it before it installed this function.
    let handler = unsafe { core::mem::transmute::<usize, fn(i32) -> !>(handler) };
    handler(number)
}

/// Commits the fault `SEGV`, for a test of what follows.
#[cfg(feature = "inject-faults")]
pub fn commit() -> ! {
    let nowhere = core::ptr::without_provenance_mut::<u8>(8);
    loop {
        // SAFETY: none: that is the purpose. The first page is never mapped, so
        // nothing is written.
        unsafe { nowhere.write_volatile(0) };
    }
}
