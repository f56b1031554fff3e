//! Starts programs without suspending PID 1 and without copying its page tables.
//!
//! The child shares PID 1's memory (`CLONE_VM`) until it has become the program,
//! and PID 1 does not wait for it (no `CLONE_VFORK`): an exec that hangs on a
//! dead disk hangs alone. Each child in flight has a slot of its own: a stack, a
//! copy of the words it hands to the program, and a cell that the kernel clears
//! when the child has let go of the memory (`CLONE_CHILD_CLEARTID`). A child
//! that fails writes the step and the reason into its cell before it exits. When
//! every slot is in flight, or the words do not fit, the child is an ordinary
//! fork.
//!
//! # Safety
//!
//! - The child reads its slot and static data, and makes system calls. It writes its
//!   stack, its cell and its pid: in its slot or, as the one child of an entrypoint, in
//!   a static text ([`OwnPid`]). What else it needs to write is in a mapping of its own
//!   making. It has no other access to the memory that it shares.
//! - Every signal but those of faults is blocked before the child is made, and in the
//!   child until just before the exec. Then none has a handler, so that none runs
//!   in the shared memory: `clone3(2)` takes them away (`CLONE_CLEAR_SIGHAND`), after
//!   `clone(2)` the child itself does so first ([`fault`](super::fault)), and an
//!   entrypoint never had any. A handler that somebody's signal calls before that
//!   returns at once, and writes nothing but the child's stack.
//! - A core dump of the child would end all who share the memory on kernels before
//!   5.16. PID 1 is not dumpable, and so neither is the child
//!   ([`process::forbid_core_dumps`](super::process::forbid_core_dumps), which
//!   `pid1::start` calls). An entrypoint may be: with the child, its only one, its own
//!   life is over.
//! - Nobody traces the child of an entrypoint to get at the memory: who changes the
//!   user is not dumpable from then on (`PR_SET_DUMPABLE(2const)`), and whoever could
//!   trace it before could trace host-init.

mod child;
mod launch;
mod search;
mod slot;

use core::ffi::CStr;
use core::sync::atomic::Ordering;

use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::Result;
use super::arguments::Arguments;
use super::clone::{Child, Made, Stack, clone, clone3};
use super::memory::{Scratch, Zeroed, shared};
use super::task::Board;
use crate::base::errno::Errno;
use crate::base::exit::{Failure, Step};
use child::{Cell, Plan, run};
use slot::{Arrays, SLOTS};

pub use launch::{Command, Identity, Launched, OwnPid, launch};
pub use slot::Slots;

/// The control group that a program starts in.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// Its directory.
    pub directory: BorrowedFd<'a>,
    /// Whether the kernel may start a process in it; otherwise the process goes there by
    /// itself before anything else.
    pub may_start: bool,
}

/// A program to start.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    /// Its arguments; the first is the program itself, by an absolute path. What
    /// is beyond [`WORDS`](crate::base::limits::WORDS) is left out.
    pub arguments: &'a [&'a CStr],
    /// Entries of its environment.
    pub environment: &'a [&'a CStr],
    /// What it gets of PID 1's own environment beside them.
    pub inherited: Option<Inherited<'a>>,
    /// Whether it also gets [`OwnPid::Watchdog`].
    pub has_watchdog_pid: bool,
    /// Its working directory.
    pub directory: &'a CStr,
    /// Its three standard descriptors.
    pub stdio: Stdio,
    /// A descriptor that it gets besides those.
    pub passed: Option<Passed<'a>>,
    /// The control group it starts in.
    pub cgroup: Option<Group<'a>>,
    /// What it gets for `/proc/self/oom_score_adj`, if not what PID 1 has.
    pub oom_score: Option<&'static [u8]>,
    /// The soft limit of open files it gets, if not what PID 1 has.
    pub open_files: Option<u64>,
}

/// A descriptor that a program gets.
#[derive(Clone, Copy)]
pub struct Passed<'a> {
    /// PID 1's own.
    pub fd: BorrowedFd<'a>,
    /// Its number in the program.
    pub number: u8,
}

/// Entries of PID 1's own environment, as many as there are: they are where the
/// kernel put them, and stay there.
#[derive(Clone, Copy)]
pub struct Inherited<'a> {
    /// All of them.
    pub from: Arguments,
    /// Which of them the program gets.
    pub has: &'a dyn Fn(&CStr) -> bool,
}

