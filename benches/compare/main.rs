//! What host-init costs beside the least that could do its job, and beside others.
//!
//! `cargo bench --bench compare` prints every table; words after `--` choose:
//! `bytes`, `guest`, `namespace`, `entrypoint`, and `breakdown` and `pages`, which nobody
//! gets without asking.
//! Nothing is asserted: a goal stands beside what was measured.

use std::process::ExitCode;

mod breakdown;
mod contestants;
mod entrypoint_tables;
mod entrypoints;
mod goals;
mod guest;
mod images;
mod namespace;
mod pages;
mod programs;
mod strings;
mod table;
mod tables;
mod tracer;

fn main() -> ExitCode {
    // Cargo adds `--bench` for harnesses that want it.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .map(|word| word.trim_start_matches('-').to_owned())
        .collect();
    match tables::print(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
