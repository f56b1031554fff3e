//! Files of every kind, in a directory of their own.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A new directory, gone at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("host-init-store-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("record")
    }

    fn aside(&self) -> PathBuf {
        self.0.join("record.new")
    }

    /// The names of all that is in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn filled(byte: u8) -> [u8; BYTES] {
    [byte; BYTES]
}

/// A slot in which there was no record yet.
fn made() -> [u8; BYTES] {
    let mut slot = [0; BYTES];
    slot[..8].copy_from_slice(b"hostboot");
    slot
}

/// What both slots have, or why they can't be read.
fn slots(path: &Path) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut memory = [0xee; LENGTH];
    read(&text(path), &mut memory).map(|(first, second)| (first.to_vec(), second.to_vec()))
}

/// The result of both, for a path where there should be nothing to do.
fn refusals(path: &Path) -> (Option<Errno>, Option<Errno>) {
    let written = write(&text(path), Slot::First, &filled(1));
    (slots(path).err(), written.err())
}

#[test]
fn a_file_that_is_missing_is_made_whole() {
    let folder = Folder::new();
    let path = folder.file();
    assert_eq!(slots(&path), Err(Errno::ENOENT));

    write(&text(&path), Slot::Second, &filled(1)).unwrap();

    assert_eq!(fs::metadata(&path).unwrap().len(), 8192);
    let (first, second) = slots(&path).unwrap();
    assert_eq!((first, second), (made().to_vec(), filled(1).to_vec()));
}

