//! What a guest left on a disk, by the disk's bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

use qemu::{Disk, tools};

/// Where an ext4 filesystem has its superblock.
const SUPERBLOCK: u64 = 1024;

/// What a filesystem is as the machine left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// It was unmounted, or made read-only.
    Clean,
    /// It was not: the next mount has its journal to replay, or all to check.
    Dirty,
}

/// Reads the two places that say so: `s_state` and the flag of the journal.
pub(crate) fn state(disk: &Disk) -> State {
    /// The bit of `s_state` that is there while nothing writes.
    const VALID: u16 = 1;
    /// The bit of `s_feature_incompat` that says that the journal is needed.
    const NEEDS_RECOVERY: u32 = 4;

    let file = File::open(disk.path()).unwrap();
    let mut magic_and_state = [0; 4];
    file.read_exact_at(&mut magic_and_state, SUPERBLOCK + 56)
        .unwrap();
    let [0x53, 0xef, low, high] = magic_and_state else {
        panic!("{}: no ext4", disk.path().display());
    };
    let mut features = [0; 4];
    file.read_exact_at(&mut features, SUPERBLOCK + 96).unwrap();
    let is_valid = u16::from_le_bytes([low, high]) & VALID != 0;
    let needs_recovery = u32::from_le_bytes(features) & NEEDS_RECOVERY != 0;
    if is_valid && !needs_recovery {
        State::Clean
    } else {
        State::Dirty
    }
}

/// Checks that the filesystem was left clean, and that nothing in it is wrong.
pub(crate) fn assert_clean(disk: &Disk) {
    assert_eq!(state(disk), State::Clean);
    let e2fsck = tools::mkfs_ext4().unwrap().with_file_name("e2fsck");
    let output = Command::new(e2fsck)
        .arg("-fn")
        .arg(disk.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Reads a file of the filesystem without mounting it.
pub(crate) fn read(disk: &Disk, path: &str) -> String {
    let debugfs = tools::mkfs_ext4().unwrap().with_file_name("debugfs");
    let output = Command::new(debugfs)
        .args(["-R", &format!("cat {path}")])
        .arg(disk.path())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
