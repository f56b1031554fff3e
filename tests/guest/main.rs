//! The real program as PID 1 of a machine: QEMU guests on Debian's kernel.
//!
//! Each test says what is in the image ([`image`]), starts it, and talks to the
//! shell that stands in for the host ([`session`]). What a machine ended as is told
//! by the kernel's last words and by QEMU; what is left on a disk, by its bytes.
//! What can be had in a pid namespace is tested there, in less time.

mod disk;
mod image;
mod programs;
mod session;
mod versions;

mod boot;
mod config;
mod container;
mod endings;
mod faults;
mod hung;
mod ladder;
mod launcher;
mod moments;
mod mounts;
mod power;
mod pulls;
mod reaping;
mod starts;
mod trials;
mod watched;
