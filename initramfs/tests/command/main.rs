//! The command as people run it, and its images as others read them.

mod containers;
mod images;
mod libraries;
mod readme;
mod refusals;
mod sameness;
mod support;
