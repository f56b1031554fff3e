//! What the kernel and the loader read at the head of a program.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use goblin::elf::{Elf, header};
use goblin::options::ParseOptions;

/// How the kernel would start a file.
#[derive(Debug)]
pub(crate) enum Program {
    /// Machine code.
    Elf(Object),
    /// A text that another program reads.
    Script {
        /// The program after `#!`.
        interpreter: PathBuf,
    },
    /// Nothing that the kernel starts by itself.
    Unknown,
}

/// A program or a shared library: what it is built for and what it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) machine: Machine,
    /// The loader that the kernel starts in its place.
    pub(crate) interpreter: Option<PathBuf>,
    /// Names of shared libraries.
    pub(crate) needed: Vec<OsString>,
    /// Where to look first, also for the libraries of its libraries.
    pub(crate) rpath: Vec<OsString>,
    /// Where to look for its own libraries; `rpath` does not count beside it.
    pub(crate) runpath: Vec<OsString>,
}

/// A processor's instruction set, width and byte order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Machine {
    number: u16,
    class: u8,
    order: u8,
}

impl Program {
    /// Reads the head of a file. Never fails: what has ELF's magic but is cut or
    /// garbled is no program either.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        if let Some(object) = Object::read(bytes) {
            return Self::Elf(object);
        }
        let Some(line) = bytes.strip_prefix(b"#!") else {
            return Self::Unknown;
        };
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let word = line
            .split(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
            .find(|word| !word.is_empty());
        match word {
            Some(word) => Self::Script {
                interpreter: PathBuf::from(OsStr::from_bytes(word)),
            },
            None => Self::Unknown,
        }
    }
}

impl Object {
    /// Reads a program or library; `None` for anything else.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(header::ELFMAG) {
            return None;
        }
        // Only the loader's tables count here. Sections are for linkers and
        // debuggers, and a stripped or packed program may have them broken.
        let elf = Elf::parse_with_opts(bytes, &ParseOptions::permissive()).ok()?;
        let owned = |texts: &[&str]| texts.iter().map(OsString::from).collect();
        let split = |texts: &[&str]| {
            let paths = texts.iter().flat_map(|text| text.split(':'));
            paths
                .filter(|path| !path.is_empty())
                .map(OsString::from)
                .collect()
        };
        Some(Self {
            machine: Machine {
                number: elf.header.e_machine,
                class: elf.header.e_ident[header::EI_CLASS],
                order: elf.header.e_ident[header::EI_DATA],
            },
            interpreter: elf.interpreter.map(PathBuf::from),
            needed: owned(&elf.libraries),
            rpath: split(&elf.rpaths),
            runpath: split(&elf.runpaths),
        })
    }
}

impl Machine {
    /// What container images call it; `None` for one that host-init is not for.
    pub(crate) const fn architecture(self) -> Option<&'static str> {
        match (self.number, self.class, self.order) {
            (header::EM_X86_64, header::ELFCLASS64, header::ELFDATA2LSB) => Some("amd64"),
            (header::EM_AARCH64, header::ELFCLASS64, header::ELFDATA2LSB) => Some("arm64"),
            _ => None,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.number, self.class) {
            (header::EM_X86_64, header::ELFCLASS64) => f.write_str("x86-64"),
            (header::EM_X86_64, _) => f.write_str("x32"),
            (header::EM_386, _) => f.write_str("i386"),
            (header::EM_AARCH64, _) => f.write_str("aarch64"),
            (header::EM_ARM, _) => f.write_str("arm"),
            (header::EM_RISCV, _) => f.write_str("riscv"),
            (number, _) => write!(f, "machine {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interpreter(text: &str) -> Option<String> {
        match Program::read(text.as_bytes()) {
            Program::Script { interpreter } => Some(interpreter.display().to_string()),
            Program::Elf(_) | Program::Unknown => None,
        }
    }

    #[test]
    fn a_script_names_its_interpreter_in_the_first_line() {
        assert_eq!(interpreter("#!/bin/sh\n#!/no"), Some("/bin/sh".into()));
        assert_eq!(
            interpreter("#! /usr/bin/env python3"),
            Some("/usr/bin/env".into())
        );
        assert_eq!(interpreter("#!\n/bin/sh"), None);
        assert_eq!(interpreter("/bin/sh"), None);
    }

    #[test]
    fn the_test_itself_is_linked_to_the_c_library() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();

        let object = Object::read(&bytes).unwrap();

        assert!(object.interpreter.is_some());
        assert!(object.needed.iter().any(|name| name == "libc.so.6"));
    }

    #[test]
    fn a_program_cut_anywhere_is_read_without_a_panic() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();

        for end in (0..2048).chain([bytes.len() / 2]) {
            Program::read(&bytes[..end]);
        }
        assert!(matches!(Program::read(&bytes[..20]), Program::Unknown));
    }

    #[test]
    fn the_machine_has_a_name_that_people_use() {
        let machine = |number, class| Machine {
            number,
            class,
            order: 1,
        };

        assert_eq!(machine(62, 2).to_string(), "x86-64");
        assert_eq!(machine(183, 2).to_string(), "aarch64");
        assert_eq!(machine(3, 1).to_string(), "i386");
        assert_eq!(machine(2, 1).to_string(), "machine 2");
    }

    #[test]
    fn a_machine_of_containers_has_their_name() {
        let architecture = |number, class, order| {
            let machine = Machine {
                number,
                class,
                order,
            };
            machine.architecture()
        };

        assert_eq!(architecture(62, 2, 1), Some("amd64"));
        assert_eq!(architecture(183, 2, 1), Some("arm64"));
        // x32, and an ARM of the highest byte first.
        assert_eq!(architecture(62, 1, 1), None);
        assert_eq!(architecture(183, 2, 2), None);
    }
}
