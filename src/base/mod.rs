//! The words that every room shares: plain values with no kernel behind them.

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
        reason = "a test may fail"
    )
)]

pub mod errno;
pub mod exit;
pub mod job;
pub mod level;
pub mod limits;
pub mod paths;
pub mod signal;
pub mod slot;
pub mod time;
pub mod words;
