//! Every text and file layout: parsed from bytes and written to buffers.
//!
//! Nothing here opens a file. What is read is a slice that the caller filled;
//! what is written goes to any [`core::fmt::Write`].
//!
//! | file | the text it knows |
//! |---|---|
//! | [`cgroup`] | a process's control group, and the controllers of one |
//! | [`cmdline`] | the kernel command line, `/proc/cmdline` |
//! | [`config`] | the config, TOML |
//! | [`duration`] | a span of time as a person writes it |
//! | [`handover`] | what a re-executed host-init is told by its life before |
//! | [`launcher`] | the files of a launcher script |
//! | [`line`](mod@line) | one line of the log, as `/dev/kmsg` takes it |
//! | [`mount_options`] | mount options as `mount(8)` takes them |
//! | [`mountinfo`] | `/proc/self/mountinfo` |
//! | [`name`] | the name of a version, and the number that stands for it |
//! | [`notify`] | what a service says of itself, `sd_notify(3)` |
//! | [`record`] | the exit record of a service (JSON) and its status |
//! | [`state`] | what host-init is doing (JSON) |
//! | [`upward`] | `sd_notify(3)`, and the environment of a container's init |
//! | [`json`] | a string of JSON from any bytes |

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

pub mod boot_record;
pub mod cgroup;
pub mod cmdline;
pub mod config;
pub mod duration;
pub mod handover;
pub mod json;
pub mod launcher;
pub mod line;
pub mod mount_options;
pub mod mountinfo;
pub mod name;
pub mod notify;
pub mod options;
pub mod passwd;
pub mod record;
pub mod state;
pub mod upward;
