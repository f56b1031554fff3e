//! A child between its clone and its program: what it needs, and the steps it takes.
//!
//! It may share PID 1's memory: see the rules at the top of
//! [`spawn`](super).

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};

use super::launch::{Identity, OwnPid, PidText};
use super::slot::Arrays;
use super::{Inherited, Program, Stdio, search};
use crate::base::errno::Errno;
use crate::base::exit::{Failure, Step};
use crate::base::job::Job;
use crate::sys::call::{duplicate, execve, exit_group, set_signal_mask};
use crate::sys::{Result, fault, files, process, reason, signals, terminal};

/// What the child and PID 1 both see, also when the child is a fork.
pub(super) struct Cell {
    /// Not 0 while the child still shares the memory; the kernel clears it.
    pub(super) in_flight: AtomicU32,
    /// 0, or the step and errno of what failed: `step << 16 | errno`.
    failure: AtomicU32,
}

impl Cell {
    pub(super) const fn new() -> Self {
        Self {
            in_flight: AtomicU32::new(0),
            failure: AtomicU32::new(0),
        }
    }

    /// Nothing has failed.
    pub(super) fn clear(&self) {
        self.failure.store(0, Ordering::Relaxed);
    }

    /// What failed, if anything did.
    pub(super) fn failure(&self) -> Option<Failure> {
        let word = self.failure.load(Ordering::Acquire);
        let [low, high, step, _] = word.to_le_bytes();
        Some(Failure {
            step: Step::from_number(step)?,
            errno: Errno::from_number(u16::from_le_bytes([low, high])),
        })
    }
}

/// What a child needs, read only by it once it runs.
pub(super) struct Plan {
    pub(super) exec: Exec,
    pub(super) environment: *const *const u8,
    /// Where its pid is to be written, an entry of its environment; null for nowhere.
    pub(super) own_pid: *mut PidText,
    /// Null for the one that it finds itself in.
    pub(super) directory: *const u8,
    pub(super) stdio: Stdio,
    pub(super) job: Job,
    /// Whether standard input is a terminal, which is to be the program's.
    pub(super) has_terminal: bool,
    /// A descriptor, and the number that it is to have in the program.
    pub(super) passed: Option<(i32, i32)>,
    pub(super) identity: Option<Identity>,
    /// A control group to move into, when the kernel could not start it there.
    pub(super) cgroup: i32,
    pub(super) oom_score: Option<&'static [u8]>,
    pub(super) open_files: Option<u64>,
    /// The signal mask that the program gets.
    pub(super) mask: u64,
    /// Whether the program ignores its children's ends.
    pub(super) ignores_children: bool,
    /// Whether the texts of [`OwnPid`] are to have its pid: not but for the one child
    /// of an entrypoint.
    pub(super) tells_pid: bool,
    /// Whether PID 1's handlers of faults are the child's as well so far.
    pub(super) has_handlers: bool,
    pub(super) cell: &'static Cell,
}

/// How the child becomes its program.
#[derive(Clone, Copy)]
pub(super) enum Exec {
    /// The first word is a path.
    Path(*const *const u8),
    /// The first word is looked for in these directories, with colons between
    /// them.
    Search(*const *const u8, *const u8),
}

impl Plan {
    /// A plan for a service whose words `keep` makes last; none when they do not, or
    /// when the environment has more entries than fit: into `table`, if there is one.
    pub(super) fn new(
        program: &Program<'_>,
        arrays: &mut Arrays,
        table: Option<&mut [*const u8]>,
        cell: &'static Cell,
        mut keep: impl FnMut(&CStr) -> Option<*const u8>,
    ) -> Option<Self> {
        let own_pid = if program.has_watchdog_pid {
            &raw mut arrays.own_pid
        } else {
            core::ptr::null_mut()
        };
        let table = table.unwrap_or(&mut arrays.environment);
        Some(Self {
            exec: Exec::Path(pointers(
                &mut arrays.arguments,
                program.arguments,
                &mut keep,
            )?),
            environment: environment(table, program, own_pid, &mut keep)?,
            own_pid,
            directory: keep(program.directory)?,
            stdio: program.stdio,
            job: Job::Session,
            has_terminal: program.stdio == Stdio::Terminal,
            passed: program
                .passed
                .map(|passed| (passed.fd.as_raw_fd(), i32::from(passed.number))),
            identity: None,
            cgroup: -1,
            oom_score: program.oom_score,
            open_files: program.open_files,
            mask: 0,
            ignores_children: false,
            tells_pid: false,
            has_handlers: false,
            cell,
        })
    }
}

/// The strings' addresses and a null pointer behind the last.
fn pointers(
    array: &mut [*const u8],
    strings: &[&CStr],
    mut keep: impl FnMut(&CStr) -> Option<*const u8>,
) -> Option<*const *const u8> {
    let (end, places) = array.split_last_mut()?;
    let left = strings.len().min(places.len());
    for (place, string) in places.iter_mut().zip(strings) {
        *place = keep(string)?;
    }
    *places.get_mut(left).unwrap_or(end) = core::ptr::null();
    Some(array.as_ptr())
}

