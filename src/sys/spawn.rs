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
//! - The child reads its slot and static data, writes its stack and its cell,
//!   and makes system calls; it has no other access to PID 1's memory.
//! - Every signal but those of faults is blocked until just before the exec, and
//!   none has a handler in the child (`CLONE_CLEAR_SIGHAND`), so that nothing runs
//!   in the shared memory; and PID 1 is not dumpable
//!   ([`power::forbid_core_dumps`](super::power::forbid_core_dumps)), so that a core dump
//!   of the child, which would end all who share the memory on kernels before
//!   5.16, can't start.

mod child;

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use linux_raw_sys::general as raw;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use static_assertions::const_assert_eq;

use super::Result;
use super::arch::clone3_into;
use super::arguments::Arguments;
use super::call::answered;
use super::memory::{Scratch, Zeroed, shared};
use super::task::Board;
use crate::base::errno::Errno;
use crate::base::exit::{Failure, Step};
use child::{Cell, Plan, WORDS_BYTES, Words, run};

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
    /// Its working directory.
    pub directory: &'a CStr,
    /// Its three standard descriptors.
    pub stdio: Stdio,
    /// The control group it starts in: the directory.
    pub cgroup: Option<BorrowedFd<'a>>,
    /// What it gets for `/proc/self/oom_score_adj`, if not what PID 1 has.
    pub oom_score: Option<&'static [u8]>,
    /// The soft limit of open files it gets, if not what PID 1 has.
    pub open_files: Option<u64>,
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
    Inherit,
    /// Output to the kernel's log.
    Kmsg,
    /// Output to nowhere.
    Null,
    /// All three are the console, which is also its controlling terminal.
    Terminal,
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

/// Children that share memory at one time.
const SLOTS: usize = 4;

/// Children whose word can be kept at one time: all that PID 1 ever has.
const CELLS: usize = 16;

/// A child's stack. System calls and a few frames; a debug build needs the most.
const STACK_BYTES: usize = 16 * 1024;

/// What PID 1 and all of its children see, in one page.
struct Common {
    cells: [Cell; CELLS],
    board: Board,
}

// SAFETY: of integers, all zeros are a value.
unsafe impl Zeroed for Common {}

#[repr(align(16))]
struct Slot {
    stack: UnsafeCell<MaybeUninit<[u8; STACK_BYTES]>>,
    plan: UnsafeCell<MaybeUninit<Plan>>,
    words: UnsafeCell<Words>,
}

struct Slots([Slot; SLOTS]);

// SAFETY: PID 1 has one thread, and it touches a slot only when the slot's cell
// says that no child uses it.
unsafe impl Sync for Slots {}

static POOL: Slots = Slots(
    [const {
        Slot {
            stack: UnsafeCell::new(MaybeUninit::uninit()),
            plan: UnsafeCell::new(MaybeUninit::uninit()),
            words: UnsafeCell::new(Words {
                bytes: [0; WORDS_BYTES],
                length: 0,
            }),
        }
    }; SLOTS],
);

const_assert_eq!(size_of::<raw::clone_args>(), 88);

/// Starts programs. There is one, and it is PID 1's.
pub struct Spawner {
    common: &'static Common,
    /// Which cells have a ticket out.
    taken: u16,
    /// The cell of the child that each slot serves or served last.
    slots: [Option<u8>; SLOTS],
    /// Whether the kernel can start a process in a control group (Linux 5.7).
    starts_in_cgroup: bool,
}

