//! The least init: the system calls that the job needs, and nothing else.
//!
//! No config, no messages, no answer to anything that goes wrong. It boots,
//! keeps `/host` running, releases orphans, and powers off when USR2 comes, with
//! a second for those that do not end by themselves. It is a measure for others,
//! not a program to use.

use linux_raw_sys::general as raw;

use crate::{boot, kernel};

/// How children that ended are released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Children {
    /// By `wait4(2)`: one call and one wake-up each.
    Waited,
    /// By the kernel (`SA_NOCLDWAIT`): none. How the host ended stays unknown.
    Vanish,
}

/// How long processes may take to end before they are killed.
const GRACE_NANOS: i64 = 1_000_000_000;

/// The descriptor of the host, where children vanish: the first that is free, and
/// the only one that this process ever has beyond the standard three.
const HOST: isize = 3;

const CHLD: u64 = 1 << (raw::SIGCHLD - 1);

/// The life of the least init.
#[inline(always)]
pub fn main(children: Children) -> ! {
    // Anywhere else the steps below would change the machine it is run on.
    if kernel::pid() != 1 {
        kernel::exit(1);
    }
    let stop = match children {
        Children::Waited => stop_waited as *const (),
        Children::Vanish => stop_vanish as *const (),
    };
    // The handler ends the machine itself and never returns: no signal can be
    // lost between a look and a wait, and there is nothing to return through.
    let action = kernel::Action {
        handler: stop.addr(),
        flags: raw::SA_RESTORER as usize,
        restorer: stop.addr(),
        mask: CHLD,
    };
    kernel::set_action(raw::SIGUSR2, &action);
    if children == Children::Vanish {
        let action = kernel::Action {
            handler: 0,
            flags: raw::SA_NOCLDWAIT as usize,
            restorer: 0,
            mask: 0,
        };
        kernel::set_action(raw::SIGCHLD, &action);
    }
    boot::run();
    loop {
        let mut pidfd = -1;
        match children {
            Children::Waited => {
                let host = kernel::spawn(c"/host", 0, &mut pidfd);
                while kernel::wait(-1, 0) != host {}
            }
            Children::Vanish => {
                kernel::spawn(c"/host", raw::CLONE_PIDFD, &mut pidfd);
                kernel::wait_readable(HOST, None);
                kernel::close(HOST);
            }
        }
    }
}

/// Asks everything to end, waits, kills what is left.
extern "C" fn stop_waited() -> ! {
    kernel::kill(-1, raw::SIGTERM);
    loop {
        match kernel::wait(-1, raw::WNOHANG) {
            0 => {
                if kernel::wait_signal(CHLD, GRACE_NANOS) < 0 {
                    kernel::kill(-1, raw::SIGKILL);
                }
            }
            1.. => {}
            ..0 => leave(),
        }
    }
}

/// The same where children leave nothing to wait for but the host's descriptor.
extern "C" fn stop_vanish() -> ! {
    kernel::kill(-1, raw::SIGTERM);
    if kernel::wait_readable(HOST, Some(GRACE_NANOS)) == 0 {
        kernel::kill(-1, raw::SIGKILL);
        kernel::wait_readable(HOST, None);
    }
    leave()
}

fn leave() -> ! {
    kernel::sync();
    kernel::power_off();
    kernel::exit(0)
}
