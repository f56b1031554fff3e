//! What a config says, as plain values that borrow its text.
//!
//! `format::config` makes one from TOML; the rules of this room read it. Every
//! field is already checked: a value that could not be right does not exist.

use core::ffi::CStr;
use core::time::Duration;

use heapless::Vec;

use crate::base::level::Level;
use crate::base::limits;
use crate::base::signal::Signal;
use crate::policy::trial::OnHalt;

/// A whole config. `Config::default()` is what an image without one gets.
#[derive(Clone, PartialEq, Debug)]
pub struct Config<'t> {
    /// The name of the machine; none leaves the kernel's.
    pub hostname: Option<&'t CStr>,
    /// The least that matters enough to be logged.
    pub log_level: Level,
    /// Filesystems to mount, in this order.
    pub mounts: Vec<Mount<'t>, { limits::MOUNTS }>,
    /// Directories to make after the mounts, in this order.
    pub directories: Vec<Directory<'t>, { limits::DIRECTORIES }>,
    /// The program that the image exists for.
    pub host: Option<Host<'t>>,
    /// How long the last steps of an ending may take.
    pub shutdown: Shutdown,
    /// What the classic signals ask for.
    pub signals: Signals,
}

/// A filesystem to mount at boot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mount<'t> {
    /// A device by its path, or whatever the type calls its source.
    pub source: &'t CStr,
    /// An absolute path; made when it is not there.
    pub target: &'t CStr,
    /// The filesystem type, as in `/proc/filesystems`.
    pub kind: &'t CStr,
    /// Options with commas between them, as for `mount(8)`.
    pub options: &'t CStr,
    /// How long the device may take to appear.
    pub wait: Duration,
    /// What follows when it can't be mounted.
    pub need: Need,
}

/// What follows when a step of the boot fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The host can't be started without it: the rescue path.
    Required,
    /// It is logged, and the boot goes on.
    Optional,
}

/// A directory to make at boot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Directory<'t> {
    /// An absolute path; missing parents are made with mode 0755.
    pub path: &'t CStr,
    /// Permission bits, at most 0o7777; set also on a directory that is there.
    pub mode: u16,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

/// The program that the image exists for.
#[derive(Clone, PartialEq, Debug)]
pub struct Host<'t> {
    /// The program by an absolute path, then its arguments. Never empty.
    pub command: Vec<&'t CStr, { limits::WORDS }>,
    /// Entries of the environment, each `NAME=value`, added to the built-in
    /// ones and stronger than them.
    pub environment: Vec<&'t CStr, { limits::WORDS }>,
    /// The working directory.
    pub directory: &'t CStr,
    /// Where its standard output and error go.
    pub output: Output,
    /// What asks it to end.
    pub stop_signal: Signal,
    /// How long it may take to end before it is killed.
    pub stop_grace: Duration,
    /// The wait after the second failure in a row; it doubles with each.
    pub backoff: Duration,
    /// The most that the back-off grows to.
    pub backoff_max: Duration,
    /// An uptime after which the back-off starts over.
    pub backoff_reset: Duration,
    /// Failures in a row after which it is not started again; 0 for none.
    pub start_limit: u32,
    /// An uptime after which it is healthy.
    pub healthy_after: Duration,
    /// Where what must survive a power cut is kept: a file or a partition.
    pub record: Option<&'t CStr>,
    /// The link to the version that runs, when there are versions.
    pub current: Option<&'t CStr>,
    /// The command that takes a version back in place of the link, if there is one.
    pub rollback: Vec<&'t CStr, { limits::WORDS }>,
    /// How long that may take.
    pub rollback_timeout: Duration,
    /// What follows when there is nothing left to try.
    pub on_halt: OnHalt,
    /// When it is ready.
    pub ready: Ready,
    /// How long it may take to be.
    pub ready_timeout: Duration,
    /// How often it must be heard of; zero for as rarely as it likes.
    pub watchdog: Duration,
    /// Where the files of the launcher script are that it comes from, if it does.
    pub launcher: Option<&'t CStr>,
}

