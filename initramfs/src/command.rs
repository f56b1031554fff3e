//! The command `cargo image`: a command line becomes a file.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::archive::Archive;
use crate::compression::Compression;
use crate::container::Container;
use crate::error::{Error, shown};
use crate::init;
use crate::manifest;
use crate::options::{self, HELP, Request};
use crate::order::{Order, Output};
use crate::replacement;

/// What a command line that makes no sense ends with.
const USAGE: u8 = 2;

/// Runs the command: `words` are its command line, its own name aside.
///
/// Ends with 0, with 1 when the image could not be made, and with 2 when the
/// command line makes no sense. Says why on standard error, in one line.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let request = match options::parse(words) {
        Ok(request) => request,
        Err(error) => {
            complain(&error);
            return ExitCode::from(USAGE);
        }
    };
    match perform(request).and_then(|text| say(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Does what was asked for and returns what there is to say about it.
fn perform(request: Request) -> Result<String, Error> {
    match request {
        Request::Help => Ok(HELP.to_owned()),
        Request::Version => Ok(format!("image {}\n", env!("CARGO_PKG_VERSION"))),
        Request::Make { manifest, order } => match manifest {
            Some(path) => make(order.over(manifest::read(&path)?)),
            None => make(*order),
        },
    }
}

fn make(order: Order) -> Result<String, Error> {
    order.hold()?;
    let mtime = source_date_epoch()?;
    let compression = order.compression;
    let output = order.output.clone();
    let init = match &order.init {
        Some(path) => path.clone(),
        None => init::build()?,
    };
    let mut archive = order.recipe(init).archive()?;
    archive.mtime(mtime);
    match output {
        Some(Output::Container(folder)) => contain(&archive, &folder, compression),
        Some(Output::Archive(path)) => save(&archive, Some(path), compression),
        None => save(&archive, None, compression),
    }
}

fn save(
    archive: &Archive,
    path: Option<PathBuf>,
    compression: Option<Compression>,
) -> Result<String, Error> {
    let compression = compression.unwrap_or_default();
    let path =
        path.unwrap_or_else(|| init::target().join(format!("image.{}", compression.extension())));

    let written = replacement::write(&path, |file| archive.write_to(file, compression))
        .map_err(|error| Error::io("write", &path, &error))?;

    let bytes = fs::metadata(&path)
        .map_err(|error| Error::io("read", &path, &error))?
        .len();
    let entries = written.entries;
    let path = shown(&relative(&path));
    Ok(format!(
        "{path}: {bytes} bytes, {entries} entries; boot it: cargo boot --image {path}\n"
    ))
}

/// Packed unless somebody says otherwise: it is unpacked once, by programs that
/// all know gzip.
fn contain(
    archive: &Archive,
    folder: &Path,
    compression: Option<Compression>,
) -> Result<String, Error> {
    let container = Container::new(archive, compression.unwrap_or(Compression::Gzip))?;

    container.save(folder)?;

    let bytes = container.bytes();
    let entries = container.entries();
    let path = shown(&relative(folder));
    Ok(format!(
        "{path}: {bytes} bytes, {entries} entries; run it: podman run --rm oci:{path}\n"
    ))
}

/// The time of all entries: 0, or what `SOURCE_DATE_EPOCH` says, which is how
/// distributions ask for one that means something to them.
fn source_date_epoch() -> Result<u32, Error> {
    const NAME: &str = "SOURCE_DATE_EPOCH";
    let Some(text) = env::var_os(NAME) else {
        return Ok(0);
    };
    text.to_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::new("read", NAME, "it is no number of seconds below 4294967296"))
}

/// A path as a person standing here would type it.
fn relative(path: &Path) -> PathBuf {
    env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
        .to_owned()
}

/// A reader that went away before the last line has what it wanted.
fn say(text: &str) -> Result<(), Error> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", Path::new("standard output"), &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn complain(error: &Error) {
    // With nowhere to say it, the exit code has to do.
    let _ = io::stderr().write_all(format!("image: {error}\n").as_bytes());
}