/// The addresses of an environment and a null pointer behind the last.
fn environment(
    array: &mut [*const u8],
    program: &Program<'_>,
    own_pid: *mut PidText,
    keep: &mut impl FnMut(&CStr) -> Option<*const u8>,
) -> Option<*const *const u8> {
    let (end, rest) = array.split_last_mut()?;
    let mut places = rest.iter_mut();
    for entry in program.environment {
        *places.next()? = keep(entry)?;
    }
    if !own_pid.is_null() {
        *places.next()? = own_pid.cast_const().cast();
    }
    for entry in program.inherited.iter().flat_map(Inherited::entries) {
        *places.next()? = entry.as_ptr().cast();
    }
    *places.next().unwrap_or(end) = core::ptr::null();
    Some(array.as_ptr())
}

/// The child's whole life before the program's.
///
/// # Safety
///
/// Called by a clone with a [`Plan`].
pub(super) unsafe extern "C" fn run(plan: *const u8) -> ! {
    // SAFETY: the spawner passes a plan that stays.
    let plan = unsafe { &*plan.cast::<Plan>() };
    let (step, errno) = become_program(plan);
    let word = u32::from(step.number()) << 16 | u32::from(errno.number());
    plan.cell.failure.store(word, Ordering::Release);
    exit_group(127)
}

/// Takes the steps in order; the one that failed, and why.
pub(super) fn become_program(plan: &Plan) -> (Step, Errno) {
    macro_rules! step {
        ($step:ident, $result:expr) => {
            if let Err(errno) = $result {
                return (Step::$step, errno);
            }
        };
    }
    if plan.has_handlers {
        fault::forget();
    }
    step!(Cgroup, enter_cgroup(plan.cgroup));
    step!(Session, begin_job(plan.job));
    step!(Stdin, set_stdio(plan.stdio));
    if plan.has_terminal {
        match take_terminal(plan.job) {
            // What was given need not be its to have.
            Err(_) if plan.stdio == Stdio::Inherited => {}
            taken => step!(Terminal, taken),
        }
    }
    // The number may be that of a descriptor which the steps before have needed, and
    // beyond the limit that the program gets.
    step!(Ready, pass(plan.passed));
    // Not worth the program's life: an unprivileged container may not set it.
    if let Some(score) = plan.oom_score {
        let _ = files::write_existing(c"/proc/self/oom_score_adj", score);
    }
    if let Some(soft) = plan.open_files {
        step!(Limits, limit_open_files(soft));
    }
    if let Some(identity) = &plan.identity {
        step!(Group, identity.take_groups());
        step!(User, identity.take_user());
    }
    if !plan.directory.is_null() {
        // SAFETY: the plan's strings are C strings that stay.
        let directory = unsafe { CStr::from_ptr(plan.directory.cast()) };
        step!(Directory, rustix::process::chdir(directory).map_err(reason));
    }
    if plan.tells_pid {
        for pid in OwnPid::ALL {
            // SAFETY: only the plan of `launch` asks for it, and this is its child.
            unsafe { pid.fill() };
        }
    }
    if !plan.own_pid.is_null() {
        // SAFETY: it is in the child's own slot, or in its own memory, and nobody reads
        // it yet.
        OwnPid::Watchdog.spell(unsafe { &mut *plan.own_pid });
    }
    if plan.ignores_children {
        step!(SignalMask, signals::ignore_children());
    }
    step!(SignalMask, set_signal_mask(plan.mask));
    let errno = match plan.exec {
        Exec::Path(words) => {
            // SAFETY: there is at least one word.
            let path = unsafe { words.read() };
            // SAFETY: each is a C string.
            let path = unsafe { CStr::from_ptr(path.cast()) };
            // SAFETY: both arrays end with a null pointer.
            unsafe { execve(path, words, plan.environment) }
        }
        // SAFETY: as above, and the path is a C string.
        Exec::Search(words, path) => unsafe { search::exec(words, path, plan.environment) },
    };
    (Step::Exec, errno)
}

fn enter_cgroup(directory: i32) -> Result<()> {
    if directory < 0 {
        return Ok(());
    }
    // SAFETY: PID 1 keeps the directory open while the child is in flight.
    let directory = unsafe { BorrowedFd::borrow_raw(directory) };
    match files::write_existing_at(directory, c"cgroup.procs", b"0") {
        // It has controllers for groups of its own, so that no process can be in it: as
        // when the kernel says so before there is a process, it does without.
        Err(Errno::EBUSY) => Ok(()),
        entered => entered,
    }
}

fn begin_job(job: Job) -> Result<()> {
    match job {
        Job::Session => rustix::process::setsid().map(drop).map_err(reason),
        Job::Group => rustix::process::setpgid(None, None).map_err(reason),
        Job::Shared => Ok(()),
    }
}

fn take_terminal(job: Job) -> Result<()> {
    match job {
        Job::Session => terminal::control(),
        Job::Group => terminal::bring_forward(process::pid()),
        Job::Shared => Ok(()),
    }
}

fn set_stdio(stdio: Stdio) -> Result<()> {
    let (input, output) = match stdio {
        Stdio::Inherited => return Ok(()),
        Stdio::OwnOutput => {
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

fn pass(passed: Option<(i32, i32)>) -> Result<()> {
    let Some((fd, number)) = passed else {
        return Ok(());
    };
    if fd == number {
        // SAFETY: PID 1 keeps it open until the child has its own copy.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        return rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()).map_err(reason);
    }
    duplicate(fd, number)
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
