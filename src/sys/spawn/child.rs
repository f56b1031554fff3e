//! A child between its clone and its program: what it needs, and the steps it takes.
//!
//! It may share PID 1's memory: see the rules at the top of
//! [`spawn`](super).

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};

use super::{Inherited, Program, Stdio};
use crate::base::errno::Errno;
use crate::base::exit::Step;
use crate::base::limits;
use crate::sys::call::{execve, exit_group, set_signal_mask};
use crate::sys::{Result, files, reason};

/// Bytes of the words that a slot holds; a program with more is forked.
pub(super) const WORDS_BYTES: usize = 4 * 1024;

/// What the child and PID 1 both see, also when the child is a fork.
pub(super) struct Cell {
    /// Not 0 while the child still shares the memory; the kernel clears it.
    pub(super) in_flight: AtomicU32,
    /// 0, or the step and errno of what failed: `step << 16 | errno`.
    pub(super) failure: AtomicU32,
}

/// What a child needs, read only by it once it runs.
pub(super) struct Plan {
    pub(super) arguments: [*const u8; limits::WORDS + 1],
    pub(super) environment: [*const u8; limits::ENVIRONMENT + 1],
    /// The environment, when it is not that one.
    pub(super) table: *const *const u8,
    pub(super) directory: *const u8,
    pub(super) stdio: Stdio,
    /// A control group to move into, when the kernel could not start it there.
    pub(super) cgroup: i32,
    pub(super) oom_score: Option<&'static [u8]>,
    pub(super) open_files: Option<u64>,
    pub(super) cell: &'static Cell,
}

/// The words of a program, copied so that they are the child's own.
pub(super) struct Words {
    pub(super) bytes: [u8; WORDS_BYTES],
    pub(super) length: usize,
}

impl Plan {
    /// A plan whose words `keep` makes last; none when they do not, or when the
    /// environment has more entries than fit: into `table`, if there is one.
    pub(super) fn new(
        program: &Program<'_>,
        cell: &'static Cell,
        table: Option<&mut [*const u8]>,
        mut keep: impl FnMut(&CStr) -> Option<*const u8>,
    ) -> Option<Self> {
        let mut environment = [core::ptr::null(); limits::ENVIRONMENT + 1];
        let start = table
            .as_ref()
            .map_or(core::ptr::null(), |table| table.as_ptr());
        let places = table.unwrap_or(&mut environment);
        fill(places, program, &mut keep)?;
        Some(Self {
            arguments: pointers(program.arguments, &mut keep)?,
            environment,
            table: start,
            directory: keep(program.directory)?,
            stdio: program.stdio,
            cgroup: -1,
            oom_score: program.oom_score,
            open_files: program.open_files,
            cell,
        })
    }
}

impl Words {
    pub(super) fn keep(&mut self, word: &CStr) -> Option<*const u8> {
        let bytes = word.to_bytes_with_nul();
        let end = self.length.checked_add(bytes.len())?;
        let place = self.bytes.get_mut(self.length..end)?;
        place.copy_from_slice(bytes);
        self.length = end;
        Some(place.as_ptr())
    }
}

/// The strings' addresses and a null pointer behind the last.
fn pointers<const N: usize>(
    strings: &[&CStr],
    keep: &mut impl FnMut(&CStr) -> Option<*const u8>,
) -> Option<[*const u8; N]> {
    let mut pointers = [core::ptr::null(); N];
    for (place, string) in pointers.iter_mut().take(N - 1).zip(strings) {
        *place = keep(string)?;
    }
    Some(pointers)
}

/// Fills in the addresses of an environment; none when there is no room for a null
/// pointer behind the last.
fn fill(
    places: &mut [*const u8],
    program: &Program<'_>,
    keep: &mut impl FnMut(&CStr) -> Option<*const u8>,
) -> Option<()> {
    let (_, places) = places.split_last_mut()?;
    let mut places = places.iter_mut();
    for entry in program.environment {
        *places.next()? = keep(entry)?;
    }
    for entry in program.inherited.iter().flat_map(Inherited::entries) {
        *places.next()? = entry.as_ptr().cast();
    }
    Some(())
}

