//! The kernel command line: its words, and what host-init takes from them.
//!
//! Nothing here refuses to boot: a word that makes no sense is a [`Warning`].

mod word;

use core::time::Duration;

use crate::base::level::{LEVELS, Level};
use crate::base::limits;
pub use word::{Word, words};

/// What the command line asks of host-init.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CommandLine<'a> {
    /// `host_init.config=`: the config, by an absolute path.
    pub config: Option<&'a [u8]>,
    /// `host_init.log=`: the level, stronger than the config's.
    pub log: Option<Level>,
    /// `host_init.rescue`, or what a person types out of habit: `single`,
    /// `emergency`, `rescue`, `S`, `1`.
    pub rescue: bool,
    /// `panic=`: what the kernel does when it can't go on.
    pub panic: OnPanic,
}

/// What `panic=` says is to happen when the machine can't go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnPanic {
    /// Nothing was said.
    #[default]
    Absent,
    /// 0: stay as it is, for somebody to look at.
    Stay,
    /// A positive number: restart after so many seconds.
    After(Duration),
    /// A negative number: restart at once.
    AtOnce,
}

/// A word that was meant for host-init and makes no sense to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Warning<'a> {
    /// The word.
    pub word: Word<'a>,
    /// What would have made sense.
    pub expected: &'static str,
}

impl<'a> CommandLine<'a> {
    /// What `/proc/cmdline` asks for. The last word of a kind counts; one that
    /// makes no sense changes nothing and is one of [`warnings`].
    pub fn parse(text: &'a [u8]) -> Self {
        let mut line = Self::default();
        for word in words(text) {
            match meaning(word) {
                Ok(Meaning::Config(path)) => line.config = Some(path),
                Ok(Meaning::Log(level)) => line.log = Some(level),
                Ok(Meaning::Rescue(is_asked)) => line.rescue = is_asked,
                Ok(Meaning::Panic(panic)) => line.panic = panic,
                Ok(Meaning::Foreign) | Err(_) => {}
            }
        }
        line
    }
}

/// The words that were meant for host-init and make no sense.
pub fn warnings(text: &[u8]) -> impl Iterator<Item = Warning<'_>> {
    words(text).filter_map(|word| meaning(word).err())
}

/// What one word asks for.
enum Meaning<'a> {
    Config(&'a [u8]),
    Log(Level),
    Rescue(bool),
    Panic(OnPanic),
    /// Somebody else's.
    Foreign,
}

fn meaning(word: Word<'_>) -> Result<Meaning<'_>, Warning<'_>> {
    let warning = |expected| Warning { word, expected };
    if word.is_named(b"host_init.config") {
        word.value
            .filter(|path| path.starts_with(b"/") && path.len() < limits::PATH_BYTES)
            .map(Meaning::Config)
            .ok_or(warning("an absolute path"))
    } else if word.is_named(b"host_init.log") {
        LEVELS
            .iter()
            .find(|(name, _)| word.value == Some(name.as_bytes()))
            .map(|(_, level)| Meaning::Log(*level))
            .ok_or(warning("error, warning, notice, info or debug"))
    } else if word.is_named(b"host_init.rescue") {
        truth(word.value)
            .map(Meaning::Rescue)
            .ok_or(warning("nothing, 1 or 0"))
    } else if word.starts_with(b"host_init.") {
        Err(warning(
            "host_init.config, host_init.log or host_init.rescue",
        ))
    } else if word.is_named(b"panic") {
        on_panic(word.value)
            .map(Meaning::Panic)
            .ok_or(warning("a number of seconds"))
    } else if word.value.is_none() && is_plea(word.name) {
        Ok(Meaning::Rescue(true))
    } else {
        Ok(Meaning::Foreign)
    }
}

/// The words for a rescue that other inits taught people.
fn is_plea(name: &[u8]) -> bool {
    matches!(
        name,
        b"single" | b"emergency" | b"rescue" | b"S" | b"s" | b"1"
    )
}

/// A switch as the kernel reads one (`kstrtobool`); alone it is on.
fn truth(value: Option<&[u8]>) -> Option<bool> {
    match value {
        None | Some(b"1" | b"y" | b"Y" | b"yes" | b"on" | b"true") => Some(true),
        Some(b"0" | b"n" | b"N" | b"no" | b"off" | b"false") => Some(false),
        Some(_) => None,
    }
}

fn on_panic(value: Option<&[u8]>) -> Option<OnPanic> {
    let seconds: i32 = core::str::from_utf8(value?).ok()?.parse().ok()?;
    Some(match u64::try_from(seconds) {
        Ok(0) => OnPanic::Stay,
        Ok(seconds) => OnPanic::After(Duration::from_secs(seconds)),
        Err(_) => OnPanic::AtOnce,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_host_init_wants_is_found() {
        let line = CommandLine::parse(
            b"quiet console=tty0 console=ttyS0,115200n8 host_init.config=\"/a b.toml\" \
              host-init.log=debug panic=-1 host_init.rescue\n",
        );

        assert_eq!(
            line,
            CommandLine {
                config: Some(b"/a b.toml"),
                log: Some(Level::Debug),
                rescue: true,
                panic: OnPanic::AtOnce,
            }
        );
    }

    #[test]
    fn an_empty_line_asks_for_nothing() {
        assert_eq!(CommandLine::parse(b"\n"), CommandLine::default());
        assert_eq!(CommandLine::default().panic, OnPanic::Absent);
    }

    #[test]
    fn panic_is_a_number_with_three_meanings() {
        for (text, panic) in [
            ("panic=0", OnPanic::Stay),
            ("panic=-5", OnPanic::AtOnce),
            ("panic=30", OnPanic::After(Duration::from_secs(30))),
            ("panic=30 panic=x", OnPanic::After(Duration::from_secs(30))),
            ("panic", OnPanic::Absent),
            ("panic=99999999999", OnPanic::Absent),
            ("panic_on_warn=1", OnPanic::Absent),
        ] {
            assert_eq!(CommandLine::parse(text.as_bytes()).panic, panic, "{text}");
        }
    }

    #[test]
    fn the_habits_of_a_person_ask_for_a_rescue() {
        for text in [
            "single",
            "emergency",
            "rescue",
            "S",
            "s",
            "1",
            "host_init.rescue=on",
        ] {
            assert!(CommandLine::parse(text.as_bytes()).rescue, "{text}");
        }
        for text in [
            "1=1",
            "rescue=1",
            "-- single",
            "Single",
            "host_init.rescue=0",
            "11",
        ] {
            assert!(!CommandLine::parse(text.as_bytes()).rescue, "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_warned_of_and_changes_nothing() {
        let long = format!("host_init.config=/{}", "x".repeat(limits::PATH_BYTES));
        for text in [
            "host_init.config",
            "host_init.config=",
            "host_init.config=relative.toml",
            &long,
            "host_init.log=loud",
            "host-init.log",
            "host_init.rescue=maybe",
            "host_init.colour=red",
            "host_init.",
            "panic=soon",
        ] {
            let found: Vec<_> = warnings(text.as_bytes()).collect();

            assert_eq!(found.len(), 1, "{text}");
            assert!(!found[0].expected.is_empty());
            assert_eq!(CommandLine::parse(text.as_bytes()), CommandLine::default());
        }
        for text in [
            "quiet",
            "host_init",
            "loglevel=7",
            "-- host_init.colour=red",
        ] {
            assert_eq!(warnings(text.as_bytes()).count(), 0, "{text}");
        }
    }
}
