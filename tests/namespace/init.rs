//! host-init as PID 1 of a namespace of its own: signalled, heard, looked at.

use std::ffi::c_long;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::lines::{BOUND, Lines, eventually, is_ready};

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
}

/// PID 1 of a namespace. When the value is gone, so is the namespace.
pub(crate) struct Init {
    pid: i32,
    pidfd: OwnedFd,
    said: Option<Lines>,
    end: Option<End>,
}

impl Init {
    pub(crate) fn new(pid: i32, pidfd: OwnedFd, said: Option<Lines>) -> Self {
        Self {
            pid,
            pidfd,
            said,
            end: None,
        }
    }

    /// Its pid out here.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// What it says on its standard error.
    pub(crate) fn said(&mut self) -> &mut Lines {
        self.said.as_mut().expect("standard error is the test's")
    }

    /// Waits for a line, and gives it.
    pub(crate) fn says(&mut self, text: &str) -> String {
        self.said().wait_for(text)
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, number: i32) {
        assert!(self.takes(number), "{}", std::io::Error::last_os_error());
    }

    /// Sends it a signal; whether the kernel had room for it.
    pub(crate) fn takes(&self, number: i32) -> bool {
        let fd = c_long::from(self.pidfd.as_raw_fd());
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: takes numbers and a null pointer.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, number, nothing, 0) == 0 }
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) -> End {
        if self.lives_for(BOUND) {
            let said = self.said.as_mut().map(|said| said.all().join("\n"));
            panic!(
                "host-init did not end; it said:\n{}",
                said.unwrap_or_default()
            );
        }
        self.wait()
    }

    /// Lets this time pass, unless it ends before; whether it did not.
    pub(crate) fn lives_for(&self, time: Duration) -> bool {
        self.end.is_none() && !is_ready(self.pidfd.as_raw_fd(), time)
    }

    /// Asks it to stop as a container runtime does, and waits for its end.
    pub(crate) fn stop(&mut self) -> End {
        self.signal(libc::SIGTERM);
        self.end()
    }

    /// Asks it to stop; how long it took, when it ended with this code.
    pub(crate) fn stop_with(&mut self, code: i32) -> Duration {
        let start = Instant::now();
        let end = self.stop();
        assert_eq!(
            end,
            End::Code(code),
            "it said {:#?}",
            self.said.as_mut().map(Lines::all)
        );
        start.elapsed()
    }

    /// A line of its `/proc/PID/status`.
    pub(crate) fn status(&self, name: &str) -> String {
        let status = fs::read_to_string(self.proc("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with(name));
        line.unwrap().split_once(':').unwrap().1.trim().to_owned()
    }

    /// A file of its `/proc/PID`.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }

    /// The processes of the namespace, by their pids in it.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let mut pids: Vec<i32> = fs::read_dir(self.proc("root/proc"))
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
            .collect();
        pids.sort_unstable();
        pids
    }

    /// Kills the process that has this pid in the namespace.
    pub(crate) fn kill_inside(&self, pid: i32) {
        self.signal_inside(pid, libc::SIGKILL);
    }

    /// Sends a signal to the process that has this pid in the namespace.
    pub(crate) fn signal_inside(&self, pid: i32, number: i32) {
        let outside = self.outside(pid).expect("a process of the namespace");
        // SAFETY: takes numbers.
        assert_eq!(unsafe { libc::kill(outside, number) }, 0);
    }

    /// What the process that has this pid in the namespace is doing.
    pub(crate) fn state_inside(&self, pid: i32) -> String {
        let outside = self.outside(pid).expect("a process of the namespace");
        let status = fs::read_to_string(format!("/proc/{outside}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("State:"));
        line.unwrap().split_once(':').unwrap().1.trim().to_owned()
    }

    /// Waits until it has taken every signal that it was sent.
    pub(crate) fn has_heard_all(&self) {
        eventually("the last signal", || {
            assert!(self.lives_for(Duration::ZERO), "it ended");
            // CHLD means nothing where the kernel releases children, and is
            // never taken.
            matches!(
                self.status("ShdPnd").as_str(),
                "0000000000000000" | "0000000000010000"
            )
        });
    }

    /// Waits until it waits, and has nothing left to do.
    pub(crate) fn is_asleep(&self) {
        let mut before = String::new();
        eventually("its sleep", || {
            let used = fs::read_to_string(self.proc("schedstat")).unwrap();
            let state = self.status("State");
            let is_asleep = state == "S (sleeping)" && used == before;
            before = used;
            is_asleep
        });
    }

    /// The pid out here of a child of PID 1's that has this one in there.
    fn outside(&self, pid: i32) -> Option<i32> {
        let children = format!("task/{}/children", self.pid);
        let children = fs::read_to_string(self.proc(&children)).unwrap();
        children.split_whitespace().find_map(|child| {
            let status = fs::read_to_string(format!("/proc/{child}/status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("NSpid:"))?;
            let inside = line.split_whitespace().next_back()?;
            (inside == pid.to_string()).then(|| child.parse().ok())?
        })
    }

    /// Its open descriptors and where they lead.
    pub(crate) fn descriptors(&self) -> Vec<(i32, String)> {
        let mut found: Vec<(i32, String)> = fs::read_dir(self.proc("fd"))
            .unwrap()
            .filter_map(|entry| {
                let path = entry.unwrap().path();
                let number = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
                // It may be closed between the two.
                let target = fs::read_link(path).ok()?;
                Some((number, target.display().to_string()))
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Its resident memory in KiB, counted page by page.
    pub(crate) fn resident(&self) -> u64 {
        let rollup = fs::read_to_string(self.proc("smaps_rollup")).unwrap();
        let line = rollup
            .lines()
            .find(|line| line.starts_with("Rss:"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Where its stack is; empty in the middle of an exec.
    pub(crate) fn stack(&self) -> String {
        let maps = fs::read_to_string(self.proc("maps")).unwrap();
        let line = maps.lines().find(|line| line.ends_with("[stack]"));
        line.and_then(|line| line.split(['-', ' ']).nth(1))
            .unwrap_or_default()
            .to_owned()
    }

    fn wait(&mut self) -> End {
        if let Some(end) = self.end {
            return end;
        }
        let mut status = 0;
        // SAFETY: the kernel writes one status.
        let pid = unsafe { libc::waitpid(self.pid, &raw mut status, libc::__WALL) };
        assert_eq!(pid, self.pid);
        let end = if libc::WIFEXITED(status) {
            End::Code(libc::WEXITSTATUS(status))
        } else {
            End::Signal(libc::WTERMSIG(status))
        };
        self.end = Some(end);
        end
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.takes(libc::SIGKILL);
            self.wait();
        }
    }
}
