//! A directory of this machine, with everything in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::archive::{Archive, contents};
use crate::entry::{Entry, Mode, Owner};
use crate::error::{Error, shown};
use crate::path::ImagePath;

/// How what is taken from this machine is to look in the image.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// The mode of files; without it, [`usual_mode`].
    pub(crate) mode: Option<Mode>,
    pub(crate) owner: Owner,
}

/// Adds a directory and what is in it. Symlinks stay symlinks, so that there is
/// no loop to follow. Of owners, times and modes only one bit counts: whether a
/// file's owner may execute it. The rest is the umask's doing.
pub(crate) fn add(
    archive: &mut Archive,
    path: &ImagePath,
    source: &Path,
    look: Look,
) -> Result<(), Error> {
    if look.owner == Owner::ROOT {
        archive.imply(path.clone());
    } else {
        archive.place(path.clone(), Entry::directory().owner(look.owner))?;
    }
    let read = |error| Error::io("read", source, &error);
    for entry in fs::read_dir(source).map_err(read)? {
        let entry = entry.map_err(read)?;
        let from = entry.path();
        let to = path.join(entry.file_name().as_bytes());
        // Holds the new path to the limits of one.
        let to = ImagePath::parse(to.to_path_buf())?;
        let kind = entry.file_type().map_err(read)?;
        if kind.is_dir() {
            add(archive, &to, &from, look)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&from).map_err(|error| Error::io("read", &from, &error))?;
            archive.place(to, Entry::symlink(target).owner(look.owner))?;
        } else if kind.is_file() {
            add_file(archive, &to, &from, look)?;
        } else {
            let reason = "it is no file, directory or symlink";
            return Err(Error::new("add", shown(&from), reason));
        }
    }
    Ok(())
}

/// Adds one file.
pub(crate) fn add_file(
    archive: &mut Archive,
    path: &ImagePath,
    source: &Path,
    look: Look,
) -> Result<(), Error> {
    let bytes = contents(source)?;
    let mode = match look.mode {
        Some(mode) => mode.bits(),
        None => usual_mode(source)?,
    };
    let entry = Entry::file(bytes).mode(mode).owner(look.owner);
    archive.place(path.clone(), entry)?;
    Ok(())
}

/// 0755 for what its owner may execute, else 0644.
fn usual_mode(source: &Path) -> Result<u32, Error> {
    let metadata = fs::metadata(source).map_err(|error| Error::io("read", source, &error))?;
    if metadata.permissions().mode() & 0o100 != 0 {
        return Ok(0o755);
    }
    Ok(0o644)
}
