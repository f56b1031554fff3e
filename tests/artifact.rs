//! The program as a file: static, fixed in place, small, the same every time.
//!
//! A reader of ELF (`elf(5)`) of sixty lines, for the little that is asked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// What the release program may weigh, in bytes: it is the first thing a small
/// image carries. Measured at 242,088: a seventh of it is the TOML parser, another the
/// config's keys and messages, another the entrypoint with its options.
const BUDGET: usize = 252 * 1024;

/// The program that the other tests run: with its symbols.
const DEBUG: &str = env!("CARGO_BIN_EXE_host-init");

const ET_EXEC: u64 = 2;
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
const PT_GNU_STACK: u64 = 0x6474_e551;
const PF_X: u64 = 1;
const PF_W: u64 = 2;
const SHT_SYMTAB: u64 = 2;
const SHT_RELA: u64 = 4;
const SHT_DYNAMIC: u64 = 6;
const SHT_REL: u64 = 9;
const SHT_RELR: u64 = 19;

/// A 64-bit file of the lowest byte first.
struct Elf {
    bytes: Vec<u8>,
}

/// What is mapped when the program starts.
#[derive(Debug)]
struct Segment {
    kind: u64,
    flags: u64,
    address: u64,
    size: u64,
}

#[derive(Debug)]
struct Section {
    name: String,
    kind: u64,
    address: u64,
    offset: usize,
    size: usize,
    /// Of a table of symbols: the number of the section with their names.
    link: usize,
}

#[derive(Debug)]
struct Symbol {
    name: String,
    is_undefined: bool,
}

impl Elf {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        assert_eq!(bytes[..7], *b"\x7fELF\x02\x01\x01", "{}", path.display());
        Self { bytes }
    }

    fn number(&self, offset: usize, size: usize) -> u64 {
        let bytes = &self.bytes[offset..offset + size];
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn place(&self, offset: usize, size: usize) -> usize {
        usize::try_from(self.number(offset, size)).unwrap()
    }

    fn kind(&self) -> u64 {
        self.number(16, 2)
    }

    fn segments(&self) -> Vec<Segment> {
        let (table, size, count) = (self.place(32, 8), self.place(54, 2), self.place(56, 2));
        (0..count)
            .map(|index| table + index * size)
            .map(|at| Segment {
                kind: self.number(at, 4),
                flags: self.number(at + 4, 4),
                address: self.number(at + 16, 8),
                size: self.number(at + 40, 8),
            })
            .collect()
    }

    fn sections(&self) -> Vec<Section> {
        let (table, size, count) = (self.place(40, 8), self.place(58, 2), self.place(60, 2));
        let names = self.place(table + self.place(62, 2) * size + 24, 8);
        (0..count)
            .map(|index| table + index * size)
            .map(|at| Section {
                name: self.text(names + self.place(at, 4)),
                kind: self.number(at + 4, 4),
                address: self.number(at + 16, 8),
                offset: self.place(at + 24, 8),
                size: self.place(at + 32, 8),
                link: self.place(at + 40, 4),
            })
            .collect()
    }

    fn symbols(&self) -> Vec<Symbol> {
        let sections = self.sections();
        sections
            .iter()
            .filter(|section| section.kind == SHT_SYMTAB)
            .flat_map(|section| {
                let names = sections[section.link].offset;
                // The first is none.
                (1..section.size / 24).map(move |index| {
                    let at = section.offset + index * 24;
                    Symbol {
                        name: self.text(names + self.place(at, 4)),
                        is_undefined: self.number(at + 6, 2) == 0,
                    }
                })
            })
            .collect()
    }

    fn text(&self, offset: usize) -> String {
        let bytes = &self.bytes[offset..];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap();
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }
}

/// The release program, built once.
fn release() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("release", &[]))
}

/// Builds the release program into a target directory of its own.
fn build(directory: &str, variables: &[(&str, &str)]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(directory);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "build",
            "--release",
            "--package",
            "host-init",
            "--bin",
            "host-init",
        ])
        // Everything is there: these tests were built from it.
        .args(["--frozen", "--quiet", "--target-dir"])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in [
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
    ] {
        cargo.env_remove(name);
    }
    cargo.envs(variables.iter().copied());
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    target.join("release/host-init")
}

