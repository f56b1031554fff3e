//! The last steps of the machine, taken by a child of PID 1.

use core::ffi::CStr;
use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::limits;
use crate::base::signal::Signal;
use crate::format::mountinfo::{self, Entry};
use crate::pid1::log::{Log, Part};
use crate::pid1::work::MOUNT_TABLE_BYTES;
use crate::pid1::{filesystems, holder};
use crate::policy::ending::{Ending, STEPS, Step};
use crate::sys::memory::Scratch;
use crate::sys::power::{self, Command};
use crate::sys::task::Board;
use crate::sys::{clock, files, kill, kmsg, mount};

/// Takes every step from `first` on, and shows on the board which one it is at.
/// Returns only when even the last step did not end the machine.
pub fn run(ending: Ending, first: Step, board: &Board, log: &Log) -> u8 {
    for step in STEPS.into_iter().filter(|step| *step >= first) {
        board.show(step.number());
        match step {
            Step::Kill => {
                let _ = kill::all(Signal::KILL);
                holder::wait_for_children();
            }
            Step::Unmount => {
                swap_off(log);
                unmount_all(log);
            }
            Step::Sync => mount::sync(),
            Step::Reboot => reboot(ending, log),
            Step::Force => force(ending),
        }
    }
    1
}

/// Takes what can be taken of one step without a child: for a machine that can
/// make no process. What may block is left out.
pub fn without_child(ending: Ending, step: Step, log: &Log) {
    match step {
        Step::Kill => {
            let _ = kill::all(Signal::KILL);
        }
        Step::Unmount | Step::Sync => {}
        Step::Reboot => reboot(ending, log),
        Step::Force => force(ending),
    }
}

fn reboot(ending: Ending, log: &Log) {
    let command = match ending {
        Ending::Halt => Command::Halt,
        Ending::PowerOff => Command::PowerOff,
        Ending::Reboot => Command::Restart,
        Ending::Kexec => {
            let mut loaded = [0; 8];
            let is_loaded = files::read(c"/sys/kernel/kexec_loaded", &mut loaded)
                .is_ok_and(|text| text.first() == Some(&b'1'));
            if is_loaded {
                let errno = power::reboot(Command::Kexec);
                log.failed(Level::Error, "start", b"the loaded kernel", errno);
            } else {
                log.say(
                    Level::Warning,
                    &[Part::Text("no kernel is loaded: rebooting")],
                );
            }
            Command::Restart
        }
    };
    let errno = power::reboot(command);
    log.failed(Level::Error, "reboot(2)", b"", errno);
}

/// Asks the kernel by `sysrq`, which asks no driver.
fn force(ending: Ending) {
    let letter = match ending {
        Ending::PowerOff => b"o",
        Ending::Reboot | Ending::Kexec => b"b",
        // There is no such letter; the machine is as good as halted.
        Ending::Halt => return,
    };
    let _ = files::write_existing(c"/proc/sysrq-trigger", letter);
}

fn swap_off(log: &Log) {
    let mut buffer = [0; 4096];
    let Ok(table) = files::read(c"/proc/swaps", &mut buffer) else {
        return;
    };
    // The first line is the heading.
    for line in table.split(|byte| *byte == b'\n').skip(1) {
        let name = line.split(|byte| *byte == b' ').next().unwrap_or_default();
        let mut path = [0; limits::PATH_BYTES];
        let Some(path) = c_path(name, &mut path) else {
            continue;
        };
        if !path.is_empty()
            && let Err(errno) = mount::swap_off(path)
        {
            log.failed(Level::Warning, "swap off", path.to_bytes(), errno);
        }
    }
}

