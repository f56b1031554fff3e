//! A directory that lasts as long as its owner.
//!
//! Its owner holds a lock on it. A directory that can be locked belonged to a
//! process that was killed, and the next one to come removes it.

use core::sync::atomic::{AtomicU32, Ordering};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::tools;

/// An empty directory of our own, removed with all it holds on drop.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The lock that says that the directory is in use.
    _lock: File,
}

impl Scratch {
    /// Makes one below the target directory, and sweeps up after the dead.
    pub fn new() -> Result<Self, Error> {
        let base = tools::target().join("qemu/scratch");
        fs::create_dir_all(&base)
            .and_then(|()| {
                sweep(&base)?;
                create(&base)
            })
            .map_err(|error| Error::new("make", base.display(), error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is swept up by the next process.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn create(base: &Path) -> io::Result<Scratch> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);

    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{}-{count}", std::process::id()));
        match fs::create_dir(&path) {
            // Another pid namespace's process has our number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            other => other?,
        }
        // Before the lock is ours, a sweeper may take the directory for a dead
        // one: then the name is lost and the next one is tried.
        let Ok(lock) = File::open(&path) else {
            continue;
        };
        if lock.try_lock().is_ok() && path.exists() {
            return Ok(Scratch { path, _lock: lock });
        }
    }
}

fn sweep(base: &Path) -> io::Result<()> {
    for entry in fs::read_dir(base)?.flatten() {
        if let Ok(directory) = File::open(entry.path())
            && directory.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_never_the_same() {
        let (one, other) = (Scratch::new().unwrap(), Scratch::new().unwrap());

        assert_ne!(one.path(), other.path());
    }

    #[test]
    fn it_goes_with_its_owner() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "x").unwrap();

        drop(scratch);

        assert!(!path.exists());
    }

    #[test]
    fn the_living_are_not_swept_up_and_the_dead_are() {
        let living = Scratch::new().unwrap();
        let dead = living.path().with_file_name("dead-0");
        fs::create_dir_all(&dead).unwrap();

        let _ = Scratch::new().unwrap();

        assert!(living.path().exists());
        assert!(!dead.exists());
    }
}
