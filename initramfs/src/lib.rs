//! Initramfs and container images, written without root, the same every time.
//!
//! An [`Archive`] is a set of paths and what is at each of them. Owners, device
//! nodes and modes are numbers in a header, so nobody needs to be root to write
//! them, and nothing of the machine that writes (inode numbers, times, umask,
//! the order in which it lists a directory) gets into the bytes.
//!
//! ```
//! use initramfs::{Archive, Compression, DeviceKind, Entry, Owner};
//!
//! # fn main() -> Result<(), initramfs::Error> {
//! let mut archive = Archive::new();
//! archive
//!     .file("/etc/motd", 0o644, "hello\n")?
//!     .symlink("/bin/sh", "busybox")?
//!     .device("/dev/console", DeviceKind::Char, 5, 1, 0o600)?
//!     .add("/data", Entry::directory().mode(0o700).owner(Owner { user: 1000, group: 1000 }))?;
//!
//! let image = archive.write(Compression::Zstd)?;
//! assert_eq!(image, archive.write(Compression::Zstd)?);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Recipe`] is a level above: a bootable image for one program, with the
//! first process, the devices it needs and the program's shared libraries. The
//! command `cargo image` is a [`Recipe`] read from options and a manifest.
//!
//! A [`Container`] is the same tree for a container's runtime: an image layout of
//! the OCI, with the tree as its one layer.

#![forbid(unsafe_code)]

mod archive;
mod blob;
mod check;
mod command;
mod compression;
mod container;
mod documents;
mod entry;
mod error;
mod furniture;
mod init;
mod layer;
mod layout;
mod libraries;
mod loader;
mod manifest;
mod newc;
mod options;
mod order;
mod path;
mod places;
mod program;
mod recipe;
mod replacement;
mod root;
mod spoken;
mod tables;
mod tree;

pub use archive::{Archive, Written};
pub use command::run;
pub use compression::{Compression, CompressionError};
pub use container::Container;
pub use entry::{DeviceKind, Entry, Mode, ModeError, Owner};
pub use error::Error;
pub use libraries::Libraries;
pub use path::ImagePath;
pub use recipe::{Host, Item, Recipe, What};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
