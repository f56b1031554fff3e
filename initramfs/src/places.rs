//! The places that a loader looks in for one program's or library's needs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::program::Object;

/// A program or library whose own needs are still to be met.
pub(crate) struct Step {
    pub(crate) object: Object,
    pub(crate) origin: Place,
    /// `DT_RPATH` of what led here.
    pub(crate) inherited: Vec<Place>,
}

/// Where the libraries of one object are looked for before anywhere else.
pub(crate) struct Own {
    pub(crate) first: Vec<Place>,
    /// What its libraries look through too.
    pub(crate) handed_on: Vec<Place>,
}

impl Step {
    pub(crate) fn own_places(&self) -> Own {
        let read = |texts: &[OsString]| -> Vec<Place> {
            texts
                .iter()
                .filter_map(|text| Place::relative_to(&self.origin, text))
                .collect()
        };
        if !self.object.runpath.is_empty() {
            return Own {
                first: read(&self.object.runpath),
                handed_on: self.inherited.clone(),
            };
        }
        let mut chain = read(&self.object.rpath);
        chain.extend(self.inherited.iter().cloned());
        Own {
            first: chain.clone(),
            handed_on: chain,
        }
    }
}

/// A directory as the loader will see it, and as it is on this machine. They
/// differ below `$ORIGIN`: a program moves when it gets into an image.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) image: PathBuf,
    pub(crate) machine: PathBuf,
}

impl Place {
    /// The same directory on both.
    pub(crate) fn shared(directory: &Path) -> Self {
        Self {
            image: directory.to_owned(),
            machine: directory.to_owned(),
        }
    }

    /// A directory of `DT_RPATH` or `DT_RUNPATH`. A relative one means the
    /// directory that a program is started in, which says nothing here.
    fn relative_to(origin: &Self, text: &OsStr) -> Option<Self> {
        let text = text.as_bytes();
        let rest = [&b"$ORIGIN"[..], b"${ORIGIN}"]
            .iter()
            .find_map(|token| text.strip_prefix(*token));
        match rest {
            Some(rest) => {
                let rest = OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest));
                Some(Self {
                    image: folded(&origin.image.join(rest)),
                    machine: origin.machine.join(rest),
                })
            }
            None if text.starts_with(b"/") => {
                Some(Self::shared(&folded(Path::new(OsStr::from_bytes(text)))))
            }
            None => None,
        }
    }
}

/// The places for a name, in the loader's order: a name with a `/` is a path.
pub(crate) fn places(
    name: &OsStr,
    first: &[Place],
    then: &[Place],
) -> impl Iterator<Item = Place> + use<> {
    let places = match directory(Path::new(name)) {
        path if path.is_absolute() => vec![Place::shared(&path)],
        path if path.as_os_str().is_empty() => [first, then].concat(),
        _ => Vec::new(),
    };
    places.into_iter()
}

pub(crate) fn shared(directories: Vec<PathBuf>) -> Vec<Place> {
    directories.iter().map(|path| Place::shared(path)).collect()
}

pub(crate) fn directory(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("/")).to_owned()
}

/// A path without `..`, as text: an image has no directories yet to walk.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                folded.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => folded.push(part),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runpath_is_for_its_own_object_and_an_rpath_is_handed_on() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let mut object = Object::read(&bytes).unwrap();
        let inherited = vec![Place::shared(Path::new("/above"))];
        object.rpath = vec!["/own".into()];
        object.runpath = Vec::new();
        let images = |places: Vec<Place>| -> Vec<PathBuf> {
            places.into_iter().map(|place| place.image).collect()
        };
        let mut step = Step {
            object,
            origin: Place::shared(Path::new("/usr/bin")),
            inherited,
        };

        let by_rpath = step.own_places();
        step.object.runpath = vec!["${ORIGIN}".into(), "relative".into()];
        let by_runpath = step.own_places();

        let chain = [PathBuf::from("/own"), PathBuf::from("/above")];
        assert_eq!(images(by_rpath.first), chain);
        assert_eq!(images(by_rpath.handed_on), chain);
        assert_eq!(images(by_runpath.first), [PathBuf::from("/usr/bin")]);
        assert_eq!(images(by_runpath.handed_on), [PathBuf::from("/above")]);
    }

    #[test]
    fn a_name_with_a_slash_is_a_path() {
        let then = [Place::shared(Path::new("/lib"))];
        let found = |name: &str| -> Vec<PathBuf> {
            places(OsStr::new(name), &[], &then)
                .map(|place| place.image)
                .collect()
        };

        assert_eq!(found("libc.so"), [PathBuf::from("/lib")]);
        assert_eq!(found("/opt/lib/a.so"), [PathBuf::from("/opt/lib")]);
        assert!(found("./a.so").is_empty());
    }
}
