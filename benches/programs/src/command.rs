//! The command of a measured entrypoint: what it does, its first argument says.

use core::ffi::CStr;

use linux_raw_sys::general::SIGTERM;

use crate::kernel::{self, Words};
use crate::process::Process;
use crate::{orphans, text};

/// Where the entrypoint's pid is, as the root namespace counts.
pub const PID: &CStr = c"/run/pid";

/// How long an entrypoint may take to have nothing left to do after a start.
const SETTLE_NANOS: i64 = 2_000_000_000;

/// `SIG_IGN`.
const IGNORE: kernel::Action = kernel::Action {
    handler: 1,
    flags: 0,
    restorer: 0,
    mask: 0,
};

/// - `watch`: measures the entrypoint while it has nothing to do and while orphans
///   end, and ends;
/// - `family N`: has N - 1 children, and stays;
/// - `orphans`: makes some, and stays;
/// - `stubborn`: does not end when it is asked to;
/// - anything else just stays.
pub fn run(words: Words) -> ! {
    match words.get(1).unwrap_or_default().to_bytes() {
        b"watch" => watch(),
        b"family" => {
            let members = text::number(words.get(2).unwrap_or_default().to_bytes());
            for _ in 1..members {
                if kernel::fork() == 0 {
                    stay();
                }
            }
        }
        b"orphans" => {
            orphans::first();
            orphans::run()
        }
        b"stubborn" => {
            kernel::set_action(SIGTERM, &IGNORE);
        }
        _ => {}
    }
    stay()
}

fn stay() -> ! {
    loop {
        kernel::sleep(i64::MAX);
    }
}

fn watch() -> ! {
    kernel::sleep(SETTLE_NANOS);
    let mut buffer = [0; 16];
    let init = Process(text::number(text::read_file(PID, &mut buffer)));
    init.tell_memory();
    init.tell_idling();
    orphans::first();
    orphans::tell(init);
    kernel::exit(0)
}
