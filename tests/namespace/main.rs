//! The real program as PID 1 of a pid namespace, in the role of a container.
//!
//! Each test has a namespace and a root directory of its own, made by itself with
//! `clone3(2)`: as root, or by anybody where the kernel has user namespaces. What
//! it can't have there (control groups, disks, `reboot(2)` of a machine) is tested
//! in guests.

mod arguments;
mod child;
mod host;
mod init;
mod lines;
mod room;
mod start;
mod voice;

mod exits;
mod manager;
mod notices;
mod place;
mod readiness;
mod starts;
mod stops;
mod streams;
mod trials;
mod years;