/// When the host is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// As soon as it is started.
    None,
    /// When it says so (`sd_notify(3)`).
    Notify,
    /// When it writes a newline to this descriptor, as s6 has it.
    Descriptor(u8),
}

/// Where a program's standard output and error go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// The console, or nowhere when there is none.
    Console,
    /// The kernel log, a record for each write.
    Kmsg,
    /// Nowhere.
    Null,
}

/// How long the last steps of an ending may take before they are given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shutdown {
    /// Swap off and unmount.
    pub unmount: Duration,
    /// `sync(2)`.
    pub sync: Duration,
}

/// What the classic signals ask for; the real-time signals are fixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signals {
    /// `TERM`.
    pub term: Asked,
    /// `INT`, which Ctrl-Alt-Del sends.
    pub int: Asked,
    /// `USR1`.
    pub usr1: Asked,
    /// `USR2`.
    pub usr2: Asked,
    /// `PWR`.
    pub pwr: Asked,
    /// `HUP`.
    pub hup: Asked,
}

/// What a signal may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Nothing.
    Ignore,
    /// Read the config again.
    Reload,
    /// Stop the CPU and leave the power on.
    Halt,
    /// Power off.
    PowerOff,
    /// Restart.
    Reboot,
    /// Start the kernel that `kexec_load(2)` left, else restart.
    Kexec,
}

impl Default for Config<'_> {
    /// The config of an image that has none.
    fn default() -> Self {
        Self {
            hostname: None,
            log_level: Level::Info,
            mounts: Vec::new(),
            directories: Vec::new(),
            host: None,
            shutdown: Shutdown::default(),
            signals: Signals::default(),
        }
    }
}

impl<'t> Host<'t> {
    /// A host with this program and the defaults of `docs/config.md`.
    pub fn new(command: Vec<&'t CStr, { limits::WORDS }>) -> Self {
        Self {
            command,
            environment: Vec::new(),
            directory: c"/",
            output: Output::Console,
            stop_signal: Signal::TERM,
            stop_grace: Duration::from_secs(10),
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(60),
            backoff_reset: Duration::from_secs(60),
            start_limit: 0,
            healthy_after: Duration::from_secs(60),
            record: None,
            current: None,
            rollback: Vec::new(),
            rollback_timeout: Duration::from_secs(300),
            on_halt: OnHalt::Stay,
            ready: Ready::None,
            ready_timeout: Duration::from_secs(90),
            watchdog: Duration::ZERO,
            launcher: None,
        }
    }
}

impl Host<'_> {
    /// Whether it has anything to say that would be heard.
    pub const fn is_heard(&self) -> bool {
        matches!(self.ready, Ready::Notify) || !self.watchdog.is_zero()
    }
}

impl Shutdown {
    /// What a config that says nothing gets.
    pub const BUILT_IN: Self = Self {
        unmount: Duration::from_secs(10),
        sync: Duration::from_secs(30),
    };
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::BUILT_IN
    }
}

impl Signals {
    /// The conventions of busybox, finit and procd, whose `reboot`, `halt` and
    /// `poweroff` send TERM, USR1 and USR2.
    pub const BUILT_IN: Self = Self {
        term: Asked::Reboot,
        int: Asked::Reboot,
        usr1: Asked::Halt,
        usr2: Asked::PowerOff,
        pwr: Asked::PowerOff,
        hup: Asked::Reload,
    };

    /// What they ask a container for: whoever runs one sends any of them to stop
    /// it, so that each ending is its exit. Only the real-time signals restart it,
    /// and INT where [`Manager`](crate::policy::settings::Manager) means that.
    #[must_use]
    pub const fn of_container(self) -> Self {
        Self {
            term: self.term.of_container(),
            int: self.int.of_container(),
            usr1: self.usr1.of_container(),
            usr2: self.usr2.of_container(),
            pwr: self.pwr.of_container(),
            hup: self.hup.of_container(),
        }
    }
}

impl Asked {
    pub(super) const fn of_container(self) -> Self {
        match self {
            Self::Ignore | Self::Reload => self,
            Self::Halt | Self::PowerOff | Self::Reboot | Self::Kexec => Self::PowerOff,
        }
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::BUILT_IN
    }
}
