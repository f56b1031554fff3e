//! The environment variables of a launcher script, which fill what a config leaves out
//! that has `compat = "launcher"`.

use core::ffi::CStr;
use core::time::Duration;

use heapless::Vec;

use crate::format::config::value;
use crate::format::duration;

/// What the launcher would take its settings from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variables<'t> {
    /// The directory of its files.
    pub state: &'t CStr,
    /// The program of the host.
    pub program: &'t CStr,
    /// The program that takes the host back.
    pub rollback: &'t CStr,
    /// Failures in a row after which that is run.
    pub limit: u32,
    /// The wait after a failure.
    pub backoff: Duration,
    /// What was said in vain.
    pub wrong: Vec<Wrong, { NAMES.len() }>,
}

/// A variable that means nothing as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// Its name.
    pub name: &'static str,
    /// What would, and what is taken instead.
    pub words: &'static str,
}

/// Every variable of the launcher.
pub const NAMES: [&str; 6] = [STATE, LIBEXEC, PROGRAM, LIMIT, BACKOFF, ONCE];

const STATE: &str = "MESH_HOST_STATE_DIR";
const LIBEXEC: &str = "MESH_HOST_LIBEXEC";
const PROGRAM: &str = "MESH_HOST_BIN";
const LIMIT: &str = "MESH_HOST_START_LIMIT";
const BACKOFF: &str = "MESH_HOST_BACKOFF";
const ONCE: &str = "MESH_HOST_RUN_ONCE";

/// What the launcher runs below its directory of helpers.
const HELPER: &[u8] = b"/rollback";

impl Default for Variables<'_> {
    /// What counts where the environment says nothing.
    fn default() -> Self {
        Self {
            state: c"/var/lib/mesh-host",
            program: c"/usr/bin/nox-mesh-host",
            rollback: c"/usr/lib/nox-mesh-host/rollback",
            limit: 3,
            backoff: Duration::from_secs(5),
            wrong: Vec::new(),
        }
    }
}

impl<'t> Variables<'t> {
    /// Reads them: `find` gives the value of a variable, none when it is not there or
    /// empty. The paths are in `memory`, which needs [`Variables::bytes`].
    pub fn read<'e>(find: impl Fn(&str) -> Option<&'e [u8]>, memory: &'t mut [u8]) -> Self {
        let mut read = Self::default();
        let mut free = memory;
        let state = path(find(STATE), b"", &mut free);
        read.state = read.take(STATE, state, PATH).unwrap_or(read.state);
        let rollback = path(find(LIBEXEC), HELPER, &mut free);
        read.rollback = read.take(LIBEXEC, rollback, PATH).unwrap_or(read.rollback);
        let program = path(find(PROGRAM), b"", &mut free);
        read.program = read.take(PROGRAM, program, PATH).unwrap_or(read.program);
        let limit = find(LIMIT).map(|text| number(text, 1, 1000));
        let expected = "expected a whole number from 1 to 1000; 3 is used";
        read.limit = read.take(LIMIT, limit, expected).unwrap_or(read.limit);
        let backoff = find(BACKOFF).map(|text| {
            let seconds = number(text, 0, u32::MAX)?;
            let wait = Duration::from_secs(seconds.into());
            (wait <= duration::LONGEST).then_some(wait)
        });
        let expected = "expected a whole number of seconds; 5 is used";
        read.backoff = read
            .take(BACKOFF, backoff, expected)
            .unwrap_or(read.backoff);
        let once = find(ONCE).map(|_| None::<()>);
        read.take(ONCE, once, "means nothing; the host is started again");
        read
    }

    /// Bytes that the paths need.
    pub fn bytes<'e>(find: impl Fn(&str) -> Option<&'e [u8]>) -> usize {
        [STATE, LIBEXEC, PROGRAM]
            .into_iter()
            .filter_map(find)
            // A NUL each.
            .fold(HELPER.len(), |sum, value| {
                sum.saturating_add(value.len()).saturating_add(1)
            })
    }

    /// The value, if it was said and means something; notes it when it means nothing.
    fn take<T>(
        &mut self,
        name: &'static str,
        said: Option<Option<T>>,
        words: &'static str,
    ) -> Option<T> {
        let value = said?;
        if value.is_none() {
            // There is room for each of them.
            let _ = self.wrong.push(Wrong { name, words });
        }
        value
    }
}

/// What is said of a path that is none.
const PATH: &str = "expected an absolute path without \"..\"; the launcher's own is used";

/// A path, if one was said and it is one, kept with an end behind it.
fn path<'t>(said: Option<&[u8]>, end: &[u8], free: &mut &'t mut [u8]) -> Option<Option<&'t CStr>> {
    let said = said?;
    let is_path = core::str::from_utf8(said).is_ok_and(value::is_path);
    Some(if is_path {
        keep(&[said, end, b"\0"], free)
    } else {
        None
    })
}

/// The parts one behind the other, at the start of what is free.
fn keep<'t>(parts: &[&[u8]], free: &mut &'t mut [u8]) -> Option<&'t CStr> {
    let length = parts
        .iter()
        .fold(0_usize, |sum, part| sum.saturating_add(part.len()));
    let (kept, rest) = core::mem::take(free).split_at_mut_checked(length)?;
    *free = rest;
    for (place, byte) in kept.iter_mut().zip(parts.iter().copied().flatten()) {
        *place = *byte;
    }
    CStr::from_bytes_with_nul(kept).ok()
}

