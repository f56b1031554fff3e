//! The Docker engine, whose client and daemon are there or not: neither is
//! installed, since a daemon changes its machine's network.

mod container;
mod daemon;
mod engine;

mod ends;
mod hosts;
mod init;
mod places;
mod stops;
mod terminals;