impl Inherited<'_> {
    fn entries(&self) -> impl Iterator<Item = &'static CStr> {
        self.from.environment().filter(|entry| (self.has)(entry))
    }
}

/// Where a program's standard descriptors lead. Input is `/dev/null` unless it
/// has the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stdio {
    /// Output to the console, or nowhere when there is none.
    Console,
    /// Output to where PID 1's own goes.
    OwnOutput,
    /// Output to the kernel's log.
    Kmsg,
    /// Output to nowhere.
    Null,
    /// All three are the console, which is also its controlling terminal.
    Terminal,
    /// All three as this process has them.
    Inherited,
}

/// A process that was started.
pub struct Started {
    /// Its pid, in this process's namespace.
    pub pid: u32,
    /// A descriptor of the process (`pidfd_open(2)`), which never means another.
    pub pidfd: OwnedFd,
    /// Where the child leaves word of what failed.
    pub ticket: Ticket,
}

/// The right to ask [`Spawner::failure`] about one child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(u8);

/// Children whose word can be kept at one time: all that PID 1 ever has.
const CELLS: usize = 16;

/// What PID 1 and all of its children see, in one page.
struct Common {
    cells: [Cell; CELLS],
    board: Board,
}

// SAFETY: of integers, all zeros are a value.
unsafe impl Zeroed for Common {}

/// Becomes a program in a forked child of PID 1; what failed when it can't.
pub fn become_program(program: &Program<'_>) -> Failure {
    static CELL: Cell = Cell::new();
    let mut arrays = Arrays::EMPTY;
    let keep = |word: &CStr| Some(word.as_ptr().cast());
    match Plan::new(program, &mut arrays, None, &CELL, keep) {
        Some(plan) => {
            let (step, errno) = child::become_program(&Plan {
                has_handlers: true,
                ..plan
            });
            Failure { step, errno }
        }
        None => Failure {
            step: Step::Clone,
            errno: Errno::E2BIG,
        },
    }
}

/// Starts programs. There is one, and it is PID 1's.
pub struct Spawner {
    pool: Slots,
    common: &'static Common,
    /// Which cells have a ticket out.
    taken: u16,
    /// The cell of the child that each slot serves or served last.
    slots: [Option<u8>; SLOTS],
    way: Way,
}

/// What the kernel, or a filter before it, can do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// `clone(2)` only.
    Plain,
    /// `clone3(2)`.
    Clone3,
    /// And start a process in a control group (Linux 5.7).
    Grouped,
}

impl Spawner {
    /// A spawner with nothing in flight.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory for the cells.
    pub fn new(pool: Slots) -> Result<Self> {
        Ok(Self {
            common: shared::<Common>()?,
            taken: 0,
            slots: [None; SLOTS],
            way: Way::Grouped,
            pool,
        })
    }

