//! A place with a short name: not everybody takes a long one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::Tree;

/// An empty directory of a test's own, gone when it is dropped.
///
/// A socket's path has no more than 107 bytes, and podman takes 50.
pub(crate) struct Place(PathBuf);

impl Place {
    /// That of a tree.
    pub(crate) fn of(tree: &Tree) -> Self {
        let path = std::env::temp_dir().join(tree.name());
        // Left by a run that was killed, whose number has come again.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
