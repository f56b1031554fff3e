//! How a child ended is asked of the kernel while the kernel is releasing it.
//!
//! A test program of its own: what becomes of ended children is a setting of the
//! whole process.

use std::time::{Duration, Instant};

use host_init::base::exit::Exit;
use host_init::sys::signals::{self, Children};
use host_init::sys::{reap, task};

/// How long it is tried. The moment is met once in some thousand exits, a second's
/// work of two idle processors; on busy ones it comes sooner.
const TRIED: Duration = Duration::from_secs(5);

/// Far longer than a child takes to exit.
const BOUND: Duration = Duration::from_secs(30);

#[test]
fn no_exit_is_lost_to_a_question_in_the_middle_of_it() {
    let vanish = reap::descriptors_remember();
    signals::set_children(if vanish {
        Children::Vanish
    } else {
        Children::Stay
    })
    .unwrap();

    let start = Instant::now();
    for number in 0_u32.. {
        if start.elapsed() > TRIED {
            break;
        }
        let code = u8::try_from(number % 256).unwrap();
        let child = task::fork(|| code).unwrap();
        let until = Instant::now() + BOUND;
        let exit = loop {
            // PID 1 asks when the descriptor says so, which is somewhere in the
            // exit; asking all the time meets every moment of it.
            let exit = if vanish {
                reap::ask(&child.pidfd).unwrap()
            } else {
                reap::next().map(|(_, exit)| exit)
            };
            if let Some(exit) = exit {
                break exit;
            }
            assert!(Instant::now() < until, "child {number}");
        };

        assert_eq!(exit, Exit::Code(code), "child {number}");
    }
}
