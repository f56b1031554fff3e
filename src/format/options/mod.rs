//! The command line of an entrypoint: host-init's own, and those of its peers.
//!
//! One walk ([`walk`]) reads them all, the way `getopt(3)` does: options end at
//! `--` or at the first word that is none, which is the command. What an option is
//! called stands in a table for each [`persona`]; what it means, in [`Options`].

mod own;
pub mod persona;
#[cfg(test)]
mod tests;
mod value;

use crate::base::job::Job;
use crate::base::signal::Signal;
use crate::policy::entrypoint::{Others, Rules, Target};
use core::ffi::CStr;
use persona::{Persona, Voice, When};

/// What an option asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Forward to the command's process group.
    Group,
    /// The session and process group of the command.
    Job,
    /// No session, and signals to the command alone.
    Single,
    /// What the command gets instead of TERM.
    StopSignal,
    /// When it is killed.
    KillAfter,
    /// Stop what the command leaves, and wait for it.
    Wait,
    /// Forward a signal as another.
    Rewrite,
    /// Make an exit code another.
    RemapExit,
    /// A signal to host-init when its parent ends.
    ParentDeath,
    /// Adopt orphans, also without being PID 1.
    Subreaper,
    /// Who the command runs as.
    User,
    /// Where the command runs.
    Directory,
    /// A variable of the command's environment.
    Env,
    /// A variable that the command does not get.
    UnsetEnv,
    /// Tell of each orphan.
    WarnReaped,
    /// Say more.
    Verbose,
    /// How much is said.
    Verbosity,
    /// Say only what is fatal.
    Quiet,
    /// Run nothing, and wait for a signal.
    Pause,
    /// A variable that is not to be set.
    Reserved,
    /// The config of a container.
    Config,
    /// Run nothing, and print something.
    Print(Print),
}

impl Wish {
    /// Print the help.
    pub(crate) const HELP: Self = Self::Print(Print::Help);

    /// Print the version.
    pub(crate) const VERSION: Self = Self::Print(Print::Version);

    /// Print the licence.
    pub(crate) const LICENSE: Self = Self::Print(Print::License);

    /// What its value is to be, for a message.
    pub const fn expected(self) -> Option<&'static str> {
        match self {
            Self::Job => Some("session, group or none"),
            Self::StopSignal | Self::ParentDeath => Some("a signal such as TERM or 15"),
            Self::KillAfter => Some("a time such as 5s or 250ms"),
            Self::Rewrite => Some("signals such as TERM:QUIT or 15:3"),
            Self::RemapExit => Some("exit codes such as 143 or 143:0"),
            Self::Env => Some("NAME=VALUE"),
            Self::UnsetEnv => Some("a name"),
            Self::Config => Some("an absolute path"),
            Self::Group
            | Self::Single
            | Self::Wait
            | Self::Subreaper
            | Self::User
            | Self::Directory
            | Self::WarnReaped
            | Self::Verbose
            | Self::Verbosity
            | Self::Quiet
            | Self::Pause
            | Self::Reserved
            | Self::Print(_) => None,
        }
    }
}

/// An option's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flag {
    /// After one dash.
    pub short: Option<char>,
    /// After two.
    pub long: Option<&'static str>,
    /// Whether a value follows.
    pub takes_value: bool,
    /// What it asks for.
    pub wish: Wish,
}

/// An option without a value.
const fn flag(short: Option<char>, long: Option<&'static str>, wish: Wish) -> Flag {
    Flag {
        short,
        long,
        takes_value: false,
        wish,
    }
}

/// An option with a value.
const fn valued(short: Option<char>, long: Option<&'static str>, wish: Wish) -> Flag {
    Flag {
        takes_value: true,
        ..flag(short, long, wish)
    }
}

