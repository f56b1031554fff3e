//! What each service runs: its words, environment and descriptors.

use core::ffi::CStr;

use heapless::Vec;

use crate::base::limits;
use crate::format::upward;
use crate::pid1::notices::Environment;
use crate::policy::config::{Config, Host, Output};
use crate::policy::event::ServiceId;
use crate::policy::settings::Role;
use crate::sys::arguments::Arguments;
use crate::sys::spawn::{Inherited, Program, Stdio};

/// What a program finds in its environment when the config does not say else.
pub const ENVIRONMENT: [&CStr; 2] = [
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
    heard: &Environment,
    run: impl FnOnce(Program<'_>) -> R,
) -> Option<R> {
    match id {
        ServiceId::Host => {
            let host = config.host.as_ref()?;
            let has = |entry: &CStr| {
                let is_the_configs = host.environment.iter().any(|own| name(own) == name(entry));
                !is_the_configs && !upward::is_own(name(entry))
            };
            // What a container's environment says is for its program; the kernel makes
            // one for the machine out of words on its command line, which is for nobody.
            let inherited = match role {
                Role::Machine => None,
                Role::Container => Some(Inherited {
                    from: inherited,
                    has: &has,
                }),
            };
            let environment = own(&host.environment, heard, |built_in| {
                let named = name(built_in);
                inherited.is_some_and(|inherited| {
                    let mut entries = inherited.from.environment();
                    entries.any(|entry| name(entry) == named)
                })
            });
            let has_pid = environment.iter().any(|own| name(own) == b"WATCHDOG_PID");
            Some(run(Program {
                inherited,
                has_watchdog_pid: heard.has_pid && !has_pid,
                ..program(
                    &host.command,
                    &environment,
                    host.directory,
                    stdio(host, role),
                    role,
                )
            }))
        }
        ServiceId::Rescue => {
            let [path, home] = ENVIRONMENT;
            let environment = [path, home, TERMINAL];
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
        inherited: None,
        has_watchdog_pid: false,
        passed: None,
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

/// The config's entries, and those that are there if nobody says else.
fn own<'a>(
    configured: &[&'a CStr],
    heard: &'a Environment,
    is_inherited: impl Fn(&CStr) -> bool,
) -> Vec<&'a CStr, { limits::WORDS + ENVIRONMENT.len() + 2 }> {
    let mut own = Vec::new();
    // There is room: a config has no more.
    let _ = own.extend_from_slice(configured);
    for entry in ENVIRONMENT.into_iter().chain(heard.entries()) {
        let is_there = own.iter().any(|known| name(known) == name(entry));
        if !is_there && (upward::is_own(name(entry)) || !is_inherited(entry)) {
            let _ = own.push(entry);
        }
    }
    own
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
        (Output::Console, Role::Container) => Stdio::OwnOutput,
        (Output::Kmsg, _) => Stdio::Kmsg,
        (Output::Null, _) => Stdio::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_elsewhere_is_not_built_in() {
        let nothing: fn(&CStr) -> bool = |_| false;
        let path: fn(&CStr) -> bool = |entry| name(entry) == b"PATH";

        let heard = Environment::default();
        let own = |configured, is_inherited| own(configured, &heard, is_inherited);
        assert_eq!(own(&[], nothing), ENVIRONMENT);
        assert_eq!(own(&[c"HOME=", c"A=b"], path), [c"HOME=", c"A=b"]);
        assert_eq!(own(&[c"PATH=/mine"], nothing), [c"PATH=/mine", c"HOME=/"]);
    }
}
