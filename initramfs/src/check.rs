//! Whether what an image holds can start there.

use std::path::Path;

use crate::archive::Archive;
use crate::entry::Content;
use crate::error::{Error, shown};
use crate::layout::Layout;
use crate::libraries::{Libraries, Subject, complete};
use crate::path::ImagePath;
use crate::program::{Machine, Program};

/// Refuses what could not start, and copies libraries if that helps.
pub(crate) fn check(
    archive: &mut Archive,
    named: &[Named<'_>],
    libraries: Libraries,
) -> Result<(), Error> {
    // The first process comes first: it says what machine the image is for.
    let mut machine: Option<Machine> = None;
    for file in named {
        let refuse = |reason: String| Err(Error::new("add", shown(file.source), reason));
        let program = match executable(&archive.layout()?, &file.path) {
            Some(bytes) => Program::read(bytes),
            None => continue,
        };
        match program {
            Program::Elf(object) => {
                let wanted = *machine.get_or_insert(object.machine);
                if object.machine != wanted {
                    let own = object.machine;
                    return refuse(format!("it is for {own}, and the image for {wanted}"));
                }
                let subject = Subject {
                    source: file.source,
                    path: &file.path,
                    object,
                };
                complete(archive, &subject, libraries)?;
            }
            Program::Script { interpreter } => {
                let layout = archive.layout()?;
                let found = ImagePath::parse(&interpreter)
                    .is_ok_and(|path| executable(&layout, &path).is_some());
                if !found {
                    let interpreter = shown(&interpreter);
                    return refuse(format!(
                        "it is a script for {interpreter}, which is no program in the image; \
                         add that too"
                    ));
                }
            }
            Program::Unknown if file.is_program => {
                return refuse("it is neither an ELF program nor a script".to_owned());
            }
            Program::Unknown => {}
        }
    }
    Ok(())
}

/// A file that was asked for by its name, and so has to be able to start.
pub(crate) struct Named<'a> {
    source: &'a Path,
    path: ImagePath,
    /// Whether it has to be a program at all.
    is_program: bool,
}

impl<'a> Named<'a> {
    pub(crate) const fn required(source: &'a Path, path: ImagePath) -> Self {
        Self {
            source,
            path,
            is_program: true,
        }
    }

    pub(crate) const fn optional(source: &'a Path, path: ImagePath) -> Self {
        Self {
            source,
            path,
            is_program: false,
        }
    }
}

/// The bytes of a file that may be executed.
fn executable<'a>(layout: &Layout<'a>, path: &ImagePath) -> Option<&'a [u8]> {
    let (_, entry) = layout.find(path)?;
    match &entry.content {
        Content::File(bytes) if entry.mode & 0o111 != 0 => Some(bytes),
        Content::File(_) | Content::Directory | Content::Symlink(_) | Content::Device { .. } => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;

    /// The head of a static program: no segments, so no loader.
    fn elf(machine: u8) -> Vec<u8> {
        let mut header = vec![0; 64];
        header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        header[16] = 2;
        header[18] = machine;
        header[20] = 1;
        header[52] = 64;
        header
    }

    fn checked(files: &[(&str, u32, Vec<u8>)]) -> Result<(), String> {
        let mut archive = Archive::new();
        let mut named = Vec::new();
        for (path, mode, bytes) in files {
            archive
                .add(path, Entry::file(bytes.clone()).mode(*mode))
                .unwrap();
            named.push(Named {
                source: Path::new(path),
                path: path.parse().unwrap(),
                is_program: *path == "/init" || *path == "/host",
            });
        }
        check(&mut archive, &named, Libraries::Refuse).map_err(|error| error.to_string())
    }

    #[test]
    fn a_static_program_can_start() {
        assert_eq!(
            checked(&[("/init", 0o755, elf(62)), ("/host", 0o755, elf(62))]),
            Ok(())
        );
    }

    #[test]
    fn a_program_for_another_machine_is_refused() {
        assert_eq!(
            checked(&[("/init", 0o755, elf(62)), ("/host", 0o755, elf(183))]),
            Err("add /host: it is for aarch64, and the image for x86-64".into())
        );
        assert_eq!(
            checked(&[("/init", 0o755, elf(183)), ("/tool", 0o755, elf(62))]),
            Err("add /tool: it is for x86-64, and the image for aarch64".into())
        );
    }

    #[test]
    fn a_file_that_nobody_may_execute_can_be_for_any_machine() {
        assert_eq!(
            checked(&[("/init", 0o755, elf(62)), ("/firmware", 0o644, elf(183))]),
            Ok(())
        );
    }

    #[test]
    fn a_script_needs_its_interpreter() {
        let script = || b"#!/bin/sh -e\n".to_vec();
        let refused = "add /host: it is a script for /bin/sh, which is no program in the image; \
                       add that too";

        assert_eq!(
            checked(&[("/host", 0o755, script())]),
            Err(refused.to_owned())
        );
        assert_eq!(
            checked(&[("/bin/sh", 0o644, elf(62)), ("/host", 0o755, script())]),
            Err(refused.to_owned())
        );
        assert_eq!(
            checked(&[("/host", 0o755, script()), ("/bin/sh", 0o755, elf(62))]),
            Ok(())
        );
    }

    #[test]
    fn a_host_that_the_kernel_cannot_start_is_refused() {
        let text = b"print('hello')".to_vec();

        assert_eq!(
            checked(&[("/host", 0o755, text.clone())]),
            Err("add /host: it is neither an ELF program nor a script".into())
        );
        assert_eq!(checked(&[("/data", 0o755, text)]), Ok(()));
    }
}
