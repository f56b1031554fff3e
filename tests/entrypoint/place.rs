//! A directory of a test's own: what inits are run with, and what they leave.
//!
//! `recorder` is what they run. What it has to say comes through a FIFO beside it,
//! so that an init's descriptors, environment and output are the test's to choose.

use std::fs::{self, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lines::Lines;
use crate::system::{make_fifo, text};

/// The recorder's name, and how the names of links to it begin.
pub(crate) const RECORDER: &str = "recorder";

/// The FIFO beside it.
pub(crate) const TOLD: &str = "told";

/// A directory. It is gone when the value is.
pub(crate) struct Place {
    path: PathBuf,
    /// What recorders say.
    pub(crate) told: Lines,
}

impl Place {
    pub(crate) fn new() -> Self {
        // What is in it is run: temporary directories in memory may forbid that.
        let place = Self::in_directory(Path::new(env!("CARGO_TARGET_TMPDIR")));
        symlink(std::env::current_exe().unwrap(), place.path.join(RECORDER)).unwrap();
        place
    }

    /// One that every user may come to, who may have no way to where this was built.
    pub(crate) fn for_all() -> Self {
        let place = Self::in_directory(&std::env::temp_dir());
        let recorder = place.path.join(RECORDER);
        fs::copy(std::env::current_exe().unwrap(), &recorder).unwrap();
        for (path, mode) in [
            (place.path.clone(), 0o755),
            (recorder, 0o755),
            (place.path.join(TOLD), 0o666),
        ] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    /// One without a recorder.
    fn in_directory(base: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!(
            "host-init-entrypoint-{}-{number}",
            std::process::id()
        ));
        fs::create_dir_all(&path).unwrap();
        let fifo = path.join(TOLD);
        make_fifo(&text(&fifo));
        // Open for writing too, so that it never comes to an end.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(fifo)
            .unwrap();
        Self {
            path,
            told: Lines::new("a recorder", OwnedFd::from(file)),
        }
    }

    /// Forgets what recorders said until now.
    pub(crate) fn forget(&mut self) {
        const MARK: &str = "-- until now --";
        fs::write(self.path.join(TOLD), format!("{MARK}\n")).unwrap();
        self.told.wait_for(MARK);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something in it.
    pub(crate) fn of(&self, name: &str) -> String {
        self.path.join(name).to_str().unwrap().to_owned()
    }

    /// The path of the recorder.
    pub(crate) fn recorder(&self) -> String {
        self.of(RECORDER)
    }

    /// Puts a file with these rights into it.
    pub(crate) fn write(&self, name: &str, content: &str, mode: u32) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Puts a link to another place into it.
    pub(crate) fn link(&self, name: &str, target: &Path) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
