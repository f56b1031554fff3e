//! How the terminal comes to be the command's.

use core::time::Duration;

use crate::base::job::Job;
use crate::base::signal::Signal;
use crate::entrypoint::voice::Speaker;
use crate::policy::entrypoint::place::{Found, Place};
use crate::sys::task::Forked;
use crate::sys::{Result, kill, kmsg, process, reap, task, terminal};

/// Finds the place for the command, and makes the terminal one that the command can
/// take.
pub fn hand_over(wanted: Option<Job>, pid: u32, speaker: &Speaker) -> Place {
    let found = Found {
        is_init: pid == process::INIT,
        leads_session: process::leads_session(pid),
        terminal: terminal::is_there().then(terminal::owner),
        is_foreground: terminal::is_foreground(),
    };
    let place = Place::new(wanted, found);
    if place.gives_up
        && let Err(errno) = give_up()
    {
        speaker.failed("give up the terminal", errno);
    }
    place
}

/// Gives up the terminal of the session that host-init leads. The kernel sends HUP
/// and CONT to the foreground for it: to a process made for that, since here they
/// could not be told from real ones.
fn give_up() -> Result<()> {
    let Forked { pid, pidfd } = task::fork(|| {
        kmsg::pause(Duration::from_secs(10));
        0
    })?;
    let given = process::give_group(pid)
        .and_then(|()| terminal::bring_forward(pid))
        .and_then(|()| terminal::give_up());
    let _ = kill::process(&pidfd, Signal::KILL).or_else(|_| kill::child(pid, Signal::KILL));
    let _ = reap::wait_for(pid);
    given
}
