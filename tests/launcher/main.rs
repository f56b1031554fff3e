//! host-init in place of a launcher script: `compat = "launcher"`.
//!
//! What the script did is written down row by row, as it was observed under dash, bash
//! and busybox's shell: how it read its counter ([`counter`]), what it did before a
//! start ([`decisions`]), after an end ([`ends`]) and with signals ([`signals`]). Each
//! row is done by host-init, and is equal or one of the differences that
//! `docs/host.md` lists and gives reasons for ([`differences`]). How one moves there
//! and back is in [`moves`], how a file is written in [`order`].

#![expect(
    dead_code,
    reason = "what makes a namespace is shared, and has more than is asked here"
)]

// The same namespaces, made in the same way.
#[path = "../namespace/arguments.rs"]
mod arguments;
#[path = "../namespace/child.rs"]
mod child;
#[path = "../namespace/init.rs"]
mod init;
#[path = "../namespace/lines.rs"]
mod lines;
#[path = "../namespace/room.rs"]
mod room;
#[path = "../namespace/start.rs"]
mod start;

mod differences;
mod host;
mod node;

mod counter;
mod decisions;
mod ends;
mod moves;
mod order;
mod signals;
