//! What a child in flight has of its own in PID 1's memory.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;

use static_assertions::const_assert;

use super::child::{Cell, Plan};
use super::launch::PidText;
use crate::base::limits;
use crate::sys::clone::Stack;

/// Children that share memory at one time.
pub(super) const SLOTS: usize = 4;

/// A child's stack. System calls and a few frames, of which one has room for a
/// path; a debug build needs the most. It ends where the plan begins, on one page with
/// it: a child that needs little touches that page alone.
const STACK_BYTES: usize = 20 * 1024 - PLAN_BYTES;

/// Room for a plan and a cell.
const PLAN_BYTES: usize = 1024;

const_assert!(size_of::<Plan>() + size_of::<Cell>() <= PLAN_BYTES);

/// Bytes of the words that a slot holds; a program with more is forked.
const WORDS_BYTES: usize = 4 * 1024;

/// A child's own stack, plan and words.
#[repr(C, align(4096))]
pub(super) struct Slot {
    stack: UnsafeCell<MaybeUninit<[u8; STACK_BYTES]>>,
    pub(super) plan: UnsafeCell<MaybeUninit<Plan>>,
    /// The cell of a child whose process does nothing but wait for it.
    pub(super) cell: Cell,
    pub(super) arrays: UnsafeCell<Arrays>,
    pub(super) words: UnsafeCell<Words>,
}

/// The right to use the slots. There is one in the life of the process.
pub struct Slots(());

struct Pool([Slot; SLOTS]);

// SAFETY: PID 1 has one thread, and it touches a slot only when the slot's cell
// says that no child uses it.
unsafe impl Sync for Pool {}

static POOL: Pool = Pool(
    [const {
        Slot {
            stack: UnsafeCell::new(MaybeUninit::uninit()),
            plan: UnsafeCell::new(MaybeUninit::uninit()),
            cell: Cell::new(),
            arrays: UnsafeCell::new(Arrays::EMPTY),
            words: UnsafeCell::new(Words {
                bytes: [0; WORDS_BYTES],
                length: 0,
            }),
        }
    }; SLOTS],
);

impl Slots {
    /// The slots.
    ///
    /// # Safety
    ///
    /// Called once in the life of the process.
    pub const unsafe fn take() -> Self {
        Self(())
    }

    /// One of them, from 0.
    pub(super) fn get(&self, index: usize) -> &'static Slot {
        &POOL.0[index % SLOTS]
    }
}

impl Slot {
    /// The stack of a child whose cell is `in_flight`.
    pub(super) fn stack(&self, in_flight: &'static core::sync::atomic::AtomicU32) -> Stack {
        Stack {
            start: self.stack.get().cast(),
            length: STACK_BYTES,
            in_flight,
        }
    }
}

/// The addresses of a program's words, a null pointer behind the last.
pub(super) struct Arrays {
    pub(super) arguments: [*const u8; limits::WORDS + 1],
    pub(super) environment: [*const u8; limits::ENVIRONMENT + 1],
    /// Where the child writes its own pid, as an entry of its environment.
    pub(super) own_pid: PidText,
}

impl Arrays {
    pub(super) const EMPTY: Self = Self {
        arguments: [core::ptr::null(); limits::WORDS + 1],
        environment: [core::ptr::null(); limits::ENVIRONMENT + 1],
        own_pid: [0; _],
    };
}

/// The words of a program, copied so that they are the child's own.
pub(super) struct Words {
    pub(super) bytes: [u8; WORDS_BYTES],
    pub(super) length: usize,
}

impl Words {
    /// Copies a word; none when there is no room left.
    pub(super) fn keep(&mut self, word: &CStr) -> Option<*const u8> {
        let bytes = word.to_bytes_with_nul();
        let end = self.length.checked_add(bytes.len())?;
        let place = self.bytes.get_mut(self.length..end)?;
        place.copy_from_slice(bytes);
        self.length = end;
        Some(place.as_ptr())
    }
}