/// What is wrong with a command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error<'a> {
    /// There is no option of one letter like this.
    UnknownLetter(u8),
    /// There is no option of this name.
    UnknownName(&'a [u8]),
    /// The option of one letter needs a value.
    LetterNeedsValue(u8),
    /// The option needs a value.
    NameNeedsValue(&'static str),
    /// The option takes no value.
    NameTakesNone(&'static str),
    /// The value is none that the option takes.
    BadValue(Flag, &'a [u8]),
    /// As well, and a variable says it.
    BadVariable(Flag, &'a [u8]),
    /// A variable that must not be set is.
    Reserved(&'a [u8]),
    /// There is a config as well as a command.
    ConfigAndCommand,
}

/// Hands each option and its value to `each`; the number of the word behind the
/// last of them, which is the command's first if there is one.
///
/// # Errors
///
/// The first thing that is wrong, also what `each` says is.
pub fn walk<'a>(
    persona: &Persona,
    words: impl Iterator<Item = &'a CStr>,
    each: &mut dyn FnMut(Flag, Option<&'a CStr>) -> Result<(), Error<'a>>,
) -> Result<usize, Error<'a>> {
    let mut rest = words.skip(1);
    let mut number = 1_usize;
    loop {
        let Some(word) = rest.next() else {
            return Ok(number);
        };
        let bytes = word.to_bytes();
        let Some(option) = bytes.strip_prefix(b"-").filter(|rest| !rest.is_empty()) else {
            return Ok(number);
        };
        number = number.saturating_add(1);
        if option == b"-" {
            return Ok(number);
        }
        if let Some(long) = option.strip_prefix(b"-")
            && persona.has_long_names()
        {
            let (name, given) = match long.iter().position(|byte| *byte == b'=') {
                Some(at) => (
                    long.get(..at).unwrap_or_default(),
                    after(word, at.saturating_add(3)),
                ),
                None => (long, None),
            };
            let (flag, known) = persona.long(name).ok_or(Error::UnknownName(name))?;
            let value = match (flag.takes_value, given) {
                (false, None) => None,
                (false, Some(_)) => return Err(Error::NameTakesNone(known)),
                (true, Some(value)) => Some(value),
                (true, None) => {
                    number = number.saturating_add(1);
                    Some(rest.next().ok_or(Error::NameNeedsValue(known))?)
                }
            };
            each(flag, value)?;
            continue;
        }
        for (at, letter) in (1_usize..).zip(option) {
            let flag = persona
                .short(*letter)
                .ok_or(Error::UnknownLetter(*letter))?;
            if !flag.takes_value {
                each(flag, None)?;
                continue;
            }
            let value = match after(word, at.saturating_add(1)).filter(|value| !value.is_empty()) {
                Some(value) => value,
                None => {
                    number = number.saturating_add(1);
                    rest.next().ok_or(Error::LetterNeedsValue(*letter))?
                }
            };
            each(flag, Some(value))?;
            break;
        }
    }
}

/// The end of a word, from a byte on.
fn after(word: &CStr, from: usize) -> Option<&CStr> {
    CStr::from_bytes_with_nul(word.to_bytes_with_nul().get(from..)?).ok()
}

/// Whether host-init adopts orphans when it is not PID 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subreaper {
    /// It does, and says so when it can't.
    Tried,
    /// It does, or it is nothing.
    Needed,
    /// It does not, and says what follows.
    No,
    /// It does not.
    Silent,
}

/// What is printed instead of running a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Print {
    /// What the options are.
    Help,
    /// What the program is.
    Version,
    /// Under what terms it is given.
    License,
}

/// A whole command line and environment, read.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The rules for the command.
    pub rules: Rules,
    /// The session and process group of the command; none when host-init is to find
    /// out.
    pub job: Option<Job>,
    /// How much is said: 0 what is fatal, 1 warnings, 2 and more what happens.
    pub verbosity: u8,
    /// Whether each orphan is told of.
    pub warns_of_reaped: bool,
    /// Whether orphans are adopted.
    pub subreaper: Subreaper,
    /// What host-init gets when its parent ends.
    pub parent_death: Option<Signal>,
    /// Who the command runs as.
    pub user: Option<&'a CStr>,
    /// Where the command runs.
    pub directory: Option<&'a CStr>,
    /// Whether there is something to change in the environment.
    pub changes_environment: bool,
    /// Whether nothing is run.
    pub pauses: bool,
    /// The config of a container.
    pub config: Option<&'a CStr>,
    /// Whether an option was given that is for a command.
    pub is_for_command: bool,
    /// What is printed instead.
    pub print: Option<Print>,
    /// The number of the command's first word, which need not be there.
    pub command: usize,
}

impl<'a> Options<'a> {
    /// What the words and the environment say, under the name of this persona.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn parse(
        persona: &'static Persona,
        words: impl Iterator<Item = &'a CStr> + Clone,
        environment: impl Iterator<Item = &'a CStr> + Clone,
    ) -> Result<Self, Error<'a>> {
        let mut options = Self::new(persona);
        if persona.is_own() {
            own::variables(environment.clone(), |flag, value| {
                let taken = options.take(persona.voice, flag, Some(value));
                taken.map_err(|error| {
                    if let Error::BadValue(flag, value) = error {
                        Error::BadVariable(flag, value)
                    } else {
                        error
                    }
                })
            })?;
        }
        if persona.prints_version_alone && is_version_alone(words.clone()) {
            options.print = Some(Print::Version);
            return Ok(options);
        }
        let mut print = None;
        let command = walk(persona, words.clone(), &mut |flag, value| {
            if let Wish::Print(what) = flag.wish {
                print = print.or(Some(what));
            }
            options.is_for_command |= flag.wish != Wish::Config;
            // Whoever asks for the help need not be right about the rest.
            if print.is_some() {
                Ok(())
            } else {
                options.take(persona.voice, flag, value)
            }
        });
        options.print = print;
        match command {
            Ok(command) => {
                options.command = command;
                if options.config.is_some() && words.clone().nth(command).is_some() {
                    return Err(Error::ConfigAndCommand);
                }
            }
            Err(error) if print.is_none() => return Err(error),
            Err(_) => {}
        }
        if print.is_none() {
            for variable in persona.variables {
                let entry = environment.clone().find_map(|entry| {
                    let (name, value) = entry_of(entry)?;
                    (name == variable.name.as_bytes()).then_some(value)
                });
                let Some(value) = entry else { continue };
                let is_meant = match variable.when {
                    When::Set => true,
                    When::Is(text) => value.to_bytes() == text.as_bytes(),
                };
                if is_meant {
                    let flag = valued(None, Some(variable.name), variable.wish);
                    options.take(persona.voice, flag, Some(value))?;
                }
            }
        }
        persona.finish(&mut options);
        Ok(options)
    }

    const fn new(persona: &Persona) -> Self {
        Self {
            rules: Rules::PLAIN,
            job: persona.job,
            verbosity: persona.verbosity,
            warns_of_reaped: false,
            subreaper: persona.subreaper,
            parent_death: None,
            user: None,
            directory: None,
            changes_environment: false,
            pauses: false,
            config: None,
            is_for_command: false,
            print: None,
            command: 0,
        }
    }

    fn take(
        &mut self,
        dialect: Voice,
        flag: Flag,
        value: Option<&'a CStr>,
    ) -> Result<(), Error<'a>> {
        let bytes = value.map(CStr::to_bytes).unwrap_or_default();
        let good = match flag.wish {
            Wish::Group => {
                self.rules.target = Target::Group;
                true
            }
            Wish::Job => set(&mut self.job, value::job(bytes)),
            Wish::Single => {
                self.job = Some(Job::Shared);
                true
            }
            Wish::StopSignal => set(&mut self.rules.stop_signal, value::signal(bytes)),
            Wish::KillAfter => set(&mut self.rules.kill_after, value::time(bytes)),
            Wish::Wait => {
                self.rules.others = Others::Stopped;
                true
            }
            Wish::Rewrite => value::rewrites(dialect, bytes, &mut self.rules.rewrites),
            Wish::RemapExit => value::codes(dialect, bytes, &mut self.rules.codes),
            Wish::ParentDeath => set(&mut self.parent_death, value::parent_death(dialect, bytes)),
            Wish::Subreaper => {
                self.subreaper = Subreaper::Needed;
                true
            }
            Wish::User => {
                self.user = value;
                true
            }
            Wish::Directory => {
                self.directory = value;
                true
            }
            Wish::Env => {
                self.changes_environment = true;
                value
                    .and_then(entry_of)
                    .is_some_and(|(name, _)| !name.is_empty())
            }
            Wish::UnsetEnv => {
                self.changes_environment = true;
                !bytes.is_empty() && !bytes.contains(&b'=')
            }
            Wish::WarnReaped => {
                self.warns_of_reaped = true;
                true
            }
            Wish::Verbose => {
                self.verbosity = self.verbosity.saturating_add(1);
                true
            }
            Wish::Verbosity => {
                self.verbosity = value::number(bytes);
                true
            }
            Wish::Quiet => {
                self.verbosity = 0;
                true
            }
            Wish::Pause => {
                self.pauses = true;
                true
            }
            // PID 1 leaves the directory that it was started in, and reads it again.
            Wish::Config => set(&mut self.config, value.filter(|_| bytes.starts_with(b"/"))),
            Wish::Reserved => {
                return Err(Error::Reserved(flag.long.unwrap_or_default().as_bytes()));
            }
            Wish::Print(_) => true,
        };
        if good {
            Ok(())
        } else {
            Err(Error::BadValue(flag, bytes))
        }
    }
}

/// Sets what a value means; whether it means anything.
fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let is_good = value.is_some();
    if is_good {
        *place = value;
    }
    is_good
}

/// The name and the value of an entry.
pub fn entry_of(entry: &CStr) -> Option<(&[u8], &CStr)> {
    let at = entry.to_bytes().iter().position(|byte| *byte == b'=')?;
    let name = entry.to_bytes().get(..at)?;
    Some((name, after(entry, at.saturating_add(1))?))
}

fn is_version_alone<'a>(words: impl Iterator<Item = &'a CStr>) -> bool {
    let mut words = words.skip(1);
    words.next().is_some_and(|word| word == c"--version") && words.next().is_none()
}
