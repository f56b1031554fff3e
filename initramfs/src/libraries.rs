//! Which libraries a program lacks in an image, and where they would come from.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::archive::Archive;
use crate::entry::Entry;
use crate::error::{Error, listed, shown};
use crate::layout::Layout;
use crate::loader::Loader;
use crate::path::ImagePath;
use crate::places::{Place, Step, directory, places, shared};
use crate::program::{Machine, Object};
use crate::root::{Root, ThisMachine};

/// What to do about a program whose loader or libraries the image lacks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Libraries {
    /// Refuse it: an image that cannot start its program is no image.
    #[default]
    Refuse,
    /// Copy them from this machine, and what they need in turn. What a program
    /// opens by itself while it runs (plug-ins, name services) is not seen.
    Copy,
}

/// A program of the image, and where it came from.
pub(crate) struct Subject<'a> {
    pub(crate) source: &'a Path,
    pub(crate) path: &'a ImagePath,
    pub(crate) object: Object,
}

/// Makes sure that the loader and every library of a program are in the image.
pub(crate) fn complete(
    archive: &mut Archive,
    subject: &Subject<'_>,
    libraries: Libraries,
) -> Result<(), Error> {
    let layout = archive.layout()?;
    let mut walk = Walk::new(&layout, subject, libraries);
    walk.loader();
    walk.libraries();
    let Walk {
        copies, missing, ..
    } = walk;
    if !missing.is_empty() {
        let missing = listed(&missing);
        let reason = match libraries {
            Libraries::Refuse => {
                format!("the image lacks {missing}; link it statically or pass --libraries")
            }
            Libraries::Copy => format!("neither the image nor this machine has {missing}"),
        };
        return Err(Error::new("add", shown(subject.source), reason));
    }
    for (path, entry) in copies {
        archive.add(path, entry)?;
    }
    Ok(())
}

