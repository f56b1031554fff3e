//! The steps of the boot that can't block, in a straight line.

use core::ffi::CStr;
use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::limits;
use crate::format;
use crate::format::cmdline::{self, CommandLine, OnPanic};
use crate::pid1::config::Source;
use crate::pid1::emergency;
use crate::pid1::filesystems;
use crate::pid1::groups::Groups;
use crate::pid1::log::{Log, Part};
use crate::pid1::start::need;
use crate::pid1::upward;
use crate::policy::settings::{Facts, Hopeless, Manager, Role, Shell};
use crate::sys::arguments::Arguments;
use crate::sys::{Result, files, handover, network, power, process};

/// The limit of open files of PID 1 itself, and the hard limit of services.
const OPEN_FILES: u64 = 524_288;

/// What the boot has found and made.
pub struct Booted {
    /// What is known of the machine.
    pub facts: Facts,
    /// The config.
    pub config: Source,
    /// The services' groups.
    pub groups: Groups,
    /// Whoever runs the container; nobody runs a machine.
    pub manager: upward::Manager,
    /// The soft limit of open files that services get, as it was.
    pub open_files: Option<u64>,
}

/// Takes every step. One that fails is logged, and the next is taken.
pub fn boot(
    role: Role,
    arguments: Arguments,
    config: Option<&'static CStr>,
    log: &mut Log,
) -> Booted {
    let ((facts, config), socket) = match role {
        Role::Machine => (machine(arguments, log), None),
        Role::Container => {
            let socket = arguments.variable("NOTIFY_SOCKET");
            (container(arguments, config, log), socket)
        }
    };
    let mut groups = Groups::new();
    groups.open(role, handover::is_next_life(arguments), log);
    let open_files = match process::raise_open_files(OPEN_FILES) {
        Ok(before) => before,
        Err(errno) => {
            log.failed(Level::Info, "raise", b"limit of open files", errno);
            None
        }
    };
    Booted {
        facts,
        config,
        groups,
        manager: upward::Manager::new(socket),
        open_files,
    }
}

fn machine(arguments: Arguments, log: &mut Log) -> (Facts, Source) {
    filesystems::mount_all(log);
    for (target, path) in [
        (c"/proc/self/fd", c"/dev/fd"),
        (c"/proc/self/fd/0", c"/dev/stdin"),
        (c"/proc/self/fd/1", c"/dev/stdout"),
        (c"/proc/self/fd/2", c"/dev/stderr"),
    ] {
        if let Err(errno) = files::link(target, path) {
            log.failed(Level::Warning, "link", path.to_bytes(), errno);
        }
    }

    let mut buffer = [0; limits::COMMAND_LINE_BYTES];
    let text = files::read(c"/proc/cmdline", &mut buffer).unwrap_or_default();
    let line = CommandLine::parse(text);
    let hopeless = match line.panic {
        OnPanic::Absent => Hopeless::RestartAfter(Duration::from_millis(emergency::UNSAID.into())),
        OnPanic::Stay => Hopeless::Stay,
        OnPanic::After(wait) => Hopeless::RestartAfter(wait),
        OnPanic::AtOnce => Hopeless::RestartAfter(Duration::ZERO),
    };
    emergency::set_hopeless(hopeless);
    for warning in cmdline::warnings(text) {
        log.say(
            Level::Warning,
            &[
                Part::Text("kernel command line: "),
                Part::Bytes(warning.word.name),
                Part::Text(": expected "),
                Part::Text(warning.expected),
            ],
        );
    }

    let source = Source::new(line.config, line.log, arguments, log);
    let config = need("make the config", source, log);
    log.set_level(config.level());
    if let Some(name) = config.value().hostname
        && let Err(errno) = power::set_hostname(name.to_bytes())
    {
        log.failed(Level::Warning, "set hostname", name.to_bytes(), errno);
    }
    if let Err(errno) = network::bring_up_loopback() {
        log.failed(Level::Warning, "bring up", b"lo", errno);
    }
    let shell = match (files::is_program(c"/bin/sh"), line.rescue) {
        (false, _) => Shell::Missing,
        (true, false) => Shell::Spare,
        (true, true) => Shell::First,
    };
    let facts = Facts {
        role: Role::Machine,
        manager: Manager::Other,
        shell,
        hopeless,
    };
    (facts, config)
}

fn container(
    arguments: Arguments,
    config: Option<&'static CStr>,
    log: &mut Log,
) -> (Facts, Source) {
    let path = config
        .map(CStr::to_bytes)
        .or_else(|| arguments.variable("HOST_INIT_CONFIG"));
    let source = Source::new(path, None, arguments, log);
    let config = need("make the config", source, log);
    log.set_level(config.level());
    let manager = arguments.variable("container");
    // For those who ask, and may not look at PID 1's environment. Where it can't be
    // written, nobody can be told.
    let _ = write_manager(manager);
    let facts = Facts {
        role: Role::Container,
        manager: format::upward::manager(manager.unwrap_or_default()),
        shell: Shell::Missing,
        hopeless: Hopeless::Stay,
    };
    (facts, config)
}

/// Writes who runs the container into `/run/systemd/container`, where programs
/// look for it.
fn write_manager(name: Option<&[u8]>) -> Result<()> {
    let name = match name {
        Some(name) => name,
        None if files::exists(c"/run/.containerenv") => b"podman",
        None if files::exists(c"/.dockerenv") => b"docker",
        None => return Ok(()),
    };
    // The `/run` of a systemd, which some share with a container, is no container's.
    if files::exists(c"/run/systemd/system") {
        return Ok(());
    }
    files::make_directory(c"/run/systemd", 0o755)?;
    let directory = files::open_directory(c"/run/systemd")?;
    let mut line = heapless::Vec::<u8, 64>::new();
    line.extend_from_slice(name)
        .map_err(|_| Errno::ENAMETOOLONG)?;
    line.push(b'\n').map_err(|_| Errno::ENAMETOOLONG)?;
    files::replace(directory, c"container", c".container", &line)
}
