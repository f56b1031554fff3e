//! The least entrypoint: the system calls that the job needs, and nothing else.
//!
//! It runs the program that its arguments behind `--` name, forwards the signals that people
//! and runtimes send, releases what ends, and ends as the program did. No options, no
//! messages, no answer to anything that goes wrong. It is a measure for others, not
//! a program to use.

use core::sync::atomic::{AtomicI32, Ordering};

use linux_raw_sys::general as raw;

use crate::floor::Children;
use crate::kernel::{self, Words};

/// What is forwarded.
const FORWARDED: [u32; 8] = [
    raw::SIGHUP,
    raw::SIGINT,
    raw::SIGQUIT,
    raw::SIGUSR1,
    raw::SIGUSR2,
    raw::SIGTERM,
    raw::SIGWINCH,
    raw::SIGPWR,
];

/// The program's pid, for the handler; 0 before there is one.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// The life of the least entrypoint.
#[inline(always)]
pub fn main(words: Words, children: Children) -> ! {
    let action = kernel::Action {
        handler: (forward as *const ()).addr(),
        flags: (raw::SA_RESTORER | raw::SA_RESTART) as usize,
        restorer: (host_init::sys::arch::restore as *const ()).addr(),
        mask: 0,
    };
    for signal in FORWARDED {
        kernel::set_action(signal, &action);
    }
    let mut pidfd = -1;
    let status = match children {
        Children::Waited => {
            let program = kernel::spawn_rest(&words, 0, &mut pidfd);
            PROGRAM.store(program as i32, Ordering::Relaxed);
            loop {
                let (pid, status) = kernel::wait_status(-1);
                if pid == program {
                    break status;
                }
            }
        }
        Children::Vanish => {
            let action = kernel::Action {
                handler: 0,
                flags: raw::SA_NOCLDWAIT as usize,
                restorer: 0,
                mask: 0,
            };
            kernel::set_action(raw::SIGCHLD, &action);
            let program = kernel::spawn_rest(&words, raw::CLONE_PIDFD, &mut pidfd);
            PROGRAM.store(program as i32, Ordering::Relaxed);
            let pidfd = pidfd as isize;
            while kernel::wait_readable(pidfd, None) != 1 {}
            kernel::status_of(pidfd).unwrap_or(0)
        }
    };
    kernel::exit(match status & 0x7f {
        0 => (status >> 8) as u8,
        signal => 128 + signal as u8,
    })
}

extern "C" fn forward(signal: i32) {
    let program = PROGRAM.load(Ordering::Relaxed);
    if program > 0 {
        kernel::kill(program as isize, signal as u32);
    }
}
