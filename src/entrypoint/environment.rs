//! The command's environment: host-init's own, with what the options change.

use core::ffi::CStr;

use crate::entrypoint::user::number_text;
use crate::format::options::persona::Persona;
use crate::format::options::{Options, Wish, entry_of, walk};
use crate::sys::arguments::{Arguments, Environment, Given};
use crate::sys::memory::List;
use crate::sys::spawn::OwnPid;
use crate::sys::{Result, process};

/// The environment of the command; `home` is an entry for its user.
///
/// # Errors
///
/// When the kernel has no memory for it.
pub fn of(
    arguments: Arguments,
    changes: Option<&Changes>,
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
    if changes.is_none() && home.is_none() && !has_ours {
        return Ok(arguments.inherited());
    }
    let has = |name: &[u8]| changes.is_some_and(|changes| changes.of(name).is_some());
    let kept = arguments
        .environment()
        .filter(|entry| entry_of(entry).is_none_or(|(name, _)| !has(name)))
        .filter(|entry| home.is_none() || !entry.to_bytes().starts_with(b"HOME="))
        .map(|entry| match entry_of(entry) {
            Some((name, _)) if is_ours(entry) => {
                own_pid(name).map_or(Given::Text(entry), Given::OwnPid)
            }
            _ => Given::Text(entry),
        });
    let home = home.filter(|_| !has(b"HOME"));
    let added = changes.map_or(&[][..], Changes::added);
    let most = arguments.environment().count() + added.len() + 1;
    let added = home.into_iter().chain(added.iter().copied());
    Environment::new(most, kept.chain(added.map(Given::Text)))
}

fn is_pid(text: &[u8]) -> bool {
    text == number_text(process::pid(), &mut [0; 10])
}

fn own_pid(name: &[u8]) -> Option<OwnPid> {
    OwnPid::ALL
        .into_iter()
        .find(|variable| variable.name().as_bytes() == name)
}

/// Where the command is looked for: its own `PATH`.
pub fn path(arguments: Arguments, changes: Option<&Changes>) -> Option<&'static CStr> {
    let change = changes.and_then(|changes| changes.of(b"PATH"));
    let entry = change.or_else(|| arguments.entries_with(b"PATH=").next());
    entry.and_then(entry_of).map(|(_, path)| path)
}

/// What the options change, each variable once: an entry for one that is set, and the
/// name alone for one that is taken away.
pub struct Changes {
    /// In the order of the names.
    all: List<&'static CStr>,
    /// Those that are set, in the order of the command line.
    added: List<&'static CStr>,
}

impl Changes {
    /// The changes that the words ask for, which were read before and were right; none
    /// when there are none.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory for them.
    pub fn new(
        arguments: Arguments,
        persona: &Persona,
        options: &Options<'_>,
    ) -> Result<Option<Self>> {
        if !options.changes_environment {
            return Ok(None);
        }
        let most = arguments.words().count();
        let mut all = List::new(most)?;
        let mut added = List::new(most)?;
        let _ = walk(persona, arguments.words(), &mut |flag, value| {
            if let (Wish::Env | Wish::UnsetEnv, Some(value)) = (flag.wish, value) {
                all.push(value);
            }
            Ok(())
        });
        // The kernel puts one word behind the other, so that what is said later is
        // further on in memory. Of the same name, the last is first.
        all.values_mut().sort_unstable_by(|one, other| {
            let names = name_of(one).cmp(name_of(other));
            names.then(other.as_ptr().cmp(&one.as_ptr()))
        });
        let mut before: Option<&[u8]> = None;
        all.retain(|change| {
            let name = name_of(change);
            before.replace(name) != Some(name)
        });
        for entry in all.values() {
            if entry_of(entry).is_some() {
                added.push(*entry);
            }
        }
        added
            .values_mut()
            .sort_unstable_by_key(|entry: &&CStr| entry.as_ptr());
        Ok(Some(Self { all, added }))
    }

    /// What becomes of a variable, if that changes.
    fn of(&self, name: &[u8]) -> Option<&'static CStr> {
        let all = self.all.values();
        let place = all.binary_search_by(|change| name_of(change).cmp(name));
        all.get(place.ok()?).copied()
    }

    fn added(&self) -> &[&'static CStr] {
        self.added.values()
    }
}

/// The variable that a change is about.
fn name_of(change: &'static CStr) -> &'static [u8] {
    entry_of(change).map_or(change.to_bytes(), |(name, _)| name)
}
