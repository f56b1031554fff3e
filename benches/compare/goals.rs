//! What we are after, in the units of the tables. Printed, never asserted.
//!
//! The floor does the boot job and nothing else, so most goals are a little above
//! it: what a config, messages, records and a child in a control group may cost.

/// The most that a figure should come to.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// There is none: the figure is there to compare.
    None,
    /// At most this.
    AtMost(f64),
}

/// Instructions from the kernel's exec of the init to the host's first one.
pub(crate) const EXEC_TO_HOST: Goal = Goal::AtMost(900_000.0);

/// Instructions from the end of the host to the first one of the next.
pub(crate) const RESTART: Goal = Goal::AtMost(300_000.0);

/// Instructions from the request to power off to the kernel's last words: with
/// the counting clock, 400 microseconds.
pub(crate) const STOP_TO_OFF: Goal = Goal::AtMost(400_000.0);

/// Resident memory of PID 1 with one host, in kB.
pub(crate) const RESIDENT: Goal = Goal::AtMost(64.0);

/// Of that, what is not pages of its file, in kB.
pub(crate) const ANONYMOUS: Goal = Goal::AtMost(32.0);

/// Wake-ups and system calls of PID 1 while nothing happens.
pub(crate) const IDLE: Goal = Goal::AtMost(0.0);

/// System calls and wake-ups an orphan where the kernel tells how a child ended
/// after it released it (Linux 6.15).
pub(crate) const ORPHAN_RELEASED: Goal = Goal::AtMost(0.0);

/// System calls and wake-ups an orphan on older kernels.
pub(crate) const ORPHAN_CALLS: Goal = Goal::AtMost(2.0);
/// See [`ORPHAN_CALLS`].
pub(crate) const ORPHAN_WAKES: Goal = Goal::AtMost(1.0);

/// System calls an orphan when many end at once, on older kernels: one each, and
/// a few for all.
pub(crate) const BURST_CALLS: Goal = Goal::AtMost(1.05);

/// Bytes of all files that an image needs for the init.
pub(crate) const BYTES: Goal = Goal::AtMost(98_304.0);

/// Milliseconds from the request to stop to the end of PID 1, when the host ends
/// at once, and when it ignores the request and has one second.
pub(crate) const STOP_MILLIS: Goal = Goal::AtMost(2.0);
/// See [`STOP_MILLIS`].
pub(crate) const STUBBORN_MILLIS: Goal = Goal::AtMost(1_004.0);

/// Instructions of `init -- true` as the first process of a pid namespace, from the
/// exec of the init to its end.
pub(crate) const RUN: Goal = Goal::AtMost(480_000.0);

/// System calls of init and command for that.
pub(crate) const RUN_CALLS: Goal = Goal::AtMost(16.0);

/// Instructions between the grace of a stubborn command and the end of its
/// entrypoint: with the counting clock, 2 milliseconds.
pub(crate) const LATE: Goal = Goal::AtMost(2_000_000.0);
/// The same on a clock on the wall, from the request on, in milliseconds.
pub(crate) const LATE_MILLIS: Goal = Goal::AtMost(1_002.0);
