//! The real program in the containers of real clients.
//!
//! Each client is found in `PATH`, or installed; where it can't be had or can't
//! work, its tests say that they were skipped, and why. What a test makes is gone
//! with it, also when it fails.
//!
//! - [`docker`]: the engine, and one of a test's own for `--init`;
//! - [`podman`], [`crun`], [`runc`]: runtimes, and what is built on them;
//! - [`nspawn`], [`lxc`]: machines in a container, which boot and are powered off;
//! - [`bubblewrap`], [`unshare`]: namespaces around a command.
//!
//! A client runs in a [`session`], on a [`terminal`] or not, and has a [`tree`] to
//! run.

mod client;
mod image;
mod keys;
mod lives;
mod place;
mod runtime;
mod scripts;
mod session;
mod terminal;
mod tree;

mod bubblewrap;
mod crun;
mod docker;
mod lxc;
mod nspawn;
mod podman;
mod runc;
mod unshare;
