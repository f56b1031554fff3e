//! Where a dynamic loader looks for libraries: `ld.so(8)`, musl's `dynlink.c`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str;

use crate::root::Root;

/// The directories that glibc's loader is built with differ from one
/// distribution to the next: these are all of them, the usual ones first.
const GLIBC: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// The directories that musl's loader is built with.
const MUSL: [&str; 3] = ["/lib", "/usr/local/lib", "/usr/lib"];

/// What musl's loader is itself, under the names of the C library's parts.
const MUSL_PARTS: [&str; 7] = ["c", "pthread", "rt", "m", "dl", "util", "xnet"];

/// How deep `include` may lead: enough for people, an end for loops.
const INCLUDES: usize = 8;

/// A loader, by the name that programs ask for.
pub(crate) struct Loader {
    name: OsString,
}

impl Loader {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            name: path.file_name().unwrap_or_default().to_owned(),
        }
    }

    /// Whether a library by this name is the loader itself, so that it is never
    /// looked for.
    pub(crate) fn is_itself(&self, library: &OsStr) -> bool {
        if library == self.name {
            return true;
        }
        let part = library
            .as_bytes()
            .strip_prefix(b"lib")
            .and_then(|rest| rest.split(|byte| *byte == b'.').next())
            .and_then(|part| str::from_utf8(part).ok());
        self.is_musl() && part.is_some_and(|part| MUSL_PARTS.contains(&part))
    }

    /// The directories for every program of a root, in the loader's order.
    pub(crate) fn directories(&self, root: &dyn Root) -> Vec<PathBuf> {
        let mut directories = if self.is_musl() {
            self.musl(root)
        } else {
            let mut directories = Vec::new();
            // glibc reads the cache that ldconfig made of the configuration: no
            // cache, no configuration.
            if root.read(Path::new("/etc/ld.so.cache")).is_some() {
                configured(
                    root,
                    Path::new("/etc/ld.so.conf"),
                    INCLUDES,
                    &mut directories,
                );
            }
            directories.extend(self.built_in());
            directories
        };
        let mut seen = Vec::new();
        directories.retain(|directory| {
            let is_new = !seen.contains(directory);
            seen.push(directory.clone());
            is_new
        });
        directories
    }

    /// Whether the loader looks there in any image.
    pub(crate) fn is_built_in(&self, directory: &Path) -> bool {
        self.built_in().any(|known| known == directory)
    }

    fn built_in(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let directories = if self.is_musl() {
            &MUSL[..]
        } else {
            &GLIBC[..]
        };
        directories.iter().map(PathBuf::from)
    }

    fn is_musl(&self) -> bool {
        self.name.as_bytes().starts_with(b"ld-musl-")
    }

    /// musl's `/etc/ld-musl-<machine>.path` stands in place of what is built in.
    fn musl(&self, root: &dyn Root) -> Vec<PathBuf> {
        let mut file = PathBuf::from("/etc").join(&self.name);
        // ld-musl-x86_64.so.1 is configured by ld-musl-x86_64.path.
        file.set_extension("");
        file.set_extension("path");
        match root.read(&file) {
            Some(text) => text
                .split(|byte| matches!(byte, b'\n' | b':'))
                .filter(|directory| directory.starts_with(b"/"))
                .map(|directory| PathBuf::from(OsStr::from_bytes(directory)))
                .collect(),
            None => self.built_in().collect(),
        }
    }
}

/// Reads `/etc/ld.so.conf` and what it includes.
fn configured(root: &dyn Root, file: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Some(text) = root.read(file) else {
        return;
    };
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let mut words = line
            .split(|byte| matches!(byte, b' ' | b'\t' | b',' | b':' | b'='))
            .filter(|word| !word.is_empty());
        match words.next() {
            Some(b"include") if depth > 0 => {
                for pattern in words {
                    for file in matching(root, file, pattern) {
                        configured(root, &file, depth - 1, found);
                    }
                }
            }
            Some(b"include" | b"hwcap") | None => {}
            Some(first) => found.extend(
                std::iter::once(first)
                    .chain(words)
                    .map(|directory| PathBuf::from(OsStr::from_bytes(directory))),
            ),
        }
    }
}