#[test]
fn a_file_that_is_made_is_its_owners_and_alone() {
    let folder = Folder::new();

    write(&text(&folder.file()), Slot::First, &filled(1)).unwrap();

    assert_eq!(folder.names(), ["record"]);
    let mode = fs::metadata(folder.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_a_power_cut_has_left_aside_is_made_anew() {
    for length in [0, 1, 4096, 8192, 10_000] {
        let folder = Folder::new();
        fs::write(folder.aside(), vec![7; length]).unwrap();

        write(&text(&folder.file()), Slot::Second, &filled(1)).unwrap();

        let whole = fs::read(folder.file()).unwrap();
        assert_eq!(whole, [made(), filled(1)].concat());
        assert_eq!(folder.names(), ["record"]);
        let mode = fs::metadata(folder.file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_is_aside_of_a_file_that_is_there_stays() {
    let folder = Folder::new();
    fs::write(folder.file(), [0; 100]).unwrap();
    fs::write(folder.aside(), "a person's").unwrap();

    write(&text(&folder.file()), Slot::First, &filled(1)).unwrap();

    assert_eq!(fs::read(folder.aside()).unwrap(), b"a person's");
}

#[test]
fn a_link_aside_is_not_followed() {
    let folder = Folder::new();
    let (victim, nothing) = (folder.0.join("victim"), folder.0.join("nothing"));
    fs::write(&victim, "a person's").unwrap();
    for target in [&victim, &nothing] {
        symlink(target, folder.aside()).unwrap();

        write(&text(&folder.file()), Slot::First, &filled(1)).unwrap();

        assert_eq!(slots(&folder.file()).unwrap().0, filled(1));
        assert!(fs::symlink_metadata(folder.file()).unwrap().is_file());
        fs::remove_file(folder.file()).unwrap();
        assert_eq!(folder.names(), ["victim"]);
        assert_eq!(fs::read(&victim).unwrap(), b"a person's");
    }
}

#[test]
fn a_fifo_aside_makes_nobody_wait_and_a_directory_stays() {
    let folder = Folder::new();
    // SAFETY: a C string and a number.
    let made = unsafe { libc::mkfifo(text(&folder.aside()).as_ptr(), 0o600) };
    assert_eq!(made, 0);

    write(&text(&folder.file()), Slot::First, &filled(1)).unwrap();

    assert_eq!(folder.names(), ["record"]);
    fs::remove_file(folder.file()).unwrap();
    fs::create_dir(folder.aside()).unwrap();
    let written = write(&text(&folder.file()), Slot::First, &filled(1));
    assert_eq!(written, Err(Errno::EISDIR));
    assert_eq!(folder.names(), ["record.new"]);
}

#[test]
fn a_name_that_was_taken_meanwhile_stays_whose_it_is() {
    let folder = Folder::new();
    let directory = files::open_directory(&text(&folder.0)).unwrap();
    fs::write(folder.aside(), [0; LENGTH]).unwrap();
    let named = || give_name(&directory, c"record.new", c"record");

    fs::write(folder.file(), "another's").unwrap();
    assert_eq!(named(), Err(Errno::EEXIST));
    assert_eq!(leave_alone(&directory, c"record"), Err(Errno::EEXIST));
    assert_eq!(fs::read(folder.file()).unwrap(), b"another's");

    fs::remove_file(folder.file()).unwrap();
    symlink("nowhere", folder.file()).unwrap();
    assert_eq!(named(), Err(Errno::EEXIST));
    assert_eq!(leave_alone(&directory, c"record"), Err(Errno::EEXIST));
    assert_eq!(fs::read_link(folder.file()).unwrap(), Path::new("nowhere"));

    fs::remove_file(folder.file()).unwrap();
    assert_eq!(leave_alone(&directory, c"record"), Ok(()));
    assert_eq!(named(), Ok(()));
    assert_eq!(folder.names(), ["record"]);
}

#[test]
fn a_name_with_no_room_for_another_beside_it_is_refused() {
    let folder = Folder::new();
    let path = |length| folder.0.join("x".repeat(length));
    let written = |length| write(&text(&path(length)), Slot::First, &filled(1));

    assert_eq!(written(251), Ok(()));
    for length in [252, 255, 256] {
        assert_eq!(written(length), Err(Errno::ENAMETOOLONG), "{length}");
    }
    assert_eq!(folder.names(), ["x".repeat(251)]);
    // One that is there needs no other name.
    fs::write(path(255), []).unwrap();
    assert_eq!(written(255), Ok(()));
}

#[test]
fn no_file_is_made_in_place_of_a_device() {
    let path = Path::new("/dev/host-init-store-missing");

    let refused = (Some(Errno::ENOENT), Some(Errno::ENODEV));
    assert_eq!(refusals(path), refused);
    assert!(!path.with_extension("new").exists());
}

#[test]
fn a_directory_that_is_missing_is_not_made() {
    let folder = Folder::new();
    let path = folder.0.join("missing").join("record");

    let both = Some(Errno::ENOENT);
    assert_eq!(refusals(&path), (both, both));
    assert!(fs::read_dir(&folder.0).unwrap().next().is_none());
}

#[test]
fn slots_that_are_written_in_turn_leave_each_other_alone() {
    let folder = Folder::new();
    let path = folder.file();
    let mut slot = Slot::First;
    for byte in 1..=100 {
        write(&text(&path), slot, &filled(byte)).unwrap();

        let (newer, older) = match (slot, slots(&path).unwrap()) {
            (Slot::First, (first, second)) => (first, second),
            (Slot::Second, (first, second)) => (second, first),
        };
        assert_eq!(newer, filled(byte));
        assert_eq!(older, if byte == 1 { made() } else { filled(byte - 1) });
        slot = slot.other();
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 8192);
}

#[test]
fn a_short_file_has_what_it_has_and_is_made_longer() {
    for length in [0, 1, 4095, 4096, 4097, 8191] {
        let folder = Folder::new();
        let path = folder.file();
        fs::write(&path, vec![7; length]).unwrap();

        let (first, second) = slots(&path).unwrap();
        assert_eq!(first, vec![7; length.min(BYTES)]);
        assert_eq!(second, vec![7; length.saturating_sub(BYTES)]);

        write(&text(&path), Slot::Second, &filled(1)).unwrap();

        let (first, second) = slots(&path).unwrap();
        let mut kept = vec![7; length.min(BYTES)];
        kept.resize(BYTES, 0);
        assert_eq!((first, second), (kept, filled(1).to_vec()));
    }
}

#[test]
fn what_is_behind_the_slots_is_left_alone() {
    let folder = Folder::new();
    let path = folder.file();
    fs::write(&path, [7; 10_000]).unwrap();

    write(&text(&path), Slot::First, &filled(1)).unwrap();

    let whole = fs::read(&path).unwrap();
    assert_eq!(whole, [vec![1; 4096], vec![7; 5904]].concat());
}

#[test]
fn what_is_no_place_for_slots_is_refused_and_nobody_waits() {
    let folder = Folder::new();
    let fifo = folder.0.join("fifo");
    // SAFETY: a C string and a number.
    let made = unsafe { libc::mkfifo(text(&fifo).as_ptr(), 0o600) };
    assert_eq!(made, 0);
    let socket = folder.0.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();

    let both = |errno| (Some(errno), Some(errno));
    assert_eq!(refusals(&folder.0), both(Errno::EISDIR));
    assert_eq!(refusals(&fifo), both(Errno::ESPIPE));
    assert_eq!(refusals(&socket), both(Errno::ENXIO));
    assert_eq!(refusals(Path::new("/dev/full")), both(Errno::ENOTBLK));
}

#[test]
fn a_link_is_followed_to_a_file_and_to_nothing_else() {
    let folder = Folder::new();
    let (file, link) = (folder.file(), folder.0.join("link"));
    symlink(&file, &link).unwrap();

    assert_eq!(refusals(&link), (Some(Errno::ENOENT), Some(Errno::EEXIST)));
    assert_eq!(folder.names(), ["link"]);
    write(&text(&file), Slot::First, &filled(1)).unwrap();
    write(&text(&link), Slot::First, &filled(2)).unwrap();

    assert_eq!(slots(&file).unwrap().0, filled(2));
}

#[test]
fn a_disk_that_gives_nothing_back_is_told() {
    // A file to the kernel; nothing is at its start.
    let path = Path::new("/proc/self/mem");

    assert_eq!(slots(path), Err(Errno::EIO));
}

#[test]
fn a_name_without_a_directory_is_in_the_one_it_is_used_from() {
    assert_eq!(sync_directory(c"record"), Ok(()));
    assert_eq!(sync_directory(c"/record"), Ok(()));
    assert_eq!(sync_directory(c"/missing/record"), Err(Errno::ENOENT));
}

/// Runs on a filesystem in memory of its own, of this many bytes; only root may.
fn with_filesystem(bytes: usize, run: impl FnOnce(&Path) + Send) {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: only root mounts a filesystem");
        return;
    }
    let folder = Folder::new();
    let path = text(&folder.0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: what this thread sees from now on is its own.
            let parted = unsafe { libc::unshare(libc::CLONE_NEWNS) };
            assert_eq!(parted, 0);
            mount(c"/", libc::MS_REC | libc::MS_PRIVATE, c"");
            let options = CString::new(format!("size={bytes}")).unwrap();
            mount(&path, 0, &options);
            run(&folder.0);
        });
    });
}

fn mount(path: &CStr, flags: libc::c_ulong, options: &CStr) {
    let kind = c"tmpfs".as_ptr();
    // SAFETY: C strings and a number.
    let done = unsafe { libc::mount(kind, path.as_ptr(), kind, flags, options.as_ptr().cast()) };
    assert_eq!(done, 0, "{path:?}");
}

#[test]
fn a_full_disk_is_told_and_counts_once_there_is_room() {
    with_filesystem(16_384, |root| {
        let (ballast, path) = (root.join("ballast"), root.join("record"));
        fs::write(&ballast, [7; 12_288]).unwrap();

        let full = write(&text(&path), Slot::First, &filled(1));
        let is_tidy = !path.exists() && !path.with_extension("new").exists();
        fs::remove_file(&ballast).unwrap();
        let roomy = write(&text(&path), Slot::First, &filled(2));
        fs::write(&ballast, [7; 8_192]).unwrap();
        let full_again = write(&text(&path), Slot::Second, &filled(3));

        assert_eq!(full, Err(Errno::ENOSPC));
        assert!(is_tidy, "what is full is not fuller for it");
        assert_eq!(roomy, Ok(()));
        assert_eq!(full_again, Ok(()), "its blocks are its own");
    });
}

#[test]
fn a_disk_that_can_only_be_read_is_read() {
    with_filesystem(16_384, |root| {
        let path = root.join("record");
        write(&text(&path), Slot::First, &filled(1)).unwrap();
        mount(&text(root), libc::MS_REMOUNT | libc::MS_RDONLY, c"");

        let written = write(&text(&path), Slot::Second, &filled(2));
        let made = write(&text(&root.join("other")), Slot::First, &filled(2));

        assert_eq!((written, made), (Err(Errno::EROFS), Err(Errno::EROFS)));
        assert_eq!(slots(&path).unwrap().0, filled(1));
    });
}
