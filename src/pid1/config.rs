//! The config file: read, checked, held with the memory its words are in.

use core::ffi::CStr;

use heapless::Vec;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::{limits, paths};
use crate::format::config::{self, variables::Variables};
use crate::format::line::Line;
use crate::pid1::log::{Log, Part};
use crate::policy::config::Config;
use crate::sys::arguments::Arguments;
use crate::sys::memory::{Family, Held, Scratch};
use crate::sys::{Result, files};

/// The config that is in force, and where it was found.
pub struct Source {
    path: Vec<u8, { limits::CONFIG_PATH_BYTES }>,
    /// `host_init.log=`, which is stronger than the config.
    level: Option<Level>,
    /// Where a launcher's variables are.
    arguments: Arguments,
    held: Held<Configs>,
    is_built_in: bool,
}

/// The type [`Config`], whatever its lifetime.
enum Configs {}

impl Family for Configs {
    type Of<'a> = Config<'a>;

    fn shorten<'s, 'l: 's>(value: &'s Config<'l>) -> &'s Config<'s> {
        value
    }
}

impl Source {
    /// The config at the usual place or this one; the built-in one when that is
    /// not good, which was said.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory.
    pub fn new(
        path: Option<&[u8]>,
        level: Option<Level>,
        arguments: Arguments,
        log: &Log,
    ) -> Result<Self> {
        let mut text = Vec::new();
        // A path that is too long leads nowhere, which is said when it is read.
        let _ = text.extend_from_slice(path.unwrap_or(paths::CONFIG.to_bytes()));
        let _ = text.push(0);
        let held = read(&text, arguments, log);
        let is_built_in = held.is_none();
        let held = match held {
            Some(held) => held,
            None => Held::new(0, |_| Some(Config::default()))?.ok_or(Errno::ENOMEM)?,
        };
        Ok(Self {
            path: text,
            level,
            arguments,
            held,
            is_built_in,
        })
    }

    /// Whether it is the built-in one, since the one that was to be read is not good.
    pub const fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    /// The config that is in force.
    pub fn value(&self) -> &Config<'_> {
        self.held.value()
    }

    /// The least that matters enough to be logged.
    pub fn level(&self) -> Level {
        self.level.unwrap_or(self.value().log_level)
    }

    /// Reads the config again; whether it is good, and in force then. Otherwise what is
    /// wrong was said, and the one before stays.
    pub fn reload(&mut self, log: &Log) -> bool {
        let Some(held) = read(&self.path, self.arguments, log) else {
            return false;
        };
        self.held = held;
        self.is_built_in = false;
        true
    }
}

/// Reads a config; none when it is not good. All that is wrong with it is said.
fn read(path: &[u8], arguments: Arguments, log: &Log) -> Option<Held<Configs>> {
    let path = CStr::from_bytes_until_nul(path).unwrap_or(c"(too long)");
    match load(path, arguments, log) {
        Ok(held) => held,
        Err(errno) => {
            // An image without one is an ordinary image.
            let level = match errno {
                Errno::ENOENT => Level::Notice,
                _ => Level::Error,
            };
            log.failed(level, "read", path.to_bytes(), errno);
            None
        }
    }
}

fn load(path: &CStr, arguments: Arguments, log: &Log) -> Result<Option<Held<Configs>>> {
    // One byte more, so that a file that is too long is seen as such.
    let mut scratch = Scratch::new(limits::CONFIG_BYTES + 1)?;
    let text = files::read(path, scratch.bytes())?;
    let find = |name: &str| arguments.variable(name);
    let length = text.len().saturating_add(Variables::bytes(find));
    Held::new(length, |memory| {
        let (arena, own) = memory.split_at_mut_checked(text.len())?;
        let variables = Variables::read(find, own);
        let config = config::parse_with(text, arena, &variables, &mut |error| {
            let mut line = Line::new();
            let _ = core::fmt::write(&mut line, format_args!("{error}"));
            log.say(
                Level::Error,
                &[
                    Part::Bytes(path.to_bytes()),
                    Part::Text(":"),
                    Part::Bytes(line.as_bytes()),
                ],
            );
        })?;
        if config
            .host
            .as_ref()
            .is_some_and(|host| host.launcher.is_some())
        {
            tell_wrong(&variables, log);
        }
        Some(config)
    })
}

fn tell_wrong(variables: &Variables<'_>, log: &Log) {
    for wrong in &variables.wrong {
        log.say(
            Level::Warning,
            &[
                Part::Text(wrong.name),
                Part::Text(": "),
                Part::Text(wrong.words),
            ],
        );
    }
}
