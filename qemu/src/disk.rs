//! A raw disk in a file, which keeps what a guest wrote over its boots.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::scratch::Scratch;
use crate::tools;

/// A disk that guests can be given, one at a time.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    /// The directory that goes with the disk; none for a file that stays.
    _scratch: Option<Scratch>,
}

impl Disk {
    /// A disk of zeros, removed on drop.
    pub fn blank(mebibytes: u64) -> Result<Self, Error> {
        let scratch = Scratch::new()?;
        let path = scratch.path().join("disk.img");
        create(&path, mebibytes)?;
        Ok(Self {
            path,
            _scratch: Some(scratch),
        })
    }

    /// A disk with an ext4 filesystem all over it, removed on drop.
    pub fn ext4(mebibytes: u64) -> Result<Self, Error> {
        Self::ext4_with(mebibytes, &[])
    }

    /// The same, made with more words for `mkfs.ext4(8)`: `["-L", "state"]`.
    pub fn ext4_with(mebibytes: u64, words: &[&str]) -> Result<Self, Error> {
        let disk = Self::blank(mebibytes)?;
        format(&disk.path, words)?;
        Ok(disk)
    }

    /// A file that stays; made with an ext4 filesystem when it is not there.
    pub fn kept(path: impl Into<PathBuf>, mebibytes: u64) -> Result<Self, Error> {
        let path = path.into();
        if !path.exists() {
            // Under another name until it is whole: an interrupted mkfs must
            // not leave a disk that every later boot fails to mount.
            let unfinished = path.with_extension(format!("new-{}", std::process::id()));
            create(&unfinished, mebibytes)?;
            format(&unfinished, &[])?;
            fs::rename(&unfinished, &path)
                .map_err(|error| Error::new("create", path.display(), error))?;
        }
        Ok(Self {
            path,
            _scratch: None,
        })
    }

    /// A file that is there and stays, whatever is in it.
    pub fn file(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match fs::metadata(&path) {
            Ok(_) => Ok(Self {
                path,
                _scratch: None,
            }),
            Err(error) => Err(Error::new("open", path.display(), error)),
        }
    }

    /// A disk with the same bytes, removed on drop: to look at one state twice.
    pub fn copy(&self) -> Result<Self, Error> {
        let scratch = Scratch::new()?;
        let path = scratch.path().join("disk.img");
        fs::copy(&self.path, &path)
            .map_err(|error| Error::new("copy", self.path.display(), error))?;
        Ok(Self {
            path,
            _scratch: Some(scratch),
        })
    }

    /// The file that holds it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn create(path: &Path, mebibytes: u64) -> Result<(), Error> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)
            .map_err(|error| Error::new("make", directory.display(), error))?;
    }
    File::create(path)
        .and_then(|file| file.set_len(mebibytes.saturating_mul(1 << 20)))
        .map_err(|error| Error::new("create", path.display(), error))
}

fn format(path: &Path, words: &[&str]) -> Result<(), Error> {
    let mut command = Command::new(tools::mkfs_ext4()?);
    // Not left to the first mount, which would keep the guest's disk busy.
    command.args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
    tools::run(command.args(words).arg(path), "format", path.display()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_the_asked_size_and_goes_on_drop() {
        let disk = Disk::blank(3).unwrap();
        let path = disk.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().len(), 3 << 20);

        drop(disk);

        assert!(!path.exists());
    }

    #[test]
    fn a_label_is_written_to_the_filesystem() {
        let disk = Disk::ext4_with(4, &["-L", "state"]).unwrap();

        let bytes = fs::read(disk.path()).unwrap();

        // ext4's superblock is at 1024; its magic number at 56, its label at 120.
        assert_eq!(bytes[1024 + 56..1024 + 58], [0x53, 0xef]);
        assert_eq!(&bytes[1024 + 120..1024 + 125], b"state");
    }

    #[test]
    fn a_kept_disk_is_made_once() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("state/state.img");

        drop(Disk::kept(&path, 4).unwrap());
        fs::write(&path, "mine").unwrap();
        drop(Disk::kept(&path, 4).unwrap());

        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }
}
