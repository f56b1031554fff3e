//! The command line of `cargo image`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::Arg;

use crate::error::{Error, shown};
use crate::libraries::Libraries;
use crate::order::{Order, Output};
use crate::spoken::{Spoken, TWICE};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Makes a bootable image of a program, or a container image.

Usage: cargo image [options] [-- argument...]

  --host PATH[:DST]      the program; goes to /usr/bin/NAME unless DST is given
  --config FILE          goes to /etc/host-init.toml; without it, one is made
                         that runs the host with the arguments after --
  --init PATH            the first process; built if this is not given
  --libraries            copy the loader and libraries that programs lack
  --add SRC:DST[:MODE]   a file, or a directory with everything in it
  --dir DST[:MODE]       a directory
  --symlink TARGET:DST   a symlink
  --device DST:c|b:MAJOR:MINOR[:MODE]
                         a char or block device
  --manifest FILE        read all of this from a file; options come on top
  --compress none|gzip|zstd
                         how to pack the image; none unless given, and gzip
                         for a container image
  --output FILE          where to put it: target/image.cpio, or .cpio.gz or
                         .cpio.zst, unless given
  --oci DIR              a container image instead: an OCI image layout
  --help                 print this and do nothing
  --version              print the version and do nothing

MODE is octal. DST starts with /. A DST with a colon in it goes into a manifest.
";

/// What a command line asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    /// To print [`HELP`].
    Help,
    /// To print the version.
    Version,
    /// To make an image.
    Make {
        manifest: Option<PathBuf>,
        order: Box<Order>,
    },
}

/// Reads the command line, the program's name aside.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, Error> {
    let mut words = words.into_iter();
    let options: Vec<OsString> = words.by_ref().take_while(|word| word != "--").collect();
    let mut order = Order::default();
    let mut manifest = None;
    let (mut archive, mut container) = (None, None);
    let mut parser = lexopt::Parser::from_args(options);
    while let Some(word) = parser.next().map_err(unreadable)? {
        let option = match word {
            Arg::Long("help") => return Ok(Request::Help),
            Arg::Long("version") => return Ok(Request::Version),
            Arg::Long("libraries") => {
                order.libraries = Some(Libraries::Copy);
                continue;
            }
            Arg::Long(name) => name.to_owned(),
            other => return Err(unreadable(other.unexpected())),
        };
        let Some(option) = Valued::NAMES.iter().find(|(name, _)| *name == option) else {
            return Err(unreadable(Arg::Long(&option).unexpected()));
        };
        let (name, option) = option;
        let value = parser.value().map_err(unreadable)?;
        let spoken = Spoken { name, value };
        match option {
            Valued::Manifest => spoken.once(&mut manifest)?,
            Valued::Init => spoken.once(&mut order.init)?,
            Valued::Config => spoken.once(&mut order.config)?,
            Valued::Output => spoken.once(&mut archive)?,
            Valued::Oci => spoken.once(&mut container)?,
            Valued::Host => {
                let (source, path) = spoken.host()?;
                order.host_path = path;
                Spoken {
                    name,
                    value: source,
                }
                .once(&mut order.host)?;
            }
            Valued::Compress => {
                let text = spoken.value.to_string_lossy();
                let compression = text.parse().map_err(|error| spoken.wrong(error))?;
                if order.compression.replace(compression).is_some() {
                    return Err(spoken.wrong(TWICE));
                }
            }
            Valued::Add => order.items.push(spoken.add()?),
            Valued::Dir => order.items.push(spoken.directory()?),
            Valued::Symlink => order.items.push(spoken.symlink()?),
            Valued::Device => order.items.push(spoken.device()?),
        }
    }
    order.output = Output::only(archive, container)
        .map_err(|reason| Error::new("use", "--oci and --output", reason))?;
    for word in words {
        let word = word.into_string().map_err(|word| {
            let reason = "a configuration can only hold arguments in UTF-8";
            Error::new("read", shown(Path::new(&word)), reason)
        })?;
        order.arguments.push(word);
    }
    Ok(Request::Make {
        manifest,
        order: Box::new(order),
    })
}

/// The options that take a value.
enum Valued {
    Add,
    Compress,
    Config,
    Device,
    Dir,
    Host,
    Init,
    Manifest,
    Oci,
    Output,
    Symlink,
}

impl Valued {
    const NAMES: [(&str, Self); 11] = [
        ("add", Self::Add),
        ("compress", Self::Compress),
        ("config", Self::Config),
        ("device", Self::Device),
        ("dir", Self::Dir),
        ("host", Self::Host),
        ("init", Self::Init),
        ("manifest", Self::Manifest),
        ("oci", Self::Oci),
        ("output", Self::Output),
        ("symlink", Self::Symlink),
    ];
}