    /// Where a forked child shows its progress.
    pub fn board(&self) -> &'static Board {
        &self.common.board
    }

    /// Starts a program; returns as soon as the process exists. Whether it ever
    /// became the program, [`Spawner::failure`] tells after its end.
    ///
    /// # Errors
    ///
    /// When there is no process: the kernel's limits, or all tickets are out.
    pub fn spawn(&mut self, program: Program<'_>) -> Result<Started> {
        if program.arguments.is_empty() {
            return Err(Errno::EINVAL);
        }
        let ticket = self.take_ticket().ok_or(Errno::EAGAIN)?;
        let started = self.start(ticket, program);
        if started.is_err() {
            self.give_back(ticket);
        }
        started
    }

    /// A ticket for a child of the life before, in which nothing failed.
    pub fn adopt(&mut self) -> Option<Ticket> {
        let ticket = self.take_ticket()?;
        self.cell(ticket).clear();
        Some(ticket)
    }

    /// Whether some child has not become its program yet, nor failed.
    pub fn is_in_flight(&self) -> bool {
        let cells = &self.common.cells;
        cells
            .iter()
            .any(|cell| cell.in_flight.load(Ordering::Acquire) != 0)
    }

    /// What failed before the child became its program, if anything did. Gives
    /// the ticket back: asked once, after the child's end.
    pub fn failure(&mut self, ticket: Ticket) -> Option<Failure> {
        self.give_back(ticket);
        self.cell(ticket).failure()
    }

    fn start(&mut self, ticket: Ticket, program: Program<'_>) -> Result<Started> {
        let cell = self.cell(ticket);
        cell.clear();
        if let Some(index) = self.free_slot() {
            let slot = self.pool.get(index);
            // SAFETY: no child uses the slot, and PID 1 has one thread.
            let words = unsafe { &mut *slot.words.get() };
            // SAFETY: as above.
            let arrays = unsafe { &mut *slot.arrays.get() };
            words.length = 0;
            if let Some(plan) = Plan::new(&program, arrays, None, cell, |word| words.keep(word)) {
                // SAFETY: as above.
                let place = unsafe { &mut *slot.plan.get() };
                let plan = place.write(plan);
                self.slots[index] = Some(ticket.0);
                cell.in_flight.store(1, Ordering::Relaxed);
                let stack = slot.stack(&cell.in_flight);
                let started = self.clone(plan, program.cgroup, Some(stack), ticket);
                if started.is_err() {
                    cell.in_flight.store(0, Ordering::Relaxed);
                }
                return started;
            }
        }
        // A fork has its own copy of the words as they are, and of a table as long as
        // it has to be.
        let inherited = program.inherited.iter().flat_map(Inherited::entries);
        let own_pid = usize::from(program.has_watchdog_pid);
        let entries = program.environment.len() + inherited.count() + own_pid;
        let mut memory = Scratch::new((entries + 1) * size_of::<*const u8>())?;
        let table = Some(memory.slice_of());
        let mut arrays = Arrays::EMPTY;
        let keep = |word: &CStr| Some(word.as_ptr().cast());
        let mut plan = Plan::new(&program, &mut arrays, table, cell, keep).ok_or(Errno::E2BIG)?;
        self.clone(&mut plan, program.cgroup, None, ticket)
    }

    /// Makes the process: sharing memory when it has a stack, else a fork.
    fn clone(
        &mut self,
        plan: &mut Plan,
        cgroup: Option<Group<'_>>,
        stack: Option<Stack>,
        ticket: Ticket,
    ) -> Result<Started> {
        loop {
            let way = self.way;
            let starts_there = way == Way::Grouped && cgroup.is_some_and(|group| group.may_start);
            plan.cgroup = match cgroup {
                Some(group) if !starts_there => group.directory.as_raw_fd(),
                Some(_) | None => -1,
            };
            plan.has_handlers = way == Way::Plain;
            let child = Child {
                stack,
                run,
                argument: (&raw const *plan).cast(),
            };
            let made = if way == Way::Plain {
                // SAFETY: the stack is a free slot's, and the plan stays until the
                // slot is free again. A fork has its own copy of everything.
                unsafe { clone(&child) }
            } else {
                let there = cgroup.filter(|_| starts_there);
                // SAFETY: as above.
                unsafe { clone3(&child, there.map(|group| group.directory)) }
            };
            self.way = match made {
                Ok(Made { pid, pidfd }) => return Ok(Started { pid, pidfd, ticket }),
                // A filter that can't see the flags lets none through.
                Err(Errno::ENOSYS | Errno::EPERM) if way > Way::Plain => Way::Plain,
                // A kernel before 5.7 does not know the flag, and one without
                // cgroup v2 does not know the directory.
                Err(Errno::EINVAL | Errno::E2BIG | Errno::EBADF | Errno::EOPNOTSUPP)
                    if starts_there =>
                {
                    Way::Clone3
                }
                Err(errno) => return Err(errno),
            };
        }
    }

    fn free_slot(&self) -> Option<usize> {
        self.slots.iter().position(|cell| {
            cell.is_none_or(|cell| self.cell(Ticket(cell)).in_flight.load(Ordering::Acquire) == 0)
        })
    }

    fn take_ticket(&mut self) -> Option<Ticket> {
        // A cell whose child never ended its exec is still in flight: its ticket
        // came back because the process was given up, and the cell must wait.
        let free = (0..CELLS).find(|index| {
            self.taken & (1 << index) == 0
                && self.common.cells[*index].in_flight.load(Ordering::Acquire) == 0
        })?;
        self.taken |= 1 << free;
        u8::try_from(free).ok().map(Ticket)
    }

    fn give_back(&mut self, ticket: Ticket) {
        self.taken &= !(1 << ticket.0);
    }

    fn cell(&self, ticket: Ticket) -> &'static Cell {
        &self.common.cells[usize::from(ticket.0) % CELLS]
    }
}
