//! Boots a kernel and an initramfs under QEMU and lets a test talk to it.
//!
//! [`Boot`] says what to boot and on which machine; [`Boot::start`] gives a
//! [`Guest`], which is waited for, typed to, and ends in an [`Ending`]. [`tools`]
//! finds QEMU, a kernel and a busybox, or brings them. A guest is gone when it is
//! dropped, and when its test is killed; every wait has a bound.
//!
//! Rooms, from the top down: `boot` and `command` (the machine before it runs),
//! `guest` (while it runs), `pump`, `transcript` and `ending` (what is heard of
//! it), `process`, `slot`, `scratch` and `disk` (what it takes), `system` (the
//! calls that std lacks).

#![doc = include_str!("../README.md")]

mod boot;
mod command;
mod disk;
mod ending;
mod error;
mod guest;
mod process;
mod pump;
mod scratch;
mod slot;
mod system;
pub mod tools;
mod transcript;

pub use boot::{Boot, Console, Image};
pub use disk::Disk;
pub use ending::Ending;
pub use error::Error;
pub use guest::Guest;
pub use pump::Event;
pub use scratch::Scratch;
pub use serde_json::Value;
