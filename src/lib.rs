//! The rooms of host-init: what decides, what spells, what does.
//!
//! Read them in this order. An arrow of use only ever points upwards:
//!
//! | room | holds | may use |
//! |---|---|---|
//! | [`base`] | time, signals, exits, limits, paths: the words all rooms share | `core` |
//! | [`policy`] | every rule of supervision, as values; no clock, no kernel, no text | `base` |
//! | [`format`](mod@format) | every text and file layout: config, kernel command line, mount table, records | `base`, the plain types of `policy` |
//! | [`sys`] | every system call, one file an area; the only room with unsafe code | `base` |
//! | [`pid1`] | joins the four: boot, watch, perform | the first four |
//! | [`entrypoint`] | joins the four for one command, PID 1 or not | the first four |
//! | [`client`] | what the same program does when a person runs it | the first four |
//!
//! `docs/design.md` is the long form of this map, and `tests/rooms` holds it.

#![cfg_attr(not(test), no_std)]

pub mod base;
pub mod client;
pub mod entrypoint;
pub mod format;
pub mod pid1;
pub mod policy;
pub mod sys;
