//! What children of PID 1 do at boot, since it may block or need not be waited for.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::limits;
use crate::format::mount_options::{self, flag};
use crate::format::mountinfo;
use crate::pid1::groups::Groups;
use crate::pid1::keeper::Keeper;
use crate::pid1::log::{Log, Part};
use crate::policy::config::{Config, Mount, Need};
use crate::policy::event::{Outcome, Task};
use crate::policy::machine::Machine;
use crate::policy::settings::Role;
use crate::sys::memory::Scratch;
use crate::sys::{Result, clock, files, kmsg, mount};

/// Does the work; the code to exit with, which [`outcome`] reads back.
pub fn run(
    task: Task,
    config: &Config<'_>,
    role: Role,
    keeper: &Keeper,
    machine: &Machine,
    log: &Log,
) -> u8 {
    let result = match task {
        Task::Mount(number) => match config.mounts.get(usize::from(number)) {
            Some(mount) => mount_entry(mount, log),
            None => Err(Errno::EINVAL),
        },
        Task::Directories => make_directories(config, log),
        Task::Attempt | Task::Remember | Task::TakeBack => match &config.host {
            Some(host) => keeper.work(task, host, role, machine, log),
            None => Err(Errno::EINVAL),
        },
    };
    match result {
        Ok(()) => 0,
        Err(errno) => u8::try_from(errno.number()).unwrap_or(u8::MAX),
    }
}

/// Does what the host need not wait for.
pub fn aside(groups: &Groups, role: Role, log: &Log) -> u8 {
    if role == Role::Machine {
        // The kernel drops more than ten lines in five seconds otherwise.
        let _ = files::write_existing(c"/proc/sys/kernel/printk_devkmsg", b"on\n");
        // The kernel never chooses PID 1 when memory ends; programs that choose
        // before it does read this.
        let _ = files::write_existing(c"/proc/1/oom_score_adj", b"-1000");
    }
    let taken = match role {
        Role::Machine => groups.take_init(),
        Role::Container => groups.take_all(),
    };
    if let Err(errno) = taken {
        log.failed(Level::Warning, "enter cgroup", b"init", errno);
    }
    0
}

/// How the work ended, from its exit code.
pub fn outcome(code: u8) -> Outcome {
    match code {
        0 => Outcome::Good,
        number => Outcome::Bad(Errno::from_number(u16::from(number))),
    }
}

fn mount_entry(entry: &Mount<'_>, log: &Log) -> Result<()> {
    let result = try_mount(entry);
    if let Err(errno) = result {
        let level = match entry.need {
            Need::Required => Level::Error,
            Need::Optional => Level::Warning,
        };
        say_failed(entry, errno, level, log);
    } else {
        log.say(
            Level::Info,
            &[
                Part::Text("mounted "),
                Part::Bytes(entry.target.to_bytes()),
                Part::Text(" from "),
                Part::Bytes(entry.source.to_bytes()),
            ],
        );
    }
    result
}

fn say_failed(entry: &Mount<'_>, errno: Errno, level: Level, log: &Log) {
    let target = Part::Bytes(entry.target.to_bytes());
    let source = Part::Bytes(entry.source.to_bytes());
    if errno == Errno::ETIMEDOUT && entry.wait > Duration::ZERO {
        log.say(
            level,
            &[
                Part::Text("mount "),
                target,
                Part::Text(": no such device "),
                source,
                Part::Text(" (waited "),
                Part::Number(entry.wait.as_secs()),
                Part::Text(" s)"),
            ],
        );
        return;
    }
    log.say(
        level,
        &[
            Part::Text("mount "),
            target,
            Part::Text(" from "),
            source,
            Part::Text(": "),
            Part::Reason(errno),
        ],
    );
}

fn try_mount(entry: &Mount<'_>) -> Result<()> {
    let until = clock::now().after(entry.wait);
    let mut buffer = [0; limits::PATH_BYTES];
    let (flags, options) =
        mount_options::parse(entry.options.to_bytes(), &mut buffer).ok_or(Errno::EINVAL)?;
    let is_bind = flags & flag::BIND != 0;
    let is_there = if is_bind {
        files::is_same(entry.source, entry.target)
    } else {
        is_mounted(entry)
    };
    if is_there {
        return Ok(());
    }
    if entry.source.to_bytes().starts_with(b"/") && !is_bind {
        let mut directory = [0; limits::PATH_BYTES];
        let directory = files::parent(entry.source, &mut directory)?;
        mount::wait_for_path(entry.source, directory, entry.wait)?;
    }
    files::make_directories(entry.target, 0o755)?;
    loop {
        match mount::mount(entry.source, entry.target, entry.kind, flags, options) {
            // A device has its name before it answers.
            Err(Errno::ENXIO) if clock::now() < until => kmsg::pause(LOOK_AGAIN),
            result => break result?,
        }
    }
    if is_bind && flags != flag::BIND {
        // A bind mount takes no other flags until it is there.
        let flags = flags | REMOUNT;
        mount::mount(entry.source, entry.target, entry.kind, flags, options)?;
    }
    Ok(())
}

/// How often to try a device that does not answer yet. The kernel tells nobody
/// when it does.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// `MS_REMOUNT`: change the flags of what is mounted.
const REMOUNT: u32 = 0x20;

/// Whether the entry is mounted already, as after a soft reboot.
fn is_mounted(entry: &Mount<'_>) -> bool {
    let Ok(mut scratch) = Scratch::new(MOUNT_TABLE_BYTES) else {
        return false;
    };
    let Ok(table) = files::read(c"/proc/self/mountinfo", scratch.bytes()) else {
        return false;
    };
    let mut path = [0; limits::PATH_BYTES];
    table
        .split(|byte| *byte == b'\n')
        .filter_map(mountinfo::parse_line)
        .any(|line| {
            line.kind == entry.kind.to_bytes()
                && mountinfo::unescape(line.target, &mut path) == Some(entry.target.to_bytes())
        })
}

/// Bytes of the mount table that are looked at: some thousand mounts.
pub const MOUNT_TABLE_BYTES: usize = 1024 * 1024;

fn make_directories(config: &Config<'_>, log: &Log) -> Result<()> {
    let mut result = Ok(());
    for directory in &config.directories {
        let made = files::make_directories(directory.path, directory.mode).and_then(|()| {
            files::own(directory.path, directory.mode, directory.uid, directory.gid)
        });
        if let Err(errno) = made {
            log.failed(Level::Error, "make", directory.path.to_bytes(), errno);
            result = Err(errno);
        }
    }
    result
}
