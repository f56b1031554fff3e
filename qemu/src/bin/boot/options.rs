//! What the command was asked to do.

use std::ffi::OsString;
use std::path::PathBuf;

use qemu::Error;

/// Printed by `--help`.
pub(crate) const HELP: &str = "\
Boots the demonstration image on this terminal, or an image of yours.

Usage: cargo boot [options]

  --image FILE     boot this archive instead of the demonstration
  --init FILE      make the demonstration with this program as /init
  --disk FILE      use this raw disk instead of target/demo/state.img
  --append WORDS   add words to the kernel's command line
  --memory SIZE    give the machine so much memory: 128M (the default), 1G
  --no-build       use the host-init that is there; do not build it
  --check          boot the demonstration by itself, check that it serves its
                   page, restarts and powers off; exit with 1 if it does not
  --help           print this

Ctrl-A X ends the machine. Input that is not a terminal is typed a line at a
time as the demonstration asks for it, and its end powers the machine off.

The kernel is Debian's, fetched once, or the file that HOST_INIT_KERNEL names.
";

/// The options, read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) image: Option<PathBuf>,
    pub(crate) init: Option<PathBuf>,
    pub(crate) disk: Option<PathBuf>,
    pub(crate) append: Option<String>,
    pub(crate) mebibytes: u32,
    pub(crate) build: Build,
}

/// What to do with the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Join it to this terminal.
    Session,
    /// See that it does what the demonstration should.
    Check,
    /// None: print the help.
    Help,
}

/// Whether host-init is built first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Fresh,
    AsItIs,
}

impl Options {
    /// Reads the words after the program's name.
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        use lexopt::prelude::*;

        let mut options = Self {
            task: Task::Session,
            image: None,
            init: None,
            disk: None,
            append: None,
            mebibytes: 128,
            build: Build::Fresh,
        };
        let wrong = |error: lexopt::Error| Error::new("read", "the options", error);
        let mut parser = lexopt::Parser::from_args(words);
        while let Some(argument) = parser.next().map_err(wrong)? {
            match argument {
                Long("image") => options.image = Some(parser.value().map_err(wrong)?.into()),
                Long("init") => options.init = Some(parser.value().map_err(wrong)?.into()),
                Long("disk") => options.disk = Some(parser.value().map_err(wrong)?.into()),
                Long("append") => {
                    let words = parser.value().and_then(|value| value.string());
                    options.append = Some(words.map_err(wrong)?);
                }
                Long("memory") => {
                    let size = parser.value().and_then(|value| value.string());
                    options.mebibytes = mebibytes(&size.map_err(wrong)?)?;
                }
                Long("no-build") => options.build = Build::AsItIs,
                Long("check") => options.task = Task::Check,
                Long("help") | Short('h') => options.task = Task::Help,
                other => return Err(wrong(other.unexpected())),
            }
        }
        let is_other = options.image.is_some();
        if is_other && (options.task == Task::Check || options.init.is_some()) {
            let reason = "--image leaves out the demonstration, which --check and --init are about";
            return Err(Error::new("read", "the options", reason));
        }
        Ok(options)
    }
}

/// `128`, `128M`, `1G`.
fn mebibytes(size: &str) -> Result<u32, Error> {
    let (digits, factor) = match size.strip_suffix('G') {
        Some(digits) => (digits, 1024),
        None => (size.strip_suffix('M').unwrap_or(size), 1),
    };
    digits
        .parse::<u32>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .filter(|&number| number > 0)
        .ok_or_else(|| Error::new("read", "--memory", format!("{size:?} is no size like 128M")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(OsString::from))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn no_options_are_a_session_with_the_demonstration() {
        let options = parse("").unwrap();

        assert_eq!(options.task, Task::Session);
        assert_eq!((options.image, options.mebibytes), (None, 128));
    }

    #[test]
    fn every_option_is_read() {
        let options = parse("--image i --disk d --append=a --memory 1G --no-build").unwrap();

        assert_eq!(options.image, Some("i".into()));
        assert_eq!(options.disk, Some("d".into()));
        assert_eq!(options.append, Some("a".into()));
        assert_eq!(options.mebibytes, 1024);
        assert_eq!(options.build, Build::AsItIs);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert!(parse("--no-such").unwrap_err().contains("--no-such"));
        assert!(parse("word").unwrap_err().contains("word"));
        assert!(parse("--memory 0").unwrap_err().contains("\"0\""));
        assert!(parse("--memory lots").unwrap_err().contains("\"lots\""));
    }

    #[test]
    fn another_image_cannot_be_checked() {
        assert!(parse("--image i --check").is_err());
    }

    #[test]
    fn the_help_names_every_option() {
        for option in [
            "image", "init", "disk", "append", "memory", "no-build", "check", "help",
        ] {
            assert!(HELP.contains(&format!("--{option}")), "{option}");
        }
    }
}
