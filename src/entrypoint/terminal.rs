//! How the terminal comes to be the command's.

use core::time::Duration;

use crate::base::job::Job;
use crate::base::signal::Signal;
use crate::entrypoint::voice::Speaker;
use crate::policy::entrypoint::OnStop;
use crate::sys::task::Forked;
use crate::sys::terminal::{self, Owner};
use crate::sys::{Result, kmsg, power, reap, task};

/// Where the command finds itself.
#[derive(Clone, Copy)]
pub struct Place {
    /// Its session and process group.
    pub job: Job,
    /// Whether it takes the terminal.
    pub has_terminal: bool,
    /// Whether keys reach it without host-init.
    pub shares_keys: bool,
    /// What follows when a key stops it.
    pub on_stop: OnStop,
    /// What it gets when a key stops host-init.
    pub key_stop: Option<Signal>,
}

/// Finds the job for the command when nobody said which, and makes the terminal one
/// that the command can take.
pub fn hand_over(job: Option<Job>, pid: u32, speaker: &Speaker) -> Place {
    let is_init = pid == power::INIT;
    let has_terminal = terminal::is_there();
    let owner = if has_terminal {
        terminal::owner()
    } else {
        Owner::Other
    };
    let job = job.unwrap_or_else(|| {
        if owner == Owner::Own || owner == Owner::Other && power::leads_session(pid) {
            Job::Session
        } else {
            // Whoever started host-init waits for it as for any job.
            Job::Group
        }
    });
    if job == Job::Session
        && owner == Owner::Own
        && let Err(errno) = give_up()
    {
        speaker.failed("give up the terminal", errno);
    }
    Place {
        job,
        has_terminal,
        shares_keys: job == Job::Shared,
        on_stop: match (job, owner) {
            // A session of its own has nobody outside who could continue it, and
            // the kernel does not stop it for a key.
            (Job::Session | Job::Shared, _) | (Job::Group, Owner::Other) => OnStop::Ignore,
            (Job::Group, Owner::Shared) if !is_init => OnStop::Follow,
            (Job::Group, Owner::Own | Owner::Shared) => OnStop::Continue,
        },
        key_stop: match job {
            _ if is_init => None,
            // It would not be stopped by what a key sends.
            Job::Session => Some(Signal::STOP),
            Job::Group | Job::Shared => Some(Signal::TSTP),
        },
    }
}

/// Gives up the terminal of the session that host-init leads. The kernel sends HUP
/// and CONT to the foreground for it: to a process made for that, since here they
/// could not be told from real ones.
fn give_up() -> Result<()> {
    let Forked { pid, pidfd } = task::fork(|| {
        kmsg::pause(Duration::from_secs(10));
        0
    })?;
    let given = power::give_group(pid)
        .and_then(|()| terminal::bring_forward(pid))
        .and_then(|()| terminal::give_up());
    let _ = power::signal_process(&pidfd, Signal::KILL);
    let _ = reap::wait_for(pid);
    given
}