/// The child's whole life before the program's.
///
/// # Safety
///
/// Called by `clone3_into` with a [`Plan`].
pub(super) unsafe extern "C" fn run(plan: *const u8) -> ! {
    // SAFETY: the spawner passes a plan that stays.
    let plan = unsafe { &*plan.cast::<Plan>() };
    let (step, errno) = become_program(plan);
    let word = u32::from(step.number()) << 16 | u32::from(errno.number());
    plan.cell.failure.store(word, Ordering::Release);
    exit_group(127)
}

/// Takes the steps in order; the one that failed, and why.
fn become_program(plan: &Plan) -> (Step, Errno) {
    macro_rules! step {
        ($step:ident, $result:expr) => {
            if let Err(errno) = $result {
                return (Step::$step, errno);
            }
        };
    }
    step!(Cgroup, enter_cgroup(plan.cgroup));
    step!(Session, rustix::process::setsid().map(drop).map_err(reason));
    step!(Stdin, set_stdio(plan.stdio));
    if plan.stdio == Stdio::Terminal {
        // SAFETY: `set_stdio` made it valid.
        let terminal = unsafe { BorrowedFd::borrow_raw(0) };
        step!(
            Terminal,
            rustix::process::ioctl_tiocsctty(terminal).map_err(reason)
        );
    }
    // Not worth the program's life: an unprivileged container may not set it.
    if let Some(score) = plan.oom_score {
        let _ = files::write_existing(c"/proc/self/oom_score_adj", score);
    }
    if let Some(soft) = plan.open_files {
        step!(Limits, limit_open_files(soft));
    }
    // SAFETY: the plan's strings are C strings that stay.
    let directory = unsafe { CStr::from_ptr(plan.directory.cast()) };
    step!(Directory, rustix::process::chdir(directory).map_err(reason));
    step!(SignalMask, set_signal_mask(0));
    // SAFETY: as above.
    let path = unsafe { CStr::from_ptr(plan.arguments[0].cast()) };
    let environment = if plan.table.is_null() {
        plan.environment.as_ptr()
    } else {
        plan.table
    };
    // SAFETY: both arrays end with a null pointer.
    let errno = unsafe { execve(path, plan.arguments.as_ptr(), environment) };
    (Step::Exec, errno)
}

fn enter_cgroup(directory: i32) -> Result<()> {
    if directory < 0 {
        return Ok(());
    }
    // SAFETY: PID 1 keeps the directory open while the child is in flight.
    let directory = unsafe { BorrowedFd::borrow_raw(directory) };
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file =
        rustix::fs::openat(directory, c"cgroup.procs", flags, Mode::empty()).map_err(reason)?;
    rustix::io::write(&file, b"0").map(drop).map_err(reason)
}

fn set_stdio(stdio: Stdio) -> Result<()> {
    let (input, output) = match stdio {
        Stdio::Inherit => {
            let input = open_stdio(c"/dev/null", OFlags::RDWR)?;
            return rustix::stdio::dup2_stdin(&input).map_err(reason);
        }
        Stdio::Terminal => (c"/dev/console", None),
        Stdio::Console => (c"/dev/null", Some((c"/dev/console", OFlags::RDWR))),
        Stdio::Kmsg => (c"/dev/null", Some((c"/dev/kmsg", OFlags::WRONLY))),
        Stdio::Null => (c"/dev/null", None),
    };
    let opened = open_stdio(input, OFlags::RDWR)?;
    rustix::stdio::dup2_stdin(&opened).map_err(reason)?;
    // An output that can't be had is nowhere: the input, which is /dev/null.
    let output = output.and_then(|(path, flags)| open_stdio(path, flags).ok());
    let output = output.as_ref().unwrap_or(&opened);
    rustix::stdio::dup2_stdout(output).map_err(reason)?;
    rustix::stdio::dup2_stderr(output).map_err(reason)
}

fn open_stdio(path: &CStr, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(reason)
}

fn limit_open_files(soft: u64) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = Rlimit {
        current: Some(soft),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    setrlimit(Resource::Nofile, limit).map_err(reason)
}
