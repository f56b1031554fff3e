//! The config file: read, checked, held with the memory its words are in.

use core::ffi::CStr;

use heapless::Vec;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::base::{limits, paths};
use crate::format::config;
use crate::format::line::Line;
use crate::pid1::log::{Log, Part};
use crate::policy::config::Config;
use crate::sys::memory::{Family, Held, Scratch};
use crate::sys::{Result, files};

/// The config that is in force, and where it was found.
pub struct Source {
    path: Vec<u8, { limits::PATH_BYTES }>,
    /// `host_init.log=`, which is stronger than the config.
    level: Option<Level>,
    held: Held<Configs>,
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
    /// The built-in config, to be read from the usual place or this one.
    ///
    /// # Errors
    ///
    /// When the kernel has no memory.
    pub fn new(path: Option<&[u8]>, level: Option<Level>) -> Result<Self> {
        let built_in = Held::new(1, |_| Some(Config::default()))?;
        let mut source = Self {
            path: Vec::new(),
            level,
            held: built_in.ok_or(Errno::ENOMEM)?,
        };
        let path = path.unwrap_or(paths::CONFIG.to_bytes());
        // A path that is too long leads nowhere, which is said when it is read.
        let _ = source.path.extend_from_slice(path);
        let _ = source.path.push(0);
        Ok(source)
    }

    /// The config that is in force: the built-in one until a good one was read.
    pub fn value(&self) -> &Config<'_> {
        self.held.value()
    }

    /// The least that matters enough to be logged.
    pub fn level(&self) -> Level {
        self.level.unwrap_or(self.value().log_level)
    }

    /// Reads the config (again); whether a new one is in force. When it is not,
    /// what is wrong was said, all of it, and the one before stays.
    pub fn load(&mut self, log: &Log) -> bool {
        let Ok(path) = CStr::from_bytes_until_nul(&self.path) else {
            return false;
        };
        match load(path, log) {
            Ok(Some(held)) => {
                self.held = held;
                true
            }
            Ok(None) => false,
            Err(errno) => {
                // An image without one is an ordinary image.
                let level = match errno {
                    Errno::ENOENT => Level::Notice,
                    _ => Level::Error,
                };
                log.failed(level, "read", path.to_bytes(), errno);
                false
            }
        }
    }
}

fn load(path: &CStr, log: &Log) -> Result<Option<Held<Configs>>> {
    // One byte more, so that a file that is too long is seen as such.
    let mut scratch = Scratch::new(limits::CONFIG_BYTES + 1)?;
    let text = files::read(path, scratch.bytes())?;
    Held::new(text.len().max(1), |arena| {
        config::parse(text, arena, &mut |error| {
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
        })
    })
}