/// The program as it is shipped, and as the other tests run it.
fn both() -> [(&'static str, Elf); 2] {
    [
        ("release", Elf::read(release())),
        ("debug", Elf::read(Path::new(DEBUG))),
    ]
}

#[test]
fn it_needs_no_loader() {
    for (what, elf) in both() {
        assert_eq!(elf.kind(), ET_EXEC, "{what}");
        for segment in elf.segments() {
            assert!(
                !matches!(segment.kind, PT_INTERP | PT_DYNAMIC),
                "{what}: {segment:x?}"
            );
        }
        for section in elf.sections() {
            let is_relocation = matches!(section.kind, SHT_REL | SHT_RELA | SHT_RELR | SHT_DYNAMIC);
            assert!(!is_relocation || section.size == 0, "{what}: {section:x?}");
        }
    }
}

#[test]
fn what_can_be_written_can_not_be_run() {
    for (what, elf) in both() {
        let segments = elf.segments();
        for segment in &segments {
            assert_ne!(
                segment.flags & (PF_W | PF_X),
                PF_W | PF_X,
                "{what}: {segment:x?}"
            );
        }
        let stacks: Vec<&Segment> = segments
            .iter()
            .filter(|segment| segment.kind == PT_GNU_STACK)
            .collect();
        assert_eq!(stacks.len(), 1, "{what}: without one the stack can be run");
        assert_eq!(stacks[0].flags & PF_X, 0, "{what}");
    }
}

#[test]
fn constants_can_be_neither_written_nor_run() {
    for (what, elf) in both() {
        let segments = elf.segments();
        let constants: Vec<Section> = elf
            .sections()
            .into_iter()
            .filter(|section| section.name.starts_with(".rodata"))
            .collect();
        assert!(!constants.is_empty(), "{what}");
        for section in constants {
            let segment = segments
                .iter()
                .filter(|segment| segment.kind == PT_LOAD)
                .find(|segment| {
                    (segment.address..segment.address + segment.size).contains(&section.address)
                })
                .unwrap();
            assert_eq!(segment.flags & (PF_W | PF_X), 0, "{what}: {section:x?}");
        }
    }
}

#[test]
fn no_symbol_is_missing_and_none_is_an_allocators_or_a_c_librarys() {
    let mut symbols = Elf::read(Path::new(DEBUG)).symbols();
    if symbols.is_empty() {
        // The tests themselves run in release, and so without.
        let strip = ("CARGO_PROFILE_RELEASE_STRIP", "false");
        symbols = Elf::read(&build("symbols", &[strip])).symbols();
    }
    let names: Vec<&str> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();

    // The reader reads: these are there.
    assert!(
        names.contains(&"_start") && names.contains(&"memcpy"),
        "{names:?}"
    );
    for symbol in &symbols {
        assert!(!symbol.is_undefined || symbol.name.is_empty(), "{symbol:?}");
        let name = symbol.name.as_str();
        let is_foreign = matches!(
            name,
            "malloc" | "calloc" | "realloc" | "free" | "printf" | "abort" | "__errno_location"
        ) || name.contains("__rust_alloc")
            || name.contains("__rust_realloc")
            || name.contains("__rdl_")
            || name.starts_with("__libc_");
        assert!(!is_foreign, "{name}");
    }
}

#[test]
fn the_shipped_program_has_no_symbols_and_is_within_its_budget() {
    let elf = Elf::read(release());

    assert!(elf.symbols().is_empty());
    let size = elf.bytes.len();
    assert!(
        size <= BUDGET,
        "{size} bytes, {} too many",
        size.saturating_sub(BUDGET)
    );
}

#[test]
fn the_same_sources_give_the_same_bytes() {
    let again = fs::read(build("again", &[])).unwrap();

    // By length first: a difference of all bytes is nothing to look at.
    let first = fs::read(release()).unwrap();
    assert_eq!(first.len(), again.len());
    assert!(first == again, "two builds differ");
}