/// A walk through what a program needs, and what it came to.
struct Walk<'a> {
    image: &'a Layout<'a>,
    libraries: Libraries,
    machine: Machine,
    loader_path: Option<PathBuf>,
    loader: Loader,
    /// Where the loader is without symlinks: it looks beside itself.
    beside: Option<PathBuf>,
    ahead: VecDeque<Step>,
    copies: Vec<(PathBuf, Entry)>,
    missing: Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(image: &'a Layout<'a>, subject: &Subject<'_>, libraries: Libraries) -> Self {
        let object = subject.object.clone();
        let start = Step {
            origin: Place {
                image: directory(&subject.path.to_path_buf()),
                machine: directory(subject.source),
            },
            inherited: Vec::new(),
            object,
        };
        let loader_path = subject.object.interpreter.clone();
        Self {
            image,
            libraries,
            machine: subject.object.machine,
            loader: Loader::new(loader_path.as_deref().unwrap_or(Path::new(""))),
            loader_path,
            beside: None,
            ahead: VecDeque::from([start]),
            copies: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Finds the program's loader.
    fn loader(&mut self) {
        let Some(path) = self.loader_path.take() else {
            return;
        };
        if let Some(real) = self.image.real(&path) {
            self.beside = Some(directory(&real));
            return;
        }
        match ThisMachine.read(&path) {
            Some(bytes) if self.libraries == Libraries::Copy => {
                self.beside = ThisMachine.real(&path).map(|real| directory(&real));
                self.copies.push((path, Entry::file(bytes).mode(0o755)));
            }
            _ => self.missing.push(format!("its loader {}", shown(&path))),
        }
    }

    /// Finds the program's libraries, and theirs.
    fn libraries(&mut self) {
        let in_image = shared(self.loader.directories(self.image));
        let on_machine = shared(self.loader.directories(&ThisMachine));
        let mut seen = BTreeSet::new();
        while let Some(step) = self.ahead.pop_front() {
            let own = step.own_places();
            for name in &step.object.needed {
                if self.loader.is_itself(name) || !seen.insert(name.clone()) {
                    continue;
                }
                let next = self.in_image(name, &own.first, &in_image).or_else(|| {
                    if self.libraries == Libraries::Refuse {
                        return None;
                    }
                    self.on_machine(name, &own.first, &on_machine)
                });
                match next {
                    Some((object, origin)) => self.ahead.push_back(Step {
                        object,
                        origin,
                        inherited: own.handed_on.clone(),
                    }),
                    None => self.missing.push(shown(Path::new(name))),
                }
            }
        }
    }

    fn in_image(&self, name: &OsStr, first: &[Place], then: &[Place]) -> Option<(Object, Place)> {
        places(name, first, then).find_map(|place| {
            let bytes = self.image.read(&place.image.join(name))?;
            Some((self.fitting(&bytes)?, place))
        })
    }

    fn on_machine(
        &mut self,
        name: &OsStr,
        first: &[Place],
        then: &[Place],
    ) -> Option<(Object, Place)> {
        let (bytes, object, place) = places(name, first, then).find_map(|place| {
            let bytes = ThisMachine.read(&place.machine.join(name))?;
            let object = self.fitting(&bytes)?;
            Some((bytes, object, place))
        })?;
        let path = place.image.join(name);
        let is_named = first.iter().any(|own| own.image == place.image);
        if !is_named && !self.loader.is_built_in(&place.image) {
            // This machine's configuration led there. The image has none, and
            // its loader looks where it is itself.
            if let Some(beside) = self
                .beside
                .as_ref()
                .filter(|beside| **beside != place.image)
            {
                self.copies.push((beside.join(name), Entry::symlink(&path)));
            }
        }
        self.copies.push((path, Entry::file(bytes).mode(0o755)));
        Some((object, place))
    }

    /// A loader passes over what is for another machine.
    fn fitting(&self, bytes: &[u8]) -> Option<Object> {
        Object::read(bytes).filter(|object| object.machine == self.machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    fn this_test() -> (PathBuf, Object) {
        let path = std::env::current_exe().unwrap();
        match Program::read(&std::fs::read(&path).unwrap()) {
            Program::Elf(object) => (path, object),
            other => panic!("{other:?}"),
        }
    }

    fn completed(
        archive: &mut Archive,
        source: &Path,
        object: &Object,
        libraries: Libraries,
    ) -> Result<(), Error> {
        let subject = Subject {
            source,
            path: &"/usr/bin/test".parse().unwrap(),
            object: object.clone(),
        };
        complete(archive, &subject, libraries)
    }

    #[test]
    fn a_program_without_its_libraries_is_refused_by_their_names() {
        let (source, object) = this_test();
        let loader = object.interpreter.clone().unwrap();

        let refused = completed(&mut Archive::new(), &source, &object, Libraries::Refuse);

        let text = refused.unwrap_err().to_string();
        assert!(text.starts_with(&format!(
            "add {}: the image lacks its loader {}, ",
            source.display(),
            loader.display()
        )));
        assert!(text.contains("libc.so.6"));
        assert!(text.ends_with("; link it statically or pass --libraries"));
    }

    #[test]
    fn copied_libraries_complete_the_image_once() {
        let (source, object) = this_test();
        let mut archive = Archive::new();

        completed(&mut archive, &source, &object, Libraries::Copy).unwrap();

        let whole = archive.write(crate::Compression::None).unwrap();
        // Nothing is missing any more, and nothing is copied twice.
        completed(&mut archive, &source, &object, Libraries::Refuse).unwrap();
        completed(&mut archive, &source, &object, Libraries::Copy).unwrap();
        assert_eq!(archive.write(crate::Compression::None).unwrap(), whole);
        let layout = archive.layout().unwrap();
        assert!(layout.read(&object.interpreter.unwrap()).is_some());
    }

    #[test]
    fn a_library_for_another_machine_is_passed_over() {
        let (source, object) = this_test();
        let loader = object.interpreter.clone().unwrap();
        let mut foreign = std::fs::read(&source).unwrap();
        // The low byte of e_machine: nobody's.
        foreign[18] ^= 0x80;
        let mut archive = Archive::new();
        archive.file("/lib64/libc.so.6", 0o755, foreign).unwrap();
        archive.file(&loader, 0o755, "").unwrap();

        let refused = completed(&mut archive, &source, &object, Libraries::Refuse);

        let text = refused.unwrap_err().to_string();
        assert!(text.contains("libc.so.6"), "{text}");
    }

    #[test]
    fn a_library_that_is_nowhere_is_named() {
        let (source, mut object) = this_test();
        object.needed.push("libnowhere.so.9".into());

        let refused = completed(&mut Archive::new(), &source, &object, Libraries::Copy);

        assert_eq!(
            refused.unwrap_err().to_string(),
            format!(
                "add {}: neither the image nor this machine has libnowhere.so.9",
                source.display()
            )
        );
    }

    #[test]
    fn a_library_beside_the_program_moves_with_it() {
        let (source, mut object) = this_test();
        let folder = std::env::temp_dir().join(format!("initramfs-origin-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::fs::create_dir_all(folder.join("lib")).unwrap();
        std::fs::copy(&source, folder.join("lib/libown.so")).unwrap();
        object.needed = vec!["libown.so".into()];
        object.runpath = vec!["$ORIGIN/../lib".into()];
        let mut archive = Archive::new();

        let result = completed(
            &mut archive,
            &folder.join("bin/test"),
            &object,
            Libraries::Copy,
        );

        std::fs::remove_dir_all(&folder).unwrap();
        result.unwrap();
        let layout = archive.layout().unwrap();
        assert!(layout.read(Path::new("/usr/lib/libown.so")).is_some());
    }

    #[test]
    fn a_library_that_only_a_configuration_finds_is_linked_beside_the_loader() {
        let (source, object) = this_test();
        let folder = std::env::temp_dir().join(format!("initramfs-beside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(&source, folder.join("libown.so")).unwrap();
        let archive = Archive::new();
        let layout = archive.layout().unwrap();
        let subject = Subject {
            source: &source,
            path: &"/usr/bin/test".parse().unwrap(),
            object,
        };
        let mut walk = Walk::new(&layout, &subject, Libraries::Copy);
        walk.beside = Some("/lib64".into());
        let places = [Place::shared(&folder)];

        let by_runpath = walk.on_machine(OsStr::new("libown.so"), &places, &[]);
        let without = std::mem::take(&mut walk.copies);
        let by_configuration = walk.on_machine(OsStr::new("libown.so"), &[], &places);

        std::fs::remove_dir_all(&folder).unwrap();
        assert!(by_runpath.is_some() && by_configuration.is_some());
        let own = folder.join("libown.so");
        assert_eq!(without.len(), 1);
        assert_eq!(without[0].0, own);
        assert_eq!(walk.copies.len(), 2);
        assert_eq!(
            walk.copies[0],
            ("/lib64/libown.so".into(), Entry::symlink(&own))
        );
        assert_eq!(walk.copies[1].0, own);
    }
}
