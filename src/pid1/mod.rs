//! Joins the rooms: the kernel's facts go to the policy, its actions to the kernel.
//!
//! [`main`] is the whole life of PID 1, in order: [`start`] makes the process
//! safe and finds out where it is, [`boot`] takes the steps that can't block,
//! [`events`] turns what happens into events, the policy's [`Machine`] turns
//! events into actions, and [`hands`] turns actions into system calls. There is
//! no rule of supervision in this room.
//!
//! - [`watch`]: the one wait point;
//! - [`processes`], [`groups`], [`program`]: what was started, and how;
//! - [`log`]: where messages go, and their words;
//! - [`filesystems`]: the pseudo filesystems, one table;
//! - [`config`]: the config file, read and held;
//! - [`work`]: what children do that may block: mounts, directories;
//! - [`keeper`]: what is kept of the host over power cuts, by children;
//! - [`compat`]: the same in the files of a launcher script;
//! - [`notices`], [`readiness`]: what the host says of itself;
//! - [`leave`], [`holder`]: the last steps, in a child;
//! - [`flags`]: what the kernel says of a process;
//! - [`status`]: what is told to others in `/run/host-init`;
//! - [`upward`]: what is told to whoever runs the container;
//! - [`emergency`]: when PID 1 itself is at fault.

#![forbid(unsafe_code)]

pub mod boot;
pub mod compat;
pub mod config;
pub mod emergency;
pub mod events;
pub mod filesystems;
pub mod flags;
pub mod groups;
pub mod hands;
pub mod holder;
pub mod keeper;
pub mod leave;
pub mod log;
pub mod notices;
pub mod processes;
pub mod program;
pub mod readiness;
pub mod start;
pub mod status;
pub mod upward;
pub mod watch;
pub mod work;

use core::ffi::CStr;

use crate::pid1::boot::Booted;
use crate::pid1::events::Events;
use crate::pid1::hands::Hands;
use crate::pid1::keeper::Keeper;
use crate::pid1::notices::Notices;
use crate::pid1::processes::Processes;
use crate::pid1::readiness::Readiness;
use crate::pid1::start::Started;
use crate::pid1::status::Status;
use crate::policy::event::{Action, Actions, Event};
use crate::policy::machine::Machine;
use crate::policy::settings::{Role, Settings};
use crate::sys::arguments::Arguments;
use crate::sys::spawn::Spawner;
use crate::sys::{clock, memory};

/// Bytes of stack that the boot may have used, given back after it.
const BOOT_STACK: usize = 256 * 1024;

/// The life of PID 1, in this role and with every signal blocked; a container's may have
/// been given a config. After [`Event::Booted`] nothing ends it but the ending that was
/// asked for.
pub fn main(
    role: Role,
    arguments: Arguments,
    config: Option<&'static CStr>,
    spawner: Spawner,
) -> ! {
    let mut hands = prepare(role, arguments, config, spawner);
    memory::give_back_stack(BOOT_STACK);
    let settings = Settings::new(hands.config.value(), hands.facts);
    let mut actions = Actions::new();
    let mut machine = match hands.adopt() {
        Some((host, mark)) => Machine::resume(settings, host, mark),
        None => {
            let mut machine = Machine::new(settings);
            // A container is what its config says: without, it is nothing.
            let event = if role == Role::Container && hands.config.is_built_in() {
                Event::BootFailed
            } else {
                Event::Booted
            };
            machine.handle(clock::now(), event, &mut actions);
            machine
        }
    };
    loop {
        while let Some(action) = actions.pop() {
            if let Action::Exit(_, code) = action {
                // There is no later for what is still to be told.
                hands.tell_exit(&machine, code);
            }
            if let Some(echo) = hands.perform(action, &machine) {
                machine.handle(clock::now(), echo, &mut actions);
            }
        }
        debug_assert_eq!(actions.lost(), 0, "an event has more actions than fit");
        hands.settle(&machine);
        let event = hands.next_event(machine.deadline());
        machine.handle(clock::now(), event, &mut actions);
    }
}

/// The start and the boot, whose stack is given back.
#[inline(never)]
fn prepare(
    role: Role,
    arguments: Arguments,
    config: Option<&'static CStr>,
    spawner: Spawner,
) -> Hands {
    let Started {
        mut log,
        watch,
        adopted,
    } = start::start(role, arguments);
    let Booted {
        facts,
        config,
        groups,
        manager,
        open_files,
    } = boot::boot(role, arguments, config, &mut log);
    Hands {
        log,
        watch,
        events: Events::default(),
        processes: Processes::new(),
        groups,
        board: spawner.board(),
        spawner,
        status: Status::default(),
        manager,
        config,
        facts,
        arguments,
        open_files,
        adopted,
        has_aside: true,
        keeper: Keeper::default(),
        notices: Notices::default(),
        readiness: Readiness::default(),
    }
}