/// A decimal number from `least` to `most`.
fn number(text: &[u8], least: u32, most: u32) -> Option<u32> {
    // `parse` would take a sign.
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = core::str::from_utf8(text).ok()?.parse().ok()?;
    (least..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::config::{parse, parse_with};
    use crate::policy::config::Host;

    fn read<'t>(entries: &[(&str, &str)], memory: &'t mut [u8]) -> Variables<'t> {
        let find = |name: &str| {
            let entry = entries.iter().find(|(known, _)| *known == name);
            entry.map(|(_, value)| value.as_bytes())
        };
        // No more than it says that it needs.
        let memory = &mut memory[..Variables::bytes(find)];
        Variables::read(find, memory)
    }

    fn wrong(variables: &Variables<'_>) -> Vec<&'static str, 6> {
        variables.wrong.iter().map(|wrong| wrong.name).collect()
    }

    fn variables() -> Variables<'static> {
        Variables {
            state: c"/s",
            program: c"/b",
            rollback: c"/l/rollback",
            limit: 7,
            backoff: Duration::from_secs(120),
            wrong: Vec::new(),
        }
    }

    /// Looks at the host of a config; what is wrong with it otherwise.
    fn fill<T>(text: &str, look: impl FnOnce(&Host<'_>) -> T) -> Result<T, String> {
        let mut said = String::new();
        let mut arena = vec![0; text.len()];
        let config = parse_with(text.as_bytes(), &mut arena, &variables(), &mut |error| {
            said += &error.to_string();
        });
        match config {
            Some(config) => Ok(look(&config.host.unwrap())),
            None => Err(said),
        }
    }

    #[test]
    fn what_is_left_out_is_filled() {
        let text = "[host]\ncompat = \"launcher\"\n";

        fill(text, |host| {
            assert_eq!(host.command, [c"/b", c"run"]);
            assert_eq!(host.rollback, [c"/l/rollback"]);
            assert_eq!(host.launcher, Some(c"/s"));
            assert_eq!(host.start_limit, 7);
            // What it grows to is not less.
            assert_eq!(host.backoff, Duration::from_secs(120));
            assert_eq!(host.backoff_max, Duration::from_secs(120));
        })
        .unwrap();
    }

    #[test]
    fn what_is_written_is_stronger_also_when_it_is_the_default() {
        let seconds = Duration::from_secs;
        for (line, expected) in [
            ("backoff = \"1s\"", (7, seconds(1), seconds(60), 1)),
            ("backoff-max = \"60s\"", (7, seconds(60), seconds(60), 1)),
            ("backoff-max = \"5min\"", (7, seconds(120), seconds(300), 1)),
            ("start-limit = 2", (2, seconds(120), seconds(120), 1)),
            ("current = \"/c\"", (7, seconds(120), seconds(120), 0)),
            (
                "rollback = [\"/r\", \"a\"]",
                (7, seconds(120), seconds(120), 2),
            ),
        ] {
            let text = format!("[host]\ncompat = \"launcher\"\ncommand = [\"/mine\"]\n{line}\n");

            let found = fill(&text, |host| {
                assert_eq!(host.command, [c"/mine"]);
                let words = host.rollback.len();
                (host.start_limit, host.backoff, host.backoff_max, words)
            });

            assert_eq!(found, Ok(expected), "{line}");
        }
    }

    #[test]
    fn a_config_that_is_not_compatible_takes_nothing() {
        let text = "[host]\ncommand = [\"/mine\"]\n";
        let mut arena = vec![0; text.len()];
        let plain = parse(text.as_bytes(), &mut arena, &mut |error| panic!("{error}"));

        let same = fill(text, |host| plain.unwrap().host.as_ref() == Some(host));

        assert_eq!(same, Ok(true));
    }

    #[test]
    fn failures_that_are_not_counted_are_compatible_with_nothing() {
        let text = "[host]\ncompat = \"launcher\"\nstart-limit = 0\n";

        let said = fill(text, |_| ()).unwrap_err();

        assert!(
            said.contains("host.compat: expected start-limit above 0 beside it"),
            "{said}"
        );
    }

    #[test]
    fn what_is_not_said_is_the_launcher_s_own() {
        assert_eq!(read(&[], &mut [0; 9]), Variables::default());
    }

    #[test]
    fn each_variable_is_taken() {
        let mut memory = [0xff; 100];
        let entries = [
            (STATE, "/s"),
            (LIBEXEC, "/usr/libexec/host"),
            (PROGRAM, "/b"),
            (LIMIT, "7"),
            (BACKOFF, "0"),
        ];

        let variables = read(&entries, &mut memory);

        let expected = Variables {
            state: c"/s",
            program: c"/b",
            rollback: c"/usr/libexec/host/rollback",
            limit: 7,
            backoff: Duration::ZERO,
            wrong: Vec::new(),
        };
        assert_eq!(variables, expected);
    }

    #[test]
    fn what_means_nothing_is_noted_and_the_launcher_s_own_is_taken() {
        for (name, value) in [
            (STATE, "state"),
            (LIBEXEC, "/usr/../lib"),
            (PROGRAM, "nox-mesh-host"),
            (LIMIT, "0"),
            (LIMIT, "abc"),
            (LIMIT, "+3"),
            (LIMIT, "1001"),
            (LIMIT, "99999999999"),
            (BACKOFF, "soon"),
            (BACKOFF, "0.5"),
            (BACKOFF, "-1"),
            (BACKOFF, "31536001"),
            (ONCE, "1"),
        ] {
            let mut memory = [0; 100];

            let mut variables = read(&[(name, value)], &mut memory);

            assert_eq!(wrong(&variables), [name], "{value}");
            variables.wrong.clear();
            assert_eq!(variables, Variables::default(), "{name}={value}");
        }
    }
}
