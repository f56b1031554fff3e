//! Starts the one command of an entrypoint: with what host-init was given itself.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::Ordering;

use rustix::fd::OwnedFd;
use rustix::fs::{Gid, Uid};
use static_assertions::const_assert;

use super::Stdio;
use super::child::{Cell, Exec, Plan, run};
use super::slot::Slots;
use crate::base::exit::Failure;
use crate::base::job::Job;
use crate::base::limits;
use crate::sys::arguments::{Environment, Rest};
use crate::sys::clone::{Child, Made, clone};
use crate::sys::{Result, reason};

/// A command to start.
pub struct Command {
    /// Its words. The first is a path when there is a slash in it, else it is
    /// looked for.
    pub words: Rest,
    /// Where it is looked for: directories with colons between them.
    pub path: &'static CStr,
    /// Its environment.
    pub environment: Environment,
    /// Its working directory, if not host-init's. It is entered as the user.
    pub directory: Option<&'static CStr>,
    /// Its session and process group.
    pub job: Job,
    /// Whether standard input is a terminal, which is to be the command's.
    pub has_terminal: bool,
    /// Who it runs as, if not as host-init.
    pub identity: Option<Identity>,
    /// The signal mask it gets.
    pub mask: u64,
    /// Whether it ignores the ends of its children, as host-init was told to.
    pub ignores_children: bool,
}

/// Who a command runs as; what is none stays as it is.
#[derive(Clone, Copy)]
pub struct Identity {
    /// The user.
    pub user: Option<u32>,
    /// The group.
    pub group: Option<u32>,
    /// The supplementary groups, `count` of them.
    pub groups: [u32; limits::GROUPS],
    /// How many supplementary groups there are.
    pub count: usize,
}

/// The command's process.
pub struct Launched {
    /// Its pid, in this process's namespace.
    pub pid: u32,
    /// A descriptor of the process (`pidfd_open(2)`), which never means another.
    pub pidfd: OwnedFd,
    cell: &'static Cell,
}

/// Starts a command; returns as soon as the process exists. It has all the open
/// descriptors of this process that are not closed by an exec. Whether it ever
/// became the command, [`Launched::failure`] tells after its end.
///
/// # Errors
///
/// When there is no process: the kernel's limits.
pub fn launch(slots: Slots, command: &Command) -> Result<Launched> {
    let slot = slots.get(0);
    // SAFETY: no child uses the slot, and this process has one thread.
    let place = unsafe { &mut *slot.plan.get() };
    let plan = place.write(Plan {
        exec: Exec::Search(command.words.pointers(), command.path.as_ptr().cast()),
        environment: command.environment.pointers(),
        own_pid: core::ptr::null_mut(),
        directory: command
            .directory
            .map_or(core::ptr::null(), |path| path.as_ptr().cast()),
        stdio: Stdio::Inherited,
        job: command.job,
        has_terminal: command.has_terminal,
        passed: None,
        identity: command.identity,
        cgroup: -1,
        oom_score: None,
        open_files: None,
        mask: command.mask,
        ignores_children: command.ignores_children,
        has_handlers: false,
        tells_pid: command.environment.tells_pid(),
        cell: &slot.cell,
    });
    slot.cell.in_flight.store(1, Ordering::Relaxed);
    let child = Child {
        stack: Some(slot.stack(&slot.cell.in_flight)),
        run,
        argument: (&raw const *plan).cast(),
    };
    // SAFETY: the child has a stack and a plan of its own, and writes nothing else
    // but its cell and the texts of its pid. What it reads stays as long as the
    // process. The slots went with it, so that none is used again.
    let Made { pid, pidfd } = unsafe { clone(&child) }?;
    Ok(Launched {
        pid,
        pidfd,
        cell: &slot.cell,
    })
}

impl Launched {
    /// What failed before the child became its command, if anything did.
    pub fn failure(&self) -> Option<Failure> {
        self.cell.failure()
    }
}

impl Identity {
    pub(super) fn take_groups(&self) -> Result<()> {
        let mut groups = [Gid::ROOT; limits::GROUPS];
        for (place, group) in groups.iter_mut().zip(self.groups) {
            *place = Gid::from_raw(group);
        }
        // Also when there are none: those of host-init are not the command's.
        let groups = groups.get(..self.count).unwrap_or_default();
        rustix::thread::set_thread_groups(groups).map_err(reason)?;
        match self.group {
            Some(group) => rustix::thread::set_thread_gid(Gid::from_raw(group)).map_err(reason),
            None => Ok(()),
        }
    }

    pub(super) fn take_user(&self) -> Result<()> {
        match self.user {
            Some(user) => rustix::thread::set_thread_uid(Uid::from_raw(user)).map_err(reason),
            None => Ok(()),
        }
    }
}

/// The variables that say for which process others are meant
/// (`sd_listen_fds(3)`, `sd_watchdog_enabled(3)`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OwnPid {
    /// `LISTEN_PID`.
    Listen,
    /// `WATCHDOG_PID`.
    Watchdog,
}

impl OwnPid {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Listen, Self::Watchdog];

    /// The variable's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Listen => "LISTEN_PID",
            Self::Watchdog => "WATCHDOG_PID",
        }
    }

    /// Where the entry is, which the child is to write: only it knows its pid before
    /// it is the command.
    pub(in crate::sys) fn entry(self) -> *const u8 {
        self.text().0.get().cast_const().cast()
    }

    /// Writes the entry with the pid of this process, where all who share its memory
    /// have it.
    ///
    /// # Safety
    ///
    /// Called by the child of [`launch`] alone, which is the only one, before its exec:
    /// nobody else has the text by then.
    pub(super) unsafe fn fill(self) {
        // SAFETY: the caller is the only one who has it.
        self.spell(unsafe { &mut *self.text().0.get() });
    }

    /// Writes an entry with the pid of this process into memory of the caller's.
    pub(super) fn spell(self, text: &mut PidText) {
        // There may be a longer one there of a child before.
        *text = [0; TEXT_BYTES];
        let name = self.name();
        let mut rest = rustix::process::getpid().as_raw_pid().unsigned_abs();
        let (head, value) = text.split_at_mut(name.len());
        head.copy_from_slice(name.as_bytes());
        let (equals, digits) = value.split_at_mut(1);
        equals.fill(b'=');
        let count = rest.checked_ilog10().unwrap_or(0) as usize + 1;
        for place in digits.iter_mut().take(count).rev() {
            *place = b"0123456789"[rest as usize % 10];
            rest /= 10;
        }
    }

    fn text(self) -> &'static Text {
        &TEXTS[self as usize]
    }
}

/// An entry of the environment, the terminating NUL included.
struct Text(UnsafeCell<PidText>);

// SAFETY: the text is written by the one child between its clone and its exec, and
// read by nobody before.
unsafe impl Sync for Text {}

/// A name, `=`, the digits of a pid and at least one NUL.
pub(super) type PidText = [u8; TEXT_BYTES];

/// Room for the longest name, `=`, the digits of a pid and a NUL.
const TEXT_BYTES: usize = 32;

const_assert!("WATCHDOG_PID=2147483647".len() < TEXT_BYTES);

static TEXTS: [Text; OwnPid::ALL.len()] =
    [const { Text(UnsafeCell::new([0; TEXT_BYTES])) }; OwnPid::ALL.len()];
