//! Where the entries of an archive end up, once its symlinks are followed.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry as Place};
use std::ptr;

use crate::entry::{Content, Entry};
use crate::error::Error;
use crate::path::ImagePath;

/// How many symlinks a path may lead through: the kernel's `MAXSYMLINKS`.
const SYMLINKS: usize = 40;

/// What is at a directory that nobody added.
static PARENT: Entry = Entry::directory();

/// The finished tree: every path real, every parent there.
///
/// The kernel unpacks entries in order and follows the symlinks that it has made
/// so far, so an entry below a symlink that points forward would be lost without
/// a word. Here every entry is at its real path, and none is below a symlink.
pub(crate) struct Layout<'a> {
    entries: BTreeMap<ImagePath, &'a Entry>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(
        added: &'a BTreeMap<ImagePath, Entry>,
        implied: &BTreeSet<ImagePath>,
    ) -> Result<Self, Error> {
        let mut layout = Self {
            entries: added
                .iter()
                .map(|(path, entry)| (path.clone(), entry))
                .collect(),
        };
        // A symlink may itself be below a symlink, and then be needed where it
        // really is: each round brings at least one more to its place.
        let mut rounds = 0;
        while layout.settle()? {
            rounds += 1;
            if rounds > SYMLINKS {
                return Err(Error::new("lay out", "the image", LOOP));
            }
        }
        for path in implied {
            let path = layout.real(path)?;
            layout.entries.entry(path).or_insert(&PARENT);
        }
        layout.parents()?;
        Ok(layout)
    }

    /// Every entry, parents first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&ImagePath, &'a Entry)> {
        self.entries.iter().map(|(path, entry)| (path, *entry))
    }

    /// What a program would find at a path, all symlinks followed.
    pub(crate) fn find(&self, path: &ImagePath) -> Option<(ImagePath, &'a Entry)> {
        let real = self.real(path).ok()?;
        let entry = self.entries.get(&real)?;
        Some((real, entry))
    }

    /// Whether somebody added something at a path itself.
    pub(crate) fn is_taken(&self, path: &ImagePath) -> bool {
        self.beside(path)
            .ok()
            .and_then(|real| self.entries.get(&real))
            .is_some_and(|entry| !ptr::eq(*entry, &PARENT))
    }

    /// Moves every entry to its real directory; true if one had to move.
    fn settle(&mut self) -> Result<bool, Error> {
        let mut settled = BTreeMap::new();
        let mut has_moved = false;
        for (path, entry) in &self.entries {
            let real = self.beside(path)?;
            has_moved |= real != *path;
            match settled.entry(real) {
                Place::Vacant(free) => {
                    free.insert(*entry);
                }
                Place::Occupied(taken) => {
                    let reason = "it is added twice, once through a symlink";
                    return Err(Error::new("add", taken.key(), reason));
                }
            }
        }
        self.entries = settled;
        Ok(has_moved)
    }

    /// Adds the directories that nobody added.
    fn parents(&mut self) -> Result<(), Error> {
        let paths: Vec<ImagePath> = self.entries.keys().cloned().collect();
        for path in paths {
            let mut below = path.clone();
            while let Some(parent) = below.parent() {
                if parent == ImagePath::root() {
                    break;
                }
                let entry = *self.entries.entry(parent.clone()).or_insert(&PARENT);
                if entry.content != Content::Directory {
                    let reason = format!("{parent} is no directory");
                    return Err(Error::new("add", path, reason));
                }
                below = parent;
            }
        }
        Ok(())
    }

    /// A path with the symlinks in its directories followed, not the last one.
    fn beside(&self, path: &ImagePath) -> Result<ImagePath, Error> {
        let Some(parent) = path.parent() else {
            return Ok(path.clone());
        };
        let name = path.names().last().unwrap_or_default();
        Ok(self.real(&parent)?.join(name))
    }

    /// A path with every symlink followed. What is not there counts as a name.
    fn real(&self, path: &ImagePath) -> Result<ImagePath, Error> {
        let mut real = ImagePath::root();
        // Names still to walk, the next one last.
        let mut ahead: Vec<&[u8]> = path.names().collect();
        ahead.reverse();
        let mut symlinks = 0;
        while let Some(name) = ahead.pop() {
            match name {
                b"" | b"." => continue,
                b".." => {
                    real.pop();
                    continue;
                }
                name => real.push(name),
            }
            let Some(entry) = self.entries.get(&real) else {
                continue;
            };
            let Content::Symlink(target) = &entry.content else {
                continue;
            };
            symlinks += 1;
            if symlinks > SYMLINKS {
                return Err(Error::new("add", path, LOOP));
            }
            real.pop();
            if target.starts_with(b"/") {
                real = ImagePath::root();
            }
            ahead.extend(target.split(|byte| *byte == b'/').rev());
        }
        Ok(real)
    }
}

