//! Folders, runs of the command, and a reader that knows only the format.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of one test, gone after it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("command-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A static program for x86-64: the head is all that anybody reads.
    pub(crate) fn program(&self, name: impl AsRef<Path>) -> PathBuf {
        self.write(name, elf(62))
    }

    /// Runs the command in the folder.
    pub(crate) fn image<S: AsRef<OsStr>>(&self, words: &[S]) -> Output {
        self.command(words).output().unwrap()
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_image"));
        command
            .args(words)
            .current_dir(&self.0)
            .env_remove("SOURCE_DATE_EPOCH");
        command
    }

    /// Runs the command, which must succeed, and reads what it wrote.
    pub(crate) fn made<S: AsRef<OsStr>>(&self, words: &[S]) -> Vec<Record> {
        let mut words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
        words.extend(["--output", "image.cpio"].map(OsStr::new));
        let output = self.image(&words);
        assert!(output.status.success(), "{}", text(&output.stderr));
        // What it was written as first is gone.
        let names = fs::read_dir(&self.0).unwrap().flatten();
        let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert!(names.all(|name| !name.ends_with(".partial")));
        records(&fs::read(self.path("image.cpio")).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn elf(machine: u8) -> Vec<u8> {
    let mut header = vec![0; 64];
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    header[16] = 2;
    header[18] = machine;
    header[20] = 1;
    header[52] = 64;
    header
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// One entry as the archive spells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) name: Vec<u8>,
    pub(crate) inode: u32,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) mtime: u32,
    pub(crate) device: (u32, u32),
    pub(crate) body: Vec<u8>,
}

/// Reads an archive by the format's description, with no code of the writer's.
pub(crate) fn records(archive: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    loop {
        let header = std::str::from_utf8(&archive[at..at + 110]).unwrap();
        assert_eq!(&header[..6], "070701");
        let field = |index: usize| {
            let start = 6 + 8 * index;
            u32::from_str_radix(&header[start..start + 8], 16).unwrap()
        };
        let name_end = at + 110 + field(11) as usize;
        assert_eq!(archive[name_end - 1], 0);
        let body = name_end.next_multiple_of(4);
        let body_end = body + field(6) as usize;
        let record = Record {
            name: archive[at + 110..name_end - 1].to_vec(),
            inode: field(0),
            mode: field(1),
            owner: (field(2), field(3)),
            mtime: field(5),
            device: (field(9), field(10)),
            body: archive[body..body_end].to_vec(),
        };
        at = body_end.next_multiple_of(4);
        if record.name == b"TRAILER!!!" {
            assert!(archive[at..].iter().all(|byte| *byte == 0));
            return records;
        }
        records.push(record);
    }
}

pub(crate) fn find<'a>(records: &'a [Record], name: &str) -> &'a Record {
    records
        .iter()
        .find(|record| record.name == name.as_bytes())
        .unwrap_or_else(|| panic!("no {name}"))
}
