//! What an init is started with.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::child::Plan;
use crate::init::{Init, Seen};
use crate::lines::Lines;
use crate::peer::Program;
use crate::place::Place;
use crate::system::{block, clone, null, owned, pipe};

/// Which process of a pid namespace the init is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// PID 1: what is lost comes to it, and the kernel keeps from it what would
    /// end it by default.
    First,
    /// PID 2, the child of a process that does nothing: an ordinary process. What
    /// it leaves is gone with the namespace.
    Ordinary,
}

pub(crate) const ROLES: [Role; 2] = [Role::First, Role::Ordinary];

/// What terminal it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Terminal {
    None,
    /// It leads the session that the terminal controls, and is in the foreground,
    /// as in `docker run -it`.
    Own,
    /// Its parent leads that session and brought it to the foreground, as a shell
    /// does.
    OfAnother,
    /// Its parent leads that session and is in the foreground itself, as a shell is
    /// that was told `&`.
    OfAnotherBehind,
    /// It leads the session, and another is in the foreground.
    Behind,
}

/// What signals it inherits as blocked and ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signals {
    pub(crate) blocked: u64,
    pub(crate) ignored: u64,
}

/// What an init is started with.
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) directory: PathBuf,
    pub(crate) role: Role,
    pub(crate) signals: Signals,
    /// What 0, 1 and 2 are; closed where there is nothing.
    pub(crate) stdio: [Option<OwnedFd>; 3],
    /// Where its output comes out, and its complaints.
    outputs: [Option<OwnedFd>; 2],
    /// Other numbers under which `/dev/null` is open.
    pub(crate) open: Vec<RawFd>,
    /// Whether it leads its session: what makes containers sees to that, a shell
    /// does not.
    pub(crate) leads: bool,
    /// What its standard input, output and error are, if a terminal.
    pub(crate) terminal: Terminal,
    /// A system call that a filter refuses, to it and to what it runs.
    pub(crate) refused: Option<u32>,
}

impl Start {
    /// An ordinary process with nothing unusual about it.
    pub(crate) fn new(place: &Place, program: &Program) -> Self {
        let (output, its_output) = pipe();
        let (complaints, its_complaints) = pipe();
        Self {
            program: program.path.clone(),
            arguments: vec![program.name.clone()],
            environment: vec![PATH.to_owned()],
            directory: place.path().to_owned(),
            role: Role::Ordinary,
            signals: Signals {
                blocked: 0,
                ignored: 0,
            },
            stdio: [Some(null()), Some(its_output), Some(its_complaints)],
            outputs: [Some(output), Some(complaints)],
            open: Vec::new(),
            leads: true,
            terminal: Terminal::None,
            refused: None,
        }
    }

    pub(crate) fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// With these words after its name, and after those it has.
    pub(crate) fn words<W: AsRef<OsStr>>(mut self, words: &[W]) -> Self {
        let words = words
            .iter()
            .map(|word| CString::new(word.as_ref().as_bytes()).unwrap());
        self.arguments.extend(words);
        self
    }

    /// With this in its environment too.
    pub(crate) fn variable(mut self, entry: &str) -> Self {
        self.environment.push(CString::new(entry).unwrap());
        self
    }

    /// With an environment of its own.
    pub(crate) fn environment(mut self, entries: Vec<CString>) -> Self {
        self.environment = entries;
        self
    }

    /// With these signals blocked.
    pub(crate) fn blocked(mut self, signals: u64) -> Self {
        self.signals.blocked = signals;
        self
    }

    /// With these signals ignored.
    pub(crate) fn ignored(mut self, signals: u64) -> Self {
        self.signals.ignored = signals;
        self
    }

    /// With this descriptor as 0, 1 or 2, or closed.
    pub(crate) fn stdio(mut self, number: usize, fd: Option<OwnedFd>) -> Self {
        self.stdio[number] = fd;
        if let Some(output) = number.checked_sub(1) {
            self.outputs[output] = None;
        }
        self
    }

    /// With a terminal as 0, 1 and 2.
    pub(crate) fn terminal(mut self, terminal: Terminal, fd: &OwnedFd) -> Self {
        for number in 0..3 {
            self = self.stdio(number, Some(fd.try_clone().unwrap()));
        }
        self.leads = !matches!(terminal, Terminal::OfAnother | Terminal::OfAnotherBehind);
        self.terminal = terminal;
        self
    }

    /// With a filter, as container runtimes install one, that refuses this call.
    pub(crate) fn refused(mut self, call: libc::c_long) -> Self {
        self.refused = Some(u32::try_from(call).unwrap());
        self
    }

    /// With `/dev/null` open under these numbers too.
    pub(crate) fn open(mut self, numbers: &[RawFd]) -> Self {
        self.open = numbers.to_vec();
        self
    }

    /// Starts it. It has executed its program when this returns.
    pub(crate) fn spawn(self) -> Init {
        let (ends, end) = pipe();
        let plan = Plan::new(&self, &end);
        let mut pidfd = -1;
        let mut flags = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        if plan.user.is_some() {
            flags |= libc::CLONE_NEWUSER;
        }
        if self.role == Role::First {
            // Until it has executed the init. One that stays as it is tells when
            // the init has been executed.
            flags |= libc::CLONE_VFORK;
        }
        // A signal that is sent before the child has set its own is to wait.
        let before = block(u64::MAX);
        // SAFETY: the child makes only system calls.
        let pid = unsafe { clone(flags, &mut pidfd) };
        if pid == 0 {
            plan.run();
        }
        block(before);
        assert!(
            pid > 0,
            "a pid namespace needs root or user namespaces: {}",
            std::io::Error::last_os_error()
        );
        let [output, complaints] = self.outputs;
        Init::new(
            self.role,
            pid,
            owned(pidfd),
            ends,
            [
                output.map(|pipe| Lines::new("standard output", pipe)),
                complaints.map(|pipe| Lines::new("standard error", pipe)),
            ],
        )
    }

    /// Starts it, and waits for its end.
    pub(crate) fn run(self) -> Seen {
        self.spawn().seen()
    }
}

/// Where programs are: this process's own may lead to where nobody else may go.
const PATH: &CStr = c"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
