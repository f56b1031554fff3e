//! Work that may block, done in a forked child of PID 1.
//!
//! The child has a copy of everything, does its work, leaves one number in
//! memory that both see, and exits. PID 1 hears of its end as of any other
//! child's, and gives it up when it takes too long.

use core::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::OwnedFd;

use super::Result;
use super::call::exit_group;
use super::clone::{Child, Made, clone};

/// What a child says of its progress; seen by PID 1 at any time.
pub struct Board(AtomicU32);

// SAFETY: of an integer, zero is a value.
unsafe impl super::memory::Zeroed for Board {}

impl Board {
    /// Shows a number.
    pub fn show(&self, number: u32) {
        self.0.store(number, Ordering::Release);
    }

    /// The number that is shown.
    pub fn shown(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

/// Gives this process the name that others know it by: `/init` is many a program's.
pub fn take_name() {
    // It fails for no name that is in memory.
    let _ = rustix::thread::set_name(c"host-init");
}

/// A forked child at work.
pub struct Forked {
    /// Its pid.
    pub pid: u32,
    /// A descriptor of the process.
    pub pidfd: OwnedFd,
}

/// Forks a child that does `work` and exits with the code it gives. Returns at
/// once.
///
/// # Errors
///
/// When there is no process: the kernel's limits.
pub fn fork(mut work: impl FnMut() -> u8) -> Result<Forked> {
    let mut work: &mut dyn FnMut() -> u8 = &mut work;
    let child = Child {
        stack: None,
        run,
        argument: (&raw mut work).cast_const().cast(),
    };
    // SAFETY: the child is a fork: it has its own copy of the stack, and of
    // `work` on it.
    let Made { pid, pidfd } = unsafe { clone(&child) }?;
    Ok(Forked { pid, pidfd })
}

/// # Safety
///
/// Called by [`clone`] with a `&mut dyn FnMut() -> u8`.
unsafe extern "C" fn run(work: *const u8) -> ! {
    // SAFETY: `fork` passes the address of such a reference, which is this
    // process's own copy.
    let work = unsafe { &mut *work.cast_mut().cast::<&mut dyn FnMut() -> u8>() };
    exit_group(work())
}

/// Ends this process.
pub fn exit(code: u8) -> ! {
    exit_group(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::exit::Exit;
    use crate::sys::reap;

    #[test]
    fn a_forked_child_shows_its_progress_and_leaves_its_code() {
        let board = crate::sys::memory::shared::<Board>().unwrap();

        let forked = fork(|| {
            board.show(7);
            42
        })
        .unwrap();
        let exit = reap::wait_for(forked.pid);

        assert_eq!(exit, Ok(Exit::Code(42)));
        assert_eq!(board.shown(), 7);
    }
}
