//! An init that runs: signalled, heard, looked at.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use crate::lines::{BOUND, Lines, eventually, is_ready};
use crate::start::Role;
use crate::system::{owned, signal};
use crate::voice;

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
}

/// What is seen of an init from outside. Of its own messages, the levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) complaints: String,
}

/// A running init. When the value is gone, so is its namespace.
pub(crate) struct Init {
    role: Role,
    /// The namespace's first process, which is the init itself or its parent.
    first: i32,
    first_pidfd: OwnedFd,
    pid: i32,
    /// The init's, when it is not the first.
    pidfd: Option<OwnedFd>,
    /// Where its parent tells of its end.
    ends: File,
    said: [Option<Lines>; 2],
    end: Option<End>,
}

impl Init {
    pub(crate) fn new(
        role: Role,
        first: i32,
        first_pidfd: OwnedFd,
        ends: OwnedFd,
        said: [Option<Lines>; 2],
    ) -> Self {
        let mut init = Self {
            role,
            first,
            first_pidfd,
            pid: first,
            pidfd: None,
            ends: ends.into(),
            said,
            end: None,
        };
        if role == Role::Ordinary {
            init.find();
        }
        init
    }

    /// Finds the init among the children of its parent, where it is the oldest.
    fn find(&mut self) {
        self.is_told();
        self.pid = children(self.first)[0];
        // SAFETY: takes numbers.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) };
        self.pidfd = Some(owned(i32::try_from(pidfd).unwrap()));
    }

    /// What its parent tells next.
    fn is_told(&mut self) -> [i32; 2] {
        assert!(is_ready(self.ends.as_raw_fd(), BOUND), "no news of it");
        let mut bytes = [0; 8];
        self.ends.read_exact(&mut bytes).unwrap();
        let word = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        [word(0), word(4)]
    }

    /// Its own pid, as its namespace has it.
    pub(crate) const fn pid_inside(&self) -> i32 {
        match self.role {
            Role::First => 1,
            Role::Ordinary => 2,
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, number: i32) {
        let pidfd = self.pidfd.as_ref().unwrap_or(&self.first_pidfd);
        assert!(
            signal(pidfd, number),
            "signal {number}: {}",
            std::io::Error::last_os_error()
        );
    }

    /// Lets this time pass, unless it ends before; whether it did not.
    pub(crate) fn lives_for(&self, time: Duration) -> bool {
        let news = match self.role {
            Role::First => self.first_pidfd.as_raw_fd(),
            Role::Ordinary => self.ends.as_raw_fd(),
        };
        self.end.is_none() && !is_ready(news, time)
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) -> End {
        if let Some(end) = self.end {
            return end;
        }
        if self.lives_for(BOUND) {
            let said = self.said.each_mut().map(|said| said.as_mut().map(text));
            panic!("it did not end; it said {said:?}");
        }
        let end = match self.role {
            Role::First => self.wait(),
            Role::Ordinary => match self.is_told() {
                [libc::CLD_EXITED, code] => End::Code(code),
                [_, number] => End::Signal(number),
            },
        };
        self.end = Some(end);
        end
    }

    /// Waits for its end, and tells what it said.
    pub(crate) fn seen(mut self) -> Seen {
        let end = self.end();
        let [output, complaints] = &mut self.said;
        Seen {
            end,
            output: output.as_mut().map(text).unwrap_or_default(),
            complaints: complaints.as_mut().map(text).unwrap_or_default(),
        }
    }

    /// A line of its `/proc/PID/status`.
    pub(crate) fn status(&self, name: &str) -> String {
        line(self.pid, name).unwrap_or_default()
    }

    /// A file of its `/proc/PID`.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }

    /// The numbers of its open descriptors.
    pub(crate) fn descriptors(&self) -> Vec<i32> {
        let mut found: Vec<i32> = fs::read_dir(self.proc("fd"))
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .parse()
                    .unwrap()
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// The state of the process that has this pid in the namespace, a letter of
    /// proc(5); nothing when there is none.
    pub(crate) fn state_inside(&self, pid: i32) -> Option<char> {
        line(self.outside(pid)?, "State:")?.chars().next()
    }

    /// Sends a signal to the process that has this pid in the namespace.
    pub(crate) fn signal_inside(&self, pid: i32, number: i32) {
        let outside = self.outside(pid).expect("a process of the namespace");
        crate::system::kill(outside, number);
    }

    /// Waits until it has taken every signal that it was sent.
    pub(crate) fn has_heard_all(&self) {
        eventually("the last signal", || {
            self.status("ShdPnd:") == "0000000000000000"
        });
    }

    /// Waits until it waits, and has nothing left to do.
    pub(crate) fn is_asleep(&self) {
        eventually("its sleep", || self.is_idle());
    }

    /// How many processes of the namespace have not ended, but for its first.
    pub(crate) fn left(&self) -> usize {
        let mut known = vec![self.first];
        let mut left = 0;
        while let Some(pid) = known.pop() {
            for child in children(pid) {
                let state = line(child, "State:");
                left += usize::from(state.is_some_and(|state| !state.starts_with('Z')));
                known.push(child);
            }
        }
        left
    }

    /// Whether it waits, and did nothing since a moment ago.
    pub(crate) fn is_idle(&self) -> bool {
        is_idle(self.pid)
    }

    /// Whether the process that has this pid in the namespace is idle.
    pub(crate) fn is_idle_inside(&self, pid: i32) -> bool {
        self.outside(pid).is_some_and(is_idle)
    }

    /// How long it ran, in nanoseconds.
    pub(crate) fn used(&self) -> u64 {
        used(self.pid)
    }

    /// The pid out here of the process that has this one in there: its parents
    /// are known up to the first.
    fn outside(&self, pid: i32) -> Option<i32> {
        let mut known = vec![self.first];
        while let Some(outside) = known.pop() {
            let inside = line(outside, "NSpid:").unwrap_or_default();
            if inside.split_whitespace().next_back() == Some(&pid.to_string()) {
                return Some(outside);
            }
            known.extend(children(outside));
        }
        None
    }

    fn wait(&self) -> End {
        let mut status = 0;
        // SAFETY: the kernel writes one status.
        let pid = unsafe { libc::waitpid(self.first, &raw mut status, libc::__WALL) };
        assert_eq!(pid, self.first);
        if libc::WIFEXITED(status) {
            End::Code(libc::WEXITSTATUS(status))
        } else {
            End::Signal(libc::WTERMSIG(status))
        }
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        if self.role == Role::First && self.end.is_some() {
            return;
        }
        signal(&self.first_pidfd, libc::SIGKILL);
        self.wait();
    }
}

fn text(lines: &mut Lines) -> String {
    voice::levels(lines.all())
}

fn line(pid: i32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The children of a process with one thread.
fn children(pid: i32) -> Vec<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace();
    children.map(|child| child.parse().unwrap()).collect()
}

fn is_idle(pid: i32) -> bool {
    let before = used(pid);
    let state = line(pid, "State:").unwrap_or_default();
    std::thread::yield_now();
    state == "S (sleeping)" && used(pid) == before
}

fn used(pid: i32) -> u64 {
    let used = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let used = used.split_whitespace().next();
    used.map_or(0, |used| used.parse().unwrap())
}
