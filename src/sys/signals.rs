//! Signals to this process: blocked, read from a descriptor, reset.

use linux_raw_sys::general as raw;
use rustix::fd::{FromRawFd, OwnedFd};

use super::call::{self, ALL_SIGNALS, SIGNAL_SET_BYTES, check};
use super::{Result, reason};
use crate::base::errno::Errno;
use crate::base::signal::Signal;

/// What becomes of the children that this process does not ask about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Children {
    /// They stay until they are waited for, and `CHLD` says that one ended.
    Stay,
    /// The kernel releases each at once (`SA_NOCLDWAIT`), and nothing is said.
    Vanish,
}

/// Blocks every signal: from here on they are read, never delivered.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn block_all() -> Result<()> {
    call::set_signal_mask(ALL_SIGNALS)
}

/// Sets every signal that was inherited as ignored to its default, since a
/// program keeps ignoring what its parent ignored.
pub fn reset_dispositions() {
    for number in 1..=64 {
        // KILL and STOP refuse, which is as good.
        let _ = set_action(number, 0);
    }
}

/// Says what becomes of children that end.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn set_children(children: Children) -> Result<()> {
    let flags = match children {
        Children::Stay => 0,
        Children::Vanish => raw::SA_NOCLDWAIT,
    };
    set_action(Signal::CHLD.number(), flags)
}

/// `rt_sigaction(2)`: the default action for a signal, with these flags.
fn set_action(number: u8, flags: u32) -> Result<()> {
    let action = raw::kernel_sigaction {
        sa_handler_kernel: None,
        sa_flags: u64::from(flags),
        sa_restorer: None,
        sa_mask: raw::kernel_sigset_t { sig: [0] },
    };
    let words = [
        usize::from(number),
        (&raw const action).addr(),
        0,
        SIGNAL_SET_BYTES,
        0,
        0,
    ];
    // SAFETY: the kernel reads one sigaction, which `action` is.
    unsafe { check(raw::__NR_rt_sigaction, words) }.map(drop)
}

/// A descriptor from which blocked signals are read (`signalfd(2)`): all of
/// them, less `CHLD` when children vanish.
///
/// # Errors
///
/// When descriptors or memory have run out.
pub fn open(children: Children) -> Result<OwnedFd> {
    let set = match children {
        Children::Stay => ALL_SIGNALS,
        Children::Vanish => ALL_SIGNALS & !(1 << (Signal::CHLD.number() - 1)),
    };
    let words = [
        usize::MAX,
        (&raw const set).addr(),
        SIGNAL_SET_BYTES,
        (raw::O_CLOEXEC | raw::O_NONBLOCK) as usize,
        0,
        0,
    ];
    // SAFETY: the kernel reads eight bytes of `set`.
    let fd = unsafe { check(raw::__NR_signalfd4, words) }?;
    let fd = i32::try_from(fd).map_err(|_| Errno::EBADF)?;
    // SAFETY: the kernel just made it, and gave it to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A signal that was sent, and by whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// The signal.
    pub signal: Signal,
    /// The sender's pid in this process's namespace; 0 for the kernel or a
    /// process outside.
    pub sender: u32,
}

/// Bytes of `struct signalfd_siginfo`.
const RECORD_BYTES: usize = 128;

/// How many signals are read in one call.
const RECORDS: usize = 4;

/// Reads pending signals and hands each to `each`; whether there may be more.
/// Never blocks.
///
/// # Errors
///
/// When the descriptor is not a signalfd.
pub fn read(fd: &OwnedFd, mut each: impl FnMut(Received)) -> Result<bool> {
    let mut buffer = [0_u8; RECORD_BYTES * RECORDS];
    let length = match rustix::io::read(fd, &mut buffer) {
        Ok(length) => length,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(false),
        Err(errno) => return Err(reason(errno)),
    };
    let (records, _) = buffer.as_chunks::<RECORD_BYTES>();
    for record in records.iter().take(length / RECORD_BYTES) {
        let number = u32::from_ne_bytes([record[0], record[1], record[2], record[3]]);
        let sender = u32::from_ne_bytes([record[12], record[13], record[14], record[15]]);
        if let Some(signal) = u8::try_from(number).ok().and_then(Signal::from_number) {
            each(Received { signal, sender });
        }
    }
    Ok(length == buffer.len())
}
