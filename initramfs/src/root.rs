//! A root file system to look for libraries in: this machine's or an image's.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::entry::Content;
use crate::layout::Layout;
use crate::path::ImagePath;

/// What a loader sees.
pub(crate) trait Root {
    /// A regular file's bytes, symlinks followed; `None` if there is none.
    fn read(&self, path: &Path) -> Option<Vec<u8>>;

    /// Where a file really is.
    fn real(&self, path: &Path) -> Option<PathBuf>;

    /// Names in a directory, sorted.
    fn names(&self, directory: &Path) -> Vec<Vec<u8>>;
}

/// The machine that makes the image.
pub(crate) struct ThisMachine;

impl Root for ThisMachine {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        // A device or a pipe by that name must not be opened, let alone read.
        if !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        fs::read(path).ok()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok()
    }

    fn names(&self, directory: &Path) -> Vec<Vec<u8>> {
        let Ok(entries) = fs::read_dir(directory) else {
            return Vec::new();
        };
        let mut names: Vec<Vec<u8>> = entries
            .flatten()
            .map(|entry| entry.file_name().as_bytes().to_vec())
            .collect();
        names.sort();
        names
    }
}

impl Root for Layout<'_> {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let (_, entry) = self.find(&ImagePath::parse(path).ok()?)?;
        match &entry.content {
            Content::File(bytes) => Some(bytes.clone()),
            Content::Directory | Content::Symlink(_) | Content::Device { .. } => None,
        }
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let (real, _) = self.find(&ImagePath::parse(path).ok()?)?;
        Some(real.to_path_buf())
    }

    fn names(&self, directory: &Path) -> Vec<Vec<u8>> {
        let Some((real, _)) = ImagePath::parse(directory)
            .ok()
            .and_then(|path| self.find(&path))
        else {
            return Vec::new();
        };
        self.entries()
            .filter(|(path, _)| path.parent().as_ref() == Some(&real))
            .filter_map(|(path, _)| path.names().last().map(<[u8]>::to_vec))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Archive;

    #[test]
    fn an_image_is_looked_at_as_a_machine_is() {
        let mut archive = Archive::new();
        archive.symlink("/lib", "usr/lib").unwrap();
        archive.file("/usr/lib/b.so", 0o644, "b").unwrap();
        archive.file("/usr/lib/a/c.so", 0o644, "c").unwrap();
        let image = archive.layout().unwrap();

        assert_eq!(image.read(Path::new("/lib/b.so")), Some(b"b".to_vec()));
        assert_eq!(
            image.real(Path::new("/lib/b.so")),
            Some(PathBuf::from("/usr/lib/b.so"))
        );
        assert_eq!(
            image.names(Path::new("/lib")),
            [b"a".to_vec(), b"b.so".to_vec()]
        );
        assert_eq!(image.read(Path::new("/lib/a")), None);
        assert!(image.names(Path::new("/none")).is_empty());
    }

    #[test]
    fn a_device_is_no_file_to_read() {
        assert_eq!(ThisMachine.read(Path::new("/dev/zero")), None);
    }
}
