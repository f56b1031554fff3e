//! Every system call, one file an area; the only room with unsafe code.
//!
//! Nothing here decides. A function does one thing, says in its name whether it
//! may block, and gives the kernel's reason when it fails. What `rustix` has is
//! taken from it; `call` holds the few calls that it has not.
//!
//! # Safety
//!
//! What this room upholds for all the others:
//!
//! - A child that shares memory with host-init ([`spawn`]) writes its own stack, cell
//!   and pid, reads what nobody writes meanwhile, and makes only system calls.
//! - PID 1 has one thread. A `static` that is written is written by that thread
//!   alone, and no reference to it outlives a call.

#![deny(
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block
)]

pub mod arch;
pub mod arguments;
mod call;
pub mod cgroup;
pub mod clock;
mod clone;
pub mod descendants;
pub mod fault;
pub mod files;
pub mod handover;
pub mod kill;
pub mod kmsg;
pub mod memory;
pub mod mount;
pub mod network;
pub mod notify;
pub mod pipe;
pub mod poll;
pub mod power;
pub mod process;
pub mod random;
pub mod reap;
pub mod signals;
pub mod spawn;
pub mod stdio;
pub mod store;
pub mod task;
pub mod terminal;
pub mod versions;

use crate::base::errno::Errno;

pub use rustix::fd::{AsFd, BorrowedFd, OwnedFd as Fd};

/// What a system call gives.
pub type Result<T> = core::result::Result<T, Errno>;

/// The kernel's reason as rustix spells it, in ours.
fn reason(errno: rustix::io::Errno) -> Errno {
    Errno::from_number(u16::try_from(errno.raw_os_error()).unwrap_or(u16::MAX))
}