/// The files that an `include` names: `*` and `?` count in the last name only.
fn matching(root: &dyn Root, from: &Path, pattern: &[u8]) -> Vec<PathBuf> {
    let pattern = from
        .parent()
        .unwrap_or(Path::new("/"))
        .join(OsStr::from_bytes(pattern));
    let (Some(directory), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    root.names(directory)
        .iter()
        .filter(|candidate| is_match(name.as_bytes(), candidate))
        .map(|candidate| directory.join(OsStr::from_bytes(candidate)))
        .collect()
}

fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), Some((_, tail))) => is_match(rest, name) || is_match(pattern, tail),
        (Some((b'*', rest)), None) => is_match(rest, name),
        (Some((b'?', rest)), Some((_, tail))) => is_match(rest, tail),
        (Some((want, rest)), Some((have, tail))) => want == have && is_match(rest, tail),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Archive;

    fn directories(loader: &str, files: &[(&str, &str)]) -> Vec<PathBuf> {
        let mut archive = Archive::new();
        for (path, text) in files {
            archive.file(path, 0o644, *text).unwrap();
        }
        Loader::new(Path::new(loader)).directories(&archive.layout().unwrap())
    }

    #[test]
    fn configured_directories_come_before_those_built_in() {
        let found = directories(
            "/lib64/ld-linux-x86-64.so.2",
            &[
                ("/etc/ld.so.cache", ""),
                (
                    "/etc/ld.so.conf",
                    "# text\ninclude ld.so.conf.d/*.conf\n/opt/c # end\n",
                ),
                ("/etc/ld.so.conf.d/b.conf", "include deep/x\n/lib\n"),
                ("/etc/ld.so.conf.d/deep/x", "/opt/b"),
                ("/etc/ld.so.conf.d/a.conf", "/opt/a"),
                ("/etc/ld.so.conf.d/a.off", "/opt/off"),
            ],
        );

        let first: Vec<&str> = found
            .iter()
            .take(5)
            .filter_map(|path| path.to_str())
            .collect();
        assert_eq!(first, ["/opt/a", "/opt/b", "/lib", "/opt/c", GLIBC[0]]);
        // /lib is named once, where it came first.
        assert_eq!(found.len(), 3 + GLIBC.len());
    }

    #[test]
    fn a_configuration_without_its_cache_does_not_count() {
        let found = directories("/lib/ld-linux.so.2", &[("/etc/ld.so.conf", "/opt/a")]);

        assert_eq!(found, GLIBC.map(PathBuf::from));
    }

    #[test]
    fn a_configuration_that_includes_itself_has_an_end() {
        let found = directories(
            "/lib/ld-linux.so.2",
            &[
                ("/etc/ld.so.cache", ""),
                ("/etc/ld.so.conf", "include /etc/ld.so.conf\n/opt/a"),
            ],
        );

        assert_eq!(found[0], Path::new("/opt/a"));
    }

    #[test]
    fn the_loader_of_musl_has_a_file_of_its_own() {
        let loader = "/lib/ld-musl-x86_64.so.1";

        assert_eq!(directories(loader, &[]), MUSL.map(PathBuf::from));
        assert_eq!(
            directories(loader, &[("/etc/ld-musl-x86_64.path", "/a\n/b:/c\n")]),
            ["/a", "/b", "/c"].map(PathBuf::from)
        );
    }

    #[test]
    fn a_loader_is_never_looked_for() {
        let glibc = Loader::new(Path::new("/lib64/ld-linux-x86-64.so.2"));
        let musl = Loader::new(Path::new("/lib/ld-musl-x86_64.so.1"));

        assert!(glibc.is_itself(OsStr::new("ld-linux-x86-64.so.2")));
        assert!(!glibc.is_itself(OsStr::new("libc.so.6")));
        assert!(musl.is_itself(OsStr::new("libc.musl-x86_64.so.1")));
        assert!(musl.is_itself(OsStr::new("libc.so")));
        assert!(!musl.is_itself(OsStr::new("libcrypto.so.3")));
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(is_match(b"*.conf", b"a.conf"));
        assert!(is_match(b"a*b?", b"axxbc"));
        assert!(!is_match(b"*.conf", b"a.conf.old"));
        assert!(is_match(b"*", b""));
    }
}
