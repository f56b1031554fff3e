//! What each service runs: its words, environment and descriptors.

use core::ffi::CStr;

use heapless::Vec;

use crate::base::level::Level;
use crate::base::limits;
use crate::format::upward;
use crate::pid1::log::{Log, Part};
use crate::policy::config::{Config, Host, Output};
use crate::policy::event::ServiceId;
use crate::policy::settings::Role;
use crate::sys::arguments::Arguments;
use crate::sys::spawn::{Program, Stdio};

/// What a program finds in its environment when the config does not say else.
const ENVIRONMENT: [&CStr; 2] = [
    c"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    c"HOME=/",
];

/// The terminal's type, for a person's shell on the console.
const TERMINAL: &CStr = c"TERM=linux";

/// A person's shell.
const SHELL: [&CStr; 1] = [c"/bin/sh"];

/// Calls `run` with the program of a service; none when it has none.
pub fn with<R>(
    id: ServiceId,
    config: &Config<'_>,
    role: Role,
    inherited: Arguments,
    log: &Log,
    run: impl FnOnce(Program<'_>) -> R,
) -> Option<R> {
    let mut environment = Vec::new();
    match id {
        ServiceId::Host => {
            let host = config.host.as_ref()?;
            let _ = add_all(&mut environment, host.environment.iter().copied());
            let left_out = add_all(&mut environment, inherited_words(role, inherited));
            if left_out > 0 {
                log.say(
                    Level::Warning,
                    &[
                        Part::Text("host: entries of the environment left out: "),
                        Part::Number(left_out),
                    ],
                );
            }
            let _ = add_all(&mut environment, ENVIRONMENT.into_iter());
            Some(run(program(
                &host.command,
                &environment,
                host.directory,
                stdio(host, role),
                role,
            )))
        }
        ServiceId::Rescue => {
            let _ = add_all(&mut environment, ENVIRONMENT.into_iter());
            let _ = add_all(&mut environment, core::iter::once(TERMINAL));
            Some(run(program(
                &SHELL,
                &environment,
                c"/",
                Stdio::Terminal,
                role,
            )))
        }
    }
}

fn program<'a>(
    arguments: &'a [&'a CStr],
    environment: &'a [&'a CStr],
    directory: &'a CStr,
    stdio: Stdio,
    role: Role,
) -> Program<'a> {
    Program {
        arguments,
        environment,
        directory,
        stdio,
        cgroup: None,
        oom_score: match role {
            // PID 1 of a machine has taken itself out of the kernel's choice.
            Role::Machine => Some(b"0"),
            Role::Container => None,
        },
        open_files: None,
    }
}

/// What a container's environment says is for its program; the kernel makes one
/// for the machine out of words on its command line, which is for nobody.
fn inherited_words<'a>(role: Role, inherited: Arguments) -> impl Iterator<Item = &'a CStr> {
    let all = match role {
        Role::Machine => 0,
        Role::Container => usize::MAX,
    };
    inherited
        .environment()
        .take(all)
        .filter(|entry| !upward::is_own(name(entry)))
        .map(|entry| -> &'a CStr { entry })
}

/// Adds entries whose names are not there yet; how many do not fit. There is
/// always room for the built-in ones.
fn add_all<'a>(
    environment: &mut Vec<&'a CStr, { limits::ENVIRONMENT }>,
    entries: impl Iterator<Item = &'a CStr>,
) -> u64 {
    const BUILT_IN: usize = ENVIRONMENT.len() + 1;
    let mut left_out = 0_u64;
    for entry in entries {
        if environment.iter().any(|known| name(known) == name(entry)) {
            continue;
        }
        let is_built_in = ENVIRONMENT.contains(&entry) || entry == TERMINAL;
        let has_room = is_built_in || environment.len() + BUILT_IN < limits::ENVIRONMENT;
        if !has_room || environment.push(entry).is_err() {
            left_out += 1;
        }
    }
    left_out
}

fn name(entry: &CStr) -> &[u8] {
    entry
        .to_bytes()
        .split(|byte| *byte == b'=')
        .next()
        .unwrap_or_default()
}

/// A container's console is whatever it was given.
const fn stdio(host: &Host<'_>, role: Role) -> Stdio {
    match (host.output, role) {
        (Output::Console, Role::Machine) => Stdio::Console,
        (Output::Console, Role::Container) => Stdio::Inherit,
        (Output::Kmsg, _) => Stdio::Kmsg,
        (Output::Null, _) => Stdio::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_name_a_variable_wins() {
        let mut environment = Vec::new();

        let _ = add_all(&mut environment, [c"PATH=/mine", c"EMPTY="].into_iter());
        let _ = add_all(&mut environment, ENVIRONMENT.into_iter());

        assert_eq!(environment, [c"PATH=/mine", c"EMPTY=", c"HOME=/"]);
    }
}
