//! Makes a bootable image of a program: see `--help`.

#![forbid(unsafe_code)]

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    initramfs::run(env::args_os().skip(1))
}