fn unreadable(error: lexopt::Error) -> Error {
    let (object, reason) = match error {
        lexopt::Error::UnexpectedOption(option) => (option, "there is no such option, see --help"),
        lexopt::Error::MissingValue { option } => {
            (option.unwrap_or_default(), "it needs a value, see --help")
        }
        lexopt::Error::UnexpectedValue { option, .. } => (option, "it takes no value"),
        lexopt::Error::UnexpectedArgument(word) => (
            shown(Path::new(&word)),
            "it is no option; the host's arguments come after --",
        ),
        other => (other.to_string(), "see --help"),
    };
    Error::new("read", object, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{DeviceKind, Mode};
    use crate::recipe::What;
    use crate::spoken::item;

    fn order(words: &[&str]) -> Order {
        match parse(words.iter().map(OsString::from)) {
            Ok(Request::Make { order, .. }) => *order,
            other => panic!("{other:?}"),
        }
    }

    fn reason(words: &[&str]) -> String {
        parse(words.iter().map(OsString::from))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn the_last_colon_before_a_slash_is_where_the_images_path_starts() {
        let order = order(&["--add", "a:/b:/c", "--add=d e:/f:0600"]);

        let expected = [
            item("/c".parse().unwrap(), What::File("a:/b".into()), None),
            item(
                "/f".parse().unwrap(),
                What::File("d e".into()),
                Mode::new(0o600),
            ),
        ];
        assert_eq!(order.items, expected);
    }

    #[test]
    fn what_comes_after_two_dashes_is_the_hosts() {
        let order = order(&["--host", "a/b:/c", "--", "--help", "x"]);

        assert_eq!(order.host, Some("a/b".into()));
        assert_eq!(order.host_path, Some("/c".parse().unwrap()));
        assert_eq!(order.arguments, ["--help", "x"]);
    }

    #[test]
    fn a_device_is_spelled_with_colons() {
        let device = |kind, major, minor| What::Device { kind, major, minor };
        let path = || "/dev/x".parse().unwrap();

        let order = order(&["--device", "/dev/x:c:4:64", "--device", "/dev/x:b:8:0:0660"]);

        let expected = [
            item(path(), device(DeviceKind::Char, 4, 64), None),
            item(path(), device(DeviceKind::Block, 8, 0), Mode::new(0o660)),
        ];
        assert_eq!(order.items, expected);
    }

    #[test]
    fn a_container_image_is_another_output() {
        assert_eq!(
            order(&["--oci", "a"]).output,
            Some(Output::Container("a".into()))
        );
        assert_eq!(
            order(&["--output", "a"]).output,
            Some(Output::Archive("a".into()))
        );
    }

    #[test]
    fn help_and_version_win_over_what_comes_after_them() {
        for words in [["--help", "--frob"], ["--help", "--host"]] {
            assert_eq!(parse(words.map(OsString::from)), Ok(Request::Help));
        }
        assert_eq!(
            parse(["--host", "a", "--version"].map(OsString::from)),
            Ok(Request::Version)
        );
    }

    #[test]
    fn a_command_line_that_makes_no_sense_says_why() {
        for (words, expected) in [
            (
                &["--frob"][..],
                "read --frob: there is no such option, see --help",
            ),
            (&["-x"], "read -x: there is no such option, see --help"),
            (&["--host"], "read --host: it needs a value, see --help"),
            (&["--libraries=no"], "read --libraries: it takes no value"),
            (
                &["program"],
                "read program: it is no option; the host's arguments come after --",
            ),
            (
                &["--host", "a", "--host", "b"],
                "read --host b: it is given twice",
            ),
            (&["--config", ""], "read --config : it is empty"),
            (
                &["--compress", "xz"],
                "read --compress xz: \"xz\" is no compression: none, gzip or zstd",
            ),
            (
                &["--add", "a"],
                "read --add a: it is SRC:DST[:MODE], and DST starts with /",
            ),
            (
                &["--add", "a:/b:rwx"],
                "read --add a:/b:rwx: \"rwx\" is no mode: octal up to 7777, as 0644",
            ),
            (
                &["--add", "a:/b/../c"],
                "read --add a:/b/../c: a path in the image cannot have .. in it",
            ),
            (
                &["--dir", "a"],
                "read --dir a: a path in the image starts with /",
            ),
            (
                &["--symlink", ":/a"],
                "read --symlink :/a: it is TARGET:DST, and DST starts with /",
            ),
            (
                &["--oci", "a", "--output", "b"],
                "use --oci and --output: an image has either `output` or `oci`",
            ),
            (
                &["--device", "/a:p:1:2"],
                "read --device /a:p:1:2: it is DST:c|b:MAJOR:MINOR[:MODE]",
            ),
            (
                &["--device", "/a:c:-1:2"],
                "read --device /a:c:-1:2: it is DST:c|b:MAJOR:MINOR[:MODE]",
            ),
        ] {
            assert_eq!(reason(words), expected);
        }
    }
}
