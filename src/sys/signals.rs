//! Signals to this process: blocked, read from a descriptor, reset.

use core::time::Duration;

use linux_raw_sys::general as raw;
use rustix::fd::{FromRawFd, OwnedFd};

use static_assertions::const_assert_eq;

use super::call::{self, ALL_SIGNALS, SIGNAL_SET_BYTES, check};
use super::poll::timespec;
use super::{Result, reason};
use crate::base::errno::Errno;
use crate::base::signal::Signal;

/// Stops this process as a key on the terminal does: not when nobody could
/// continue it (its process group is orphaned). Returns when it goes on.
pub fn stop_as_by_key() {
    super::kill::own(Signal::TSTP);
    let bit = 1 << (Signal::TSTP.number() - 1);
    let _ = set_mask(ALL_SIGNALS & !bit);
    let _ = set_mask(ALL_SIGNALS);
}

/// What becomes of the children that this process does not ask about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Children {
    /// They stay until they are waited for, and `CHLD` says that one ended.
    Stay,
    /// The kernel releases each at once (`SA_NOCLDWAIT`), and nothing is said.
    Vanish,
}

/// Blocks every signal: from here on they are read, never delivered. The mask that
/// there was, bit n - 1 for signal n.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn block_all() -> Result<u64> {
    call::swap_signal_mask(ALL_SIGNALS)
}

/// Blocks these signals and no others.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn set_mask(mask: u64) -> Result<()> {
    call::set_signal_mask(mask)
}

/// Sets every signal that was inherited as ignored to its default, since a
/// program keeps ignoring what its parent ignored.
pub fn reset_dispositions() {
    for number in 1..=64 {
        // KILL and STOP refuse, which is as good.
        let _ = set_action(number, 0);
    }
}

/// Says what becomes of children that end; whether this process was told to ignore
/// their ends before.
///
/// # Errors
///
/// Never on Linux as it is.
pub fn set_children(children: Children) -> Result<bool> {
    let flags = match children {
        Children::Stay => 0,
        Children::Vanish => raw::SA_NOCLDWAIT,
    };
    let before = swap_action(Signal::CHLD.number(), 0, flags)?;
    Ok(before == IGNORE)
}

/// Ignores the ends of children, as this process may have been told to.
pub(super) fn ignore_children() -> Result<()> {
    swap_action(Signal::CHLD.number(), IGNORE, 0).map(drop)
}

/// `SIG_IGN`.
const IGNORE: usize = 1;

/// `rt_sigaction(2)`: the default action for a signal, with these flags.
pub(super) fn set_action(number: u8, flags: u32) -> Result<()> {
    swap_action(number, 0, flags).map(drop)
}

/// `rt_sigaction(2)`: a handler that is a number, the default or [`IGNORE`]; the
/// handler before.
fn swap_action(number: u8, handler: usize, flags: u32) -> Result<usize> {
    /// `struct kernel_sigaction`, whose handler may be a number.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Action {
        handler: usize,
        flags: u64,
        restorer: usize,
        mask: u64,
    }
    const_assert_eq!(size_of::<Action>(), size_of::<raw::kernel_sigaction>());
    let action = Action {
        handler,
        flags: u64::from(flags),
        restorer: 0,
        mask: 0,
    };
    let mut before = action;
    let words = [
        usize::from(number),
        (&raw const action).addr(),
        (&raw mut before).addr(),
        SIGNAL_SET_BYTES,
        0,
        0,
    ];
    // SAFETY: the kernel reads one sigaction and writes one.
    unsafe { check(raw::__NR_rt_sigaction, words) }?;
    Ok(before.handler)
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
    /// Whether the kernel sent it by itself, as it does for a key on the terminal.
    pub is_kernels: bool,
}

/// `SI_KERNEL` of `sigaction(2)`.
const SI_KERNEL: i32 = 0x80;

impl Received {
    fn new(number: u32, code: i32, sender: u32) -> Option<Self> {
        Some(Self {
            signal: Signal::from_number(u8::try_from(number).ok()?)?,
            sender,
            is_kernels: code == SI_KERNEL,
        })
    }
}

/// Waits for a signal, for ever without a timeout; none when the time is over.
/// Every signal must be blocked.
pub fn wait(timeout: Option<Duration>) -> Option<Received> {
    wait_for(ALL_SIGNALS, timeout)
}

/// Takes back a signal that this process's own doing has just sent it. The kernel sends
/// that to the thread, and keeps it apart from what others send to the process: it is
/// the first that is taken.
pub(super) fn take_own(signal: Signal) {
    let _ = wait_for(1 << (signal.number() - 1), Some(Duration::ZERO));
}

fn wait_for(set: u64, timeout: Option<Duration>) -> Option<Received> {
    /// The first four numbers of `siginfo_t`, and the rest.
    #[repr(C, align(8))]
    struct Info {
        number: u32,
        errno: i32,
        code: i32,
        padding: u32,
        sender: u32,
        rest: [u8; 108],
    }
    const_assert_eq!(size_of::<Info>(), 128);
    let time = timeout.map(timespec);
    let mut info = Info {
        number: 0,
        errno: 0,
        code: 0,
        padding: 0,
        sender: 0,
        rest: [0; 108],
    };
    let words = [
        (&raw const set).addr(),
        (&raw mut info).addr(),
        time.as_ref()
            .map_or(0, |time| core::ptr::from_ref(time).addr()),
        SIGNAL_SET_BYTES,
        0,
        0,
    ];
    // SAFETY: the kernel reads a set and a time, and writes one siginfo.
    unsafe { check(raw::__NR_rt_sigtimedwait, words) }.ok()?;
    Received::new(info.number, info.code, info.sender)
}

/// Bytes of `struct signalfd_siginfo`.
const RECORD_BYTES: usize = 128;

/// How many signals are read in one call.
pub const RECORDS: usize = 4;

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
        let [number, _, code, sender] = [0, 4, 8, 12].map(|at| {
            u32::from_ne_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        });
        if let Some(received) = Received::new(number, code.cast_signed(), sender) {
            each(received);
        }
    }
    Ok(length == buffer.len())
}
