//! The command's environment: host-init's own, with what the options change.

use core::ffi::CStr;

use crate::entrypoint::user::number_text;
use crate::format::options::persona::Persona;
use crate::format::options::{Options, Wish, entry_of, walk};
use crate::sys::arguments::{Arguments, Environment, Given};
use crate::sys::spawn::OwnPid;
use crate::sys::{Result, power};

/// The environment of the command; `home` is an entry for its user.
///
/// # Errors
///
/// When the kernel has no memory for it.
pub fn of(
    arguments: Arguments,
    persona: &Persona,
    options: &Options<'_>,
    home: Option<&'static CStr>,
) -> Result<Environment> {
    // Most have no such variable, and the kernel is not asked.
    let is_ours = |entry: &CStr| {
        entry_of(entry)
            .is_some_and(|(name, value)| own_pid(name).is_some() && is_pid(value.to_bytes()))
    };
    let has_ours = OwnPid::ALL.into_iter().any(|variable| {
        let name = variable.name().as_bytes();
        arguments.entries_with(name).any(is_ours)
    });
    if !options.changes_environment && home.is_none() && !has_ours {
        return Ok(arguments.inherited());
    }
    let changes = Changes { arguments, persona };
    let kept = arguments
        .environment()
        .filter(|entry| entry_of(entry).is_none_or(|(name, _)| !changes.has(name)))
        .filter(|entry| home.is_none() || !entry.to_bytes().starts_with(b"HOME="))
        .map(|entry| match entry_of(entry) {
            Some((name, _)) if is_ours(entry) => {
                own_pid(name).map_or(Given::Text(entry), Given::OwnPid)
            }
            _ => Given::Text(entry),
        });
    let home = home.filter(|_| !changes.has(b"HOME")).map(Given::Text);
    let added = arguments
        .words()
        .filter_map(|word| changes.added(word).map(Given::Text));
    let most = arguments.environment().count() + arguments.words().count() + 1;
    Environment::new(most, kept.chain(home).chain(added))
}

fn is_pid(text: &[u8]) -> bool {
    text == number_text(power::pid(), &mut [0; 10])
}

fn own_pid(name: &[u8]) -> Option<OwnPid> {
    OwnPid::ALL
        .into_iter()
        .find(|variable| variable.name().as_bytes() == name)
}

/// Where the command is looked for: its own `PATH`.
pub fn path(
    arguments: Arguments,
    persona: &Persona,
    options: &Options<'_>,
) -> Option<&'static CStr> {
    let value = |entry: &'static CStr| {
        entry_of(entry)
            .filter(|(name, _)| *name == b"PATH")
            .map(|(_, value)| value)
    };
    let inherited = || arguments.entries_with(b"PATH=").find_map(value);
    if !options.changes_environment {
        return inherited();
    }
    let changes = Changes { arguments, persona };
    match changes.last(b"PATH") {
        Some(change) => change.and_then(value),
        None => inherited(),
    }
}

/// What the options change, read anew each time: there is nowhere to keep it.
struct Changes<'p> {
    arguments: Arguments,
    persona: &'p Persona,
}

impl Changes<'_> {
    /// The last change of a variable: an entry, or none for one that is taken away.
    fn last(&self, wanted: &[u8]) -> Option<Option<&'static CStr>> {
        let mut last = None;
        // It was read before, and was right.
        let _ = walk(self.persona, self.arguments.words(), &mut |flag, value| {
            if let Some(value) = value {
                match flag.wish {
                    Wish::Env if entry_of(value).is_some_and(|(name, _)| name == wanted) => {
                        last = Some(Some(value));
                    }
                    Wish::UnsetEnv if value.to_bytes() == wanted => last = Some(None),
                    _ => {}
                }
            }
            Ok(())
        });
        last
    }

    fn has(&self, name: &[u8]) -> bool {
        self.last(name).is_some()
    }

    /// The entry that this word of the command line is or ends with, if it is what
    /// some variable is in the end.
    fn added(&self, word: &'static CStr) -> Option<&'static CStr> {
        let mut found = None;
        let _ = walk(self.persona, self.arguments.words(), &mut |flag, value| {
            if let Some(value) = value
                && flag.wish == Wish::Env
                && ends_with(word, value)
                && let Some((name, _)) = entry_of(value)
                && self.last(name) == Some(Some(value))
                && self
                    .last(name)
                    .flatten()
                    .is_some_and(|last| core::ptr::eq(last, value))
            {
                found = Some(value);
            }
            Ok(())
        });
        found
    }
}

/// Whether one string is the end of another, in memory.
fn ends_with(whole: &CStr, end: &CStr) -> bool {
    let whole = whole.to_bytes_with_nul().as_ptr_range();
    let end = end.to_bytes_with_nul().as_ptr_range();
    whole.end == end.end && whole.start <= end.start
}
