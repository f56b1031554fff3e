//! host-init as a container's entrypoint, beside the inits that it stands in for.
//!
//! Each case is done with the real tini, dumb-init or catatonit and with host-init
//! under its name, and compared ([`trial`]); where host-init is another on purpose,
//! [`differences`] says why and holds both sides. An init is started ([`start`]) as
//! PID 1 of a pid namespace or as the child of one that does nothing, so that
//! nothing outlives its test and every pid is known. It runs [`recorder`], which is
//! this test program itself. What is host-init's own is in [`options`],
//! [`refusals`], [`gifts`] and [`stops`].

mod child;
mod init;
// The same pipes, waited for in the same way.
#[path = "../namespace/lines.rs"]
mod lines;
mod peer;
mod place;
// The same build with faults in it, of which guests have one more.
#[expect(dead_code, reason = "guests have other programs as well")]
#[path = "../guest/programs.rs"]
mod programs;
mod recorder;
mod start;
mod system;
mod trial;
mod voice;

mod codes;
mod differences;
mod environment;
mod execs;
mod faults;
mod filters;
mod flags;
mod gifts;
mod inheritance;
mod moments;
mod options;
mod refusals;
mod signals;
mod stops;
mod streams;
mod targets;
mod terminal;
mod words;