/// Unmounts everything that is not the kernel's own, the deepest first; what is
/// busy becomes read-only.
fn unmount_all(log: &Log) {
    let Ok(mut scratch) = Scratch::new(MOUNT_TABLE_BYTES) else {
        return;
    };
    loop {
        match unmount_round(&mut scratch) {
            Round { left: 0, .. } => return,
            // Below what went away there may be more.
            Round { gone: 1.., .. } => {}
            Round { .. } => break,
        }
    }
    let Ok(table) = files::read(c"/proc/self/mountinfo", scratch.bytes()) else {
        return;
    };
    let mut is_written = false;
    for entry in lines(table).filter(must_go) {
        let mut path = [0; limits::PATH_BYTES];
        let Some(target) = c_path(entry.target, &mut path) else {
            continue;
        };
        // The root is always busy: PID 1 is in it.
        if target != c"/" {
            holder::say_busy(target, (entry.major, entry.minor), log);
        }
        match mount::remount_read_only(target) {
            Ok(()) => {}
            // A file is open for writing, by whatever it is that holds it.
            Err(Errno::EBUSY) => is_written = true,
            Err(errno) => log.failed(Level::Error, "remount read-only", target.to_bytes(), errno),
        }
    }
    if is_written {
        force_read_only(&mut scratch, log);
    }
}

/// How long the kernel may take to write down what is in its memory.
const FORCING: Duration = Duration::from_secs(5);

/// How often to look whether it has.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Has the kernel make every filesystem read-only, open files or not, and waits
/// until it has: it does so on the side (`sysrq` of `u`).
fn force_read_only(scratch: &mut Scratch, log: &Log) {
    let until = clock::now().after(FORCING);
    let mut result = files::write_existing(c"/proc/sysrq-trigger", b"u");
    while result.is_ok() {
        let Ok(table) = files::read(c"/proc/self/mountinfo", scratch.bytes()) else {
            return;
        };
        // What has no device of its own has nothing to lose.
        let is_writable =
            |entry: Entry<'_>| entry.major != 0 && !entry.super_options.starts_with(b"ro");
        if !lines(table).filter(must_go).any(is_writable) {
            return;
        }
        if clock::now() >= until {
            result = Err(Errno::ETIMEDOUT);
        }
        kmsg::pause(LOOK_AGAIN);
    }
    if let Err(errno) = result {
        log.failed(Level::Error, "make read-only", b"what is busy", errno);
    }
}

/// What one look at the mount table came to.
struct Round {
    /// Mounts that went away.
    gone: u32,
    /// Mounts that are still there, though they must go.
    left: u32,
}

/// Tries to unmount each mount that must go, the last first.
fn unmount_round(scratch: &mut Scratch) -> Round {
    let mut round = Round { gone: 0, left: 0 };
    let Ok(table) = files::read(c"/proc/self/mountinfo", scratch.bytes()) else {
        return round;
    };
    for line in table.rsplit(|byte| *byte == b'\n') {
        let Some(entry) = mountinfo::parse_line(line).filter(must_go) else {
            continue;
        };
        let mut path = [0; limits::PATH_BYTES];
        let gone =
            c_path(entry.target, &mut path).is_some_and(|target| target != c"/" && unmount(target));
        if gone {
            round.gone += 1;
        } else {
            round.left += 1;
        }
    }
    round
}

/// Unmounts one; whether it is gone. A process that was just killed may still be
/// on its way out: only if one is in the way is it waited for, since to look for
/// processes costs more than all the rest of an ending.
fn unmount(target: &CStr) -> bool {
    match mount::unmount(target) {
        Err(Errno::EBUSY) => {
            holder::wait_until_alone();
            mount::unmount(target).is_ok()
        }
        result => result.is_ok(),
    }
}

fn lines(table: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    table
        .split(|byte| *byte == b'\n')
        .filter_map(mountinfo::parse_line)
}

/// Whether a mount must go before the end: not one of the boot's, and not a root
/// that is memory.
fn must_go(entry: &Entry<'_>) -> bool {
    let is_of_the_boot = entry.target == b"/"
        || filesystems::TABLE
            .iter()
            .any(|filesystem| filesystem.target.to_bytes() == entry.target);
    !(is_of_the_boot && filesystems::is_pseudo(entry.kind))
}

/// A path of the kernel's tables as a C string.
fn c_path<'b>(raw: &[u8], buffer: &'b mut [u8]) -> Option<&'b CStr> {
    let length = mountinfo::unescape(raw, buffer)?.len();
    *buffer.get_mut(length)? = 0;
    CStr::from_bytes_until_nul(buffer).ok()
}
