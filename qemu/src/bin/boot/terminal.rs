//! The terminal, without its own editing while the guest has it.
//!
//! It is given back on every way out: by drop, and by a hook before a panic,
//! since a panic may abort. Signals that end a program are waited for by a
//! thread, so that they lead to an orderly end and to the drop.

use std::io::{Error, Result};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// How the terminal was before us.
static BEFORE: OnceLock<libc::termios> = OnceLock::new();

/// The signals that ask a program to end.
const ENDING: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// A terminal that hands on every key at once. Given back on drop.
#[derive(Debug)]
pub(crate) struct Raw(());

impl Raw {
    /// Takes the terminal on standard input.
    pub(crate) fn take() -> Result<Self> {
        let mut settings = MaybeUninit::<libc::termios>::uninit();
        // SAFETY: the pointer is to room for one termios.
        if unsafe { libc::tcgetattr(libc::STDIN_FILENO, settings.as_mut_ptr()) } != 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: tcgetattr(3) has filled it in.
        let before = unsafe { settings.assume_init() };
        BEFORE.get_or_init(|| before);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            hook(panic);
        }));

        let mut raw = before;
        // SAFETY: the pointer is to one whole termios.
        unsafe { libc::cfmakeraw(&raw mut raw) };
        // What we say ourselves still begins at the left edge.
        raw.c_oflag |= libc::OPOST;
        set(&raw)?;
        Ok(Self(()))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        give_back();
    }
}

/// Blocks the signals that end a program, in this thread and those to come.
pub(crate) fn block_signals() {
    let set = ending();
    // SAFETY: the set is whole, and the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Waits for one of the signals, which must be blocked; says its number.
pub(crate) fn wait_signal() -> i32 {
    let set = ending();
    let mut signal = 0;
    // SAFETY: both pointers are to whole values of the right type.
    unsafe { libc::sigwait(&raw const set, &raw mut signal) };
    signal
}

fn ending() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the pointer is to room for one set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in ENDING {
        // SAFETY: sigemptyset(3) has filled it in.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: as before.
    unsafe { set.assume_init() }
}

fn give_back() {
    if let Some(before) = BEFORE.get() {
        // A terminal that is gone needs nothing.
        let _ = set(before);
    }
}

fn set(settings: &libc::termios) -> Result<()> {
    // SAFETY: the pointer is to one whole termios.
    match unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, settings) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
