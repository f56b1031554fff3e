//! QEMU as a child that cannot outlive us.
//!
//! The kernel's parent-death signal is tied to the *thread* that forked. Tests
//! run in threads that come and go, so one thread that stays forks for all.

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use crate::system;

/// A running child, killed on drop.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pidfd: OwnedFd,
}

impl Process {
    /// Starts a command that keeps the descriptors, under their numbers.
    pub(crate) fn start(mut command: Command, keep: &[OwnedFd]) -> io::Result<Self> {
        let parent = std::process::id();
        let numbers: Vec<RawFd> = keep.iter().map(AsRawFd::as_raw_fd).collect();
        let prepare = move || {
            system::die_with(parent)?;
            numbers
                .iter()
                .try_for_each(|&fd| system::keep_through_exec(fd))
        };
        // SAFETY: between fork and exec it makes system calls only, and
        // allocates nothing.
        unsafe { command.pre_exec(prepare) };

        let mut child = fork_from_the_thread_that_stays(command)?;
        match system::pidfd(child.id()) {
            Ok(pidfd) => Ok(Self { child, pidfd }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; false when the bound passed first.
    pub(crate) fn wait(&mut self, bound: Duration) -> bool {
        let [has_ended] = system::readable([Some(self.pidfd.as_fd())], Some(bound));
        if has_ended {
            // It has ended: this only collects it.
            let _ = self.child.wait();
        }
        has_ended
    }

    /// Ends it at once. Nothing happens to one that has ended.
    pub(crate) fn kill(&mut self) {
        // Fails only when it has been collected.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

type Order = (Command, Sender<io::Result<Child>>);

fn fork_from_the_thread_that_stays(command: Command) -> io::Result<Child> {
    static ORDERS: OnceLock<Mutex<Sender<Order>>> = OnceLock::new();

    let orders = ORDERS.get_or_init(|| {
        let (orders, incoming) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in incoming {
                // One who no longer listens has dropped the guest already.
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(orders)
    });
    let (answer, answered) = mpsc::channel();
    orders
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send((command, answer))
        .map_err(io::Error::other)?;
    answered.recv().map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_outlives_the_thread_that_asked_for_it() {
        let mut process = thread::spawn(|| {
            let mut command = Command::new("cat");
            command.stdin(std::process::Stdio::piped());
            Process::start(command, &[]).unwrap()
        })
        .join()
        .unwrap();

        assert!(!process.wait(Duration::ZERO));
    }

    #[test]
    fn a_dropped_child_is_gone() {
        let mut command = Command::new("cat");
        command.stdin(std::process::Stdio::piped());
        let process = Process::start(command, &[]).unwrap();
        let path = format!("/proc/{}", process.id());
        assert!(std::fs::exists(&path).unwrap());

        drop(process);

        assert!(!std::fs::exists(&path).unwrap());
    }
}
