//! What PID 1 is started with.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::child::{Plan, block};
use crate::init::Init;
use crate::lines::Lines;
use crate::room::{Mount, Room};

/// What PID 1 is started with.
pub(crate) struct Start<'r> {
    pub(crate) room: &'r Room,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) mounts: Vec<Mount>,
    /// What 0, 1 and 2 are; closed where there is nothing.
    pub(crate) stdio: [Option<OwnedFd>; 3],
    said: Option<OwnedFd>,
    /// Other numbers under which `/dev/null` is open.
    pub(crate) open: Vec<RawFd>,
    pub(crate) signals: Signals,
    pub(crate) refused: Refused,
    pub(crate) core_bytes: libc::rlim_t,
    /// Whether it has a child that ended, from before it was host-init.
    pub(crate) has_zombie: bool,
}

/// What signals PID 1 inherits as blocked and ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signals {
    /// Neither: what every parent should give.
    Clean,
    /// All are blocked, so that one sent before PID 1 has begun waits for it.
    Blocked,
    /// All are blocked and ignored.
    Hostile,
}

/// What the kernel refuses to do, as another kernel would or on another day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// Nothing.
    Nothing,
    /// To tell of a released process how it ended (`PIDFD_GET_INFO`), so that
    /// children have to be waited for: kernels before 6.15.
    Ends,
    /// To make a process.
    Processes,
    /// `reboot(2)`, as to whoever has not the right.
    Reboot,
}

impl<'r> Start<'r> {
    pub(crate) fn new(room: &'r Room) -> Self {
        let (read, write) = pipe();
        let mut mounts = room.mounts();
        mounts.push(room.proc());
        Self {
            room,
            arguments: vec![c"/init".to_owned()],
            environment: vec![c"container=test".to_owned()],
            mounts,
            stdio: [Some(null()), Some(null()), Some(write)],
            said: Some(read),
            open: Vec::new(),
            signals: Signals::Clean,
            refused: Refused::Nothing,
            core_bytes: 0,
            has_zombie: false,
        }
    }

    /// With these arguments, the first of which is the program's name.
    pub(crate) fn arguments(mut self, words: &[&CStr]) -> Self {
        self.arguments = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// With this environment and no other.
    pub(crate) fn environment(mut self, entries: Vec<CString>) -> Self {
        self.environment = entries;
        self
    }

    /// With this descriptor as 0, 1 or 2, or closed.
    pub(crate) fn stdio(mut self, number: usize, fd: Option<OwnedFd>) -> Self {
        self.stdio[number] = fd;
        self
    }

    /// With `/dev/null` open under these numbers too.
    pub(crate) fn open(mut self, numbers: &[RawFd]) -> Self {
        self.open = numbers.to_vec();
        self
    }

    pub(crate) fn signals(mut self, signals: Signals) -> Self {
        self.signals = signals;
        self
    }

    pub(crate) fn refused(mut self, refused: Refused) -> Self {
        self.refused = refused;
        self
    }

    /// With room for core dumps of this size.
    pub(crate) fn core_bytes(mut self, bytes: libc::rlim_t) -> Self {
        self.core_bytes = bytes;
        self
    }

    /// With a child that has ended.
    pub(crate) fn with_zombie(mut self) -> Self {
        self.has_zombie = true;
        self
    }

    /// With no `/proc`.
    pub(crate) fn without_proc(mut self) -> Self {
        self.mounts.retain(|mount| mount.kind.as_c_str() != c"proc");
        self
    }

    /// With a root that can't be written, and no `/run` in it.
    pub(crate) fn read_only(mut self) -> Self {
        fs::remove_dir(self.room.path().join("run")).unwrap();
        self.mounts.push(self.room.read_only());
        self
    }

    /// Starts it.
    pub(crate) fn spawn(self) -> Init {
        let plan = Plan::new(&self);
        let mut pidfd: i32 = -1;
        // SAFETY: zeros are a value of these integers.
        let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
        let mut flags = libc::CLONE_PIDFD | libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        if plan.user.is_some() {
            flags |= libc::CLONE_NEWUSER;
        }
        arguments.flags = u64::try_from(flags).unwrap();
        arguments.pidfd = (&raw mut pidfd) as u64;
        arguments.exit_signal = u64::try_from(libc::SIGCHLD).unwrap();
        // A signal that is sent before the child has set its own is to wait.
        let before = block(u64::MAX);
        // SAFETY: the child has a copy of everything, and makes only system calls.
        let pid = unsafe {
            libc::syscall(
                libc::SYS_clone3,
                &raw const arguments,
                size_of::<libc::clone_args>(),
            )
        };
        if pid == 0 {
            plan.run();
        }
        block(before);
        assert!(
            pid > 0,
            "a pid namespace needs root or user namespaces: {}",
            std::io::Error::last_os_error()
        );
        // SAFETY: the kernel just made it for this process.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let said = self.said.map(|pipe| Lines::new("host-init", pipe));
        Init::new(i32::try_from(pid).unwrap(), pidfd, said)
    }
}

/// A pipe: its reader's end and its writer's.
pub(crate) fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0);
    // SAFETY: the kernel just made it for this process.
    let read = unsafe { OwnedFd::from_raw_fd(ends[0]) };
    // SAFETY: as above.
    let write = unsafe { OwnedFd::from_raw_fd(ends[1]) };
    (read, write)
}

pub(crate) fn null() -> OwnedFd {
    fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .unwrap()
        .into()
}