impl Spawner {
    /// A spawner with nothing in flight.
    ///
    /// # Safety
    ///
    /// Called once in the life of the process: the slots are one pool.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory for the cells.
    pub unsafe fn new() -> Result<Self> {
        Ok(Self {
            common: shared::<Common>()?,
            taken: 0,
            slots: [None; SLOTS],
            starts_in_cgroup: true,
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
        self.cell(ticket).failure.store(0, Ordering::Relaxed);
        Some(ticket)
    }

    /// Whether some child has not become its program yet, nor failed.
    pub fn is_in_flight(&self) -> bool {
        let cells = self.common.cells.iter();
        cells
            .into_iter()
            .any(|cell| cell.in_flight.load(Ordering::Acquire) != 0)
    }

    /// What failed before the child became its program, if anything did. Gives
    /// the ticket back: asked once, after the child's end.
    pub fn failure(&mut self, ticket: Ticket) -> Option<Failure> {
        let word = self.cell(ticket).failure.load(Ordering::Acquire);
        self.give_back(ticket);
        let [low, high, step, _] = word.to_le_bytes();
        Some(Failure {
            step: Step::from_number(step)?,
            errno: Errno::from_number(u16::from_le_bytes([low, high])),
        })
    }

    fn start(&mut self, ticket: Ticket, program: Program<'_>) -> Result<Started> {
        let cell = self.cell(ticket);
        cell.failure.store(0, Ordering::Relaxed);
        if let Some(index) = self.free_slot() {
            let slot = &POOL.0[index];
            // SAFETY: no child uses the slot, and PID 1 has one thread.
            let words = unsafe { &mut *slot.words.get() };
            words.length = 0;
            if let Some(plan) = Plan::new(&program, cell, None, |word| words.keep(word)) {
                // SAFETY: as above.
                let place = unsafe { &mut *slot.plan.get() };
                let plan = place.write(plan);
                self.slots[index] = Some(ticket.0);
                cell.in_flight.store(1, Ordering::Relaxed);
                let stack = slot.stack.get().cast::<u8>();
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
        let entries = program.environment.len() + inherited.count();
        let mut table = Scratch::new((entries + 1) * size_of::<*const u8>())?;
        let table = Some(table.slice_of());
        let keep = |word: &CStr| Some(word.as_ptr().cast());
        let mut plan = Plan::new(&program, cell, table, keep).ok_or(Errno::E2BIG)?;
        self.clone(&mut plan, program.cgroup, None, ticket)
    }

    /// Makes the process: sharing memory when it has a stack, else a fork.
    fn clone(
        &mut self,
        plan: &mut Plan,
        cgroup: Option<BorrowedFd<'_>>,
        stack: Option<*mut u8>,
        ticket: Ticket,
    ) -> Result<Started> {
        let mut pidfd: i32 = -1;
        let mut flags = u64::from(raw::CLONE_PIDFD) | raw::CLONE_CLEAR_SIGHAND;
        if stack.is_some() {
            flags |= u64::from(raw::CLONE_VM | raw::CLONE_CHILD_CLEARTID);
        }
        let mut arguments = raw::clone_args {
            flags,
            pidfd: (&raw mut pidfd).addr() as u64,
            child_tid: (&raw const plan.cell.in_flight).addr() as u64,
            parent_tid: 0,
            exit_signal: u64::from(raw::SIGCHLD),
            stack: stack.map_or(0, |stack| stack.addr() as u64),
            stack_size: stack.map_or(0, |_| STACK_BYTES as u64),
            tls: 0,
            set_tid: 0,
            set_tid_size: 0,
            cgroup: 0,
        };
        let pid = loop {
            match cgroup {
                Some(cgroup) if self.starts_in_cgroup => {
                    arguments.flags |= raw::CLONE_INTO_CGROUP;
                    arguments.cgroup = cgroup.as_raw_fd() as u64;
                    plan.cgroup = -1;
                }
                Some(cgroup) => {
                    arguments.flags &= !raw::CLONE_INTO_CGROUP;
                    arguments.cgroup = 0;
                    plan.cgroup = cgroup.as_raw_fd();
                }
                None => {}
            }
            // SAFETY: the arguments are a clone_args; the stack is a free slot's,
            // and the plan stays until the slot is free again. A fork has its own
            // copy of everything.
            let answer = unsafe {
                clone3_into(
                    (&raw const arguments).cast(),
                    size_of::<raw::clone_args>(),
                    run,
                    (&raw const *plan).cast(),
                )
            };
            match answered(answer) {
                Ok(pid) => break pid,
                // A kernel before 5.7 does not know the flag, and one without
                // cgroup v2 does not know the directory.
                Err(Errno::EINVAL | Errno::E2BIG | Errno::EBADF | Errno::EOPNOTSUPP)
                    if self.starts_in_cgroup && cgroup.is_some() =>
                {
                    self.starts_in_cgroup = false;
                }
                Err(errno) => return Err(errno),
            }
        };
        Ok(Started {
            pid: u32::try_from(pid).unwrap_or(0),
            // SAFETY: the kernel just made it for this process.
            pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) },
            ticket,
        })
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