const LOOP: &str = "its directories are a loop of symlinks";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Archive;

    fn paths(archive: &Archive) -> Vec<String> {
        let layout = archive.layout().unwrap();
        layout.entries().map(|(path, _)| path.to_string()).collect()
    }

    fn reason(archive: &Archive) -> String {
        archive.layout().err().unwrap().to_string()
    }

    #[test]
    fn missing_parents_are_directories_of_0755() {
        let mut archive = Archive::new();
        archive.file("/usr/bin/tool", 0o755, "").unwrap();

        let layout = archive.layout().unwrap();

        assert_eq!(paths(&archive), ["/usr", "/usr/bin", "/usr/bin/tool"]);
        assert_eq!(layout.entries().next().unwrap().1, &Entry::directory());
    }

    #[test]
    fn an_entry_below_a_symlink_goes_where_it_points() {
        let mut archive = Archive::new();
        archive.symlink("/lib", "usr/lib").unwrap();
        archive.file("/lib/libc.so", 0o644, "").unwrap();

        assert_eq!(
            paths(&archive),
            ["/lib", "/usr", "/usr/lib", "/usr/lib/libc.so"]
        );
    }

    #[test]
    fn a_symlink_below_a_symlink_leads_on() {
        let mut archive = Archive::new();
        archive.symlink("/a", "/b").unwrap();
        archive.symlink("/a/c", "../d").unwrap();
        archive.file("/b/c/e", 0o644, "").unwrap();

        assert_eq!(paths(&archive), ["/a", "/b", "/b/c", "/d", "/d/e"]);
    }

    #[test]
    fn an_absolute_symlink_starts_at_the_root() {
        let mut archive = Archive::new();
        archive.symlink("/x/a", "/b").unwrap();
        archive.symlink("/x/r", "b").unwrap();
        archive.file("/x/a/c", 0o644, "").unwrap();
        archive.file("/x/r/d", 0o644, "").unwrap();

        assert_eq!(
            paths(&archive),
            ["/b", "/b/c", "/x", "/x/a", "/x/b", "/x/b/d", "/x/r"]
        );
    }

    #[test]
    fn one_file_by_two_ways_is_added_twice() {
        let mut archive = Archive::new();
        archive.symlink("/bin", "usr/bin").unwrap();
        archive.file("/bin/sh", 0o755, "one").unwrap();
        archive.file("/usr/bin/sh", 0o755, "two").unwrap();

        assert_eq!(
            reason(&archive),
            "add /usr/bin/sh: it is added twice, once through a symlink"
        );
    }

    #[test]
    fn a_loop_of_symlinks_is_an_entry_but_no_directory() {
        let mut archive = Archive::new();
        archive.symlink("/a", "b").unwrap();
        archive.symlink("/b", "a").unwrap();
        assert_eq!(paths(&archive), ["/a", "/b"]);

        archive.file("/a/x", 0o644, "").unwrap();

        assert_eq!(
            reason(&archive),
            "add /a: its directories are a loop of symlinks"
        );
    }

    #[test]
    fn a_symlink_that_points_below_itself_is_a_loop() {
        let mut archive = Archive::new();
        archive.symlink("/a", "a/b").unwrap();
        archive.symlink("/a/b", "c").unwrap();

        assert_eq!(
            reason(&archive),
            "add /a: its directories are a loop of symlinks"
        );
    }

    #[test]
    fn nothing_is_below_a_file() {
        let mut archive = Archive::new();
        archive.file("/etc", 0o644, "").unwrap();
        archive.file("/etc/motd", 0o644, "").unwrap();

        assert_eq!(reason(&archive), "add /etc/motd: /etc is no directory");
    }

    #[test]
    fn the_root_is_written_only_when_it_was_added() {
        let mut archive = Archive::new();
        archive.file("/a", 0o644, "").unwrap();
        assert_eq!(paths(&archive), ["/a"]);

        archive.directory("/", 0o700).unwrap();

        assert_eq!(paths(&archive), ["/", "/a"]);
    }

    #[test]
    fn a_path_is_found_through_symlinks() {
        let mut archive = Archive::new();
        archive.symlink("/bin", "usr/bin").unwrap();
        archive.symlink("/bin/sh", "busybox").unwrap();
        archive.file("/usr/bin/busybox", 0o755, "").unwrap();
        let layout = archive.layout().unwrap();

        let (real, _) = layout.find(&"/bin/sh".parse().unwrap()).unwrap();

        assert_eq!(real.to_string(), "/usr/bin/busybox");
        assert!(layout.find(&"/bin/ash".parse().unwrap()).is_none());
    }

    #[test]
    fn a_directory_that_nobody_added_is_not_taken() {
        let mut archive = Archive::new();
        archive.file("/usr/bin/tool", 0o755, "").unwrap();
        archive.symlink("/bin", "usr/bin").unwrap();
        archive.directory("/tmp", 0o755).unwrap();
        let layout = archive.layout().unwrap();
        let is_taken = |path: &str| layout.is_taken(&path.parse().unwrap());

        assert!(!is_taken("/usr"));
        assert!(is_taken("/tmp"));
        assert!(is_taken("/bin"));
        assert!(is_taken("/bin/tool"));
    }
}
