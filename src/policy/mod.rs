//! Every rule of supervision, as values: no clock, no kernel, no text.
//!
//! [`machine::Machine`] is the whole: an [`event::Event`] and a moment go in,
//! [`event::Action`]s come out, and [`machine::Machine::deadline`] says when to
//! come back if nothing happens. Start reading there; the rest are its parts:
//!
//! - [`config`]: what a config says, as plain values;
//! - [`settings`]: what of it the rules need;
//! - [`request`]: what a signal asks for;
//! - [`members`]: sets of services;
//! - [`service`]: one service's life, from start to gone;
//! - [`vigil`]: the watch over a service that is up;
//! - [`notice`]: what a service says of itself;
//! - [`backoff`]: how long until the next start;
//! - [`ending`]: the last steps of the machine, and how long each may take;
//! - [`upward`]: what whoever runs a container is told.
//!
//! [`entrypoint`] is a whole of its own: one command, forwarded to and waited for.

#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::wildcard_enum_match_arm,
    clippy::as_conversions
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::wildcard_enum_match_arm,
        clippy::as_conversions,
        reason = "a test may fail"
    )
)]

pub mod backoff;
pub mod config;
pub mod ending;
pub mod entrypoint;
pub mod event;
pub mod machine;
pub mod members;
pub mod notice;
pub mod request;
pub mod service;
pub mod settings;
pub mod trial;
pub mod upward;
pub mod vigil;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod world;
