//! The pseudo filesystems of a machine, in one table, parents first.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::format::mount_options::flag::{NODEV, NOEXEC, NOSUID, RDONLY, RELATIME};
use crate::pid1::log::Log;
use crate::sys::mount::{self, Place};
use crate::sys::{Result, files};

/// A filesystem of the kernel's own, and where it belongs.
pub struct Filesystem {
    /// Where.
    pub target: &'static CStr,
    /// What: also its source, as in `/proc/mounts` of other systems.
    pub kind: &'static CStr,
    /// Flags of `mount(2)`.
    pub flags: u32,
    /// Its options, and weaker ones for a kernel that refuses them.
    pub options: &'static [&'static CStr],
    /// What is mounted when it is mounted twice.
    pub twice: Twice,
    /// How much is lost without it.
    pub without: Level,
}

/// What the kernel does with a second mount of the same on the same place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Twice {
    /// It refuses, with `EBUSY`.
    Refused,
    /// It makes another one on top: so look before.
    Stacks,
}

const SAFE: u32 = NOSUID | NODEV | NOEXEC;

/// Every one of them. A kernel that has not got one leaves it out.
pub const TABLE: [Filesystem; 17] = [
    entry(
        c"/proc",
        c"proc",
        SAFE,
        &[c""],
        Twice::Refused,
        Level::Error,
    ),
    entry(
        c"/sys",
        c"sysfs",
        SAFE,
        &[c""],
        Twice::Refused,
        Level::Error,
    ),
    entry(
        c"/dev",
        c"devtmpfs",
        NOSUID,
        &[c"mode=0755"],
        Twice::Stacks,
        Level::Error,
    ),
    entry(
        c"/dev/pts",
        c"devpts",
        NOSUID | NOEXEC,
        &[c"ptmxmode=000,mode=620,gid=5"],
        Twice::Stacks,
        Level::Warning,
    ),
    entry(
        c"/dev/shm",
        c"tmpfs",
        SAFE | RELATIME,
        &[c"mode=1777"],
        Twice::Stacks,
        Level::Warning,
    ),
    entry(
        c"/run",
        c"tmpfs",
        SAFE | RELATIME,
        &[c"mode=0755"],
        Twice::Stacks,
        Level::Error,
    ),
    entry(
        c"/tmp",
        c"tmpfs",
        SAFE,
        &[c"mode=1777"],
        Twice::Stacks,
        Level::Warning,
    ),
    entry(
        c"/sys/fs/cgroup",
        c"cgroup2",
        SAFE | RELATIME,
        &[c"nsdelegate,memory_recursiveprot", c"nsdelegate", c""],
        Twice::Refused,
        Level::Warning,
    ),
    optional(c"/sys/kernel/security", c"securityfs", SAFE | RELATIME),
    optional(c"/sys/kernel/debug", c"debugfs", SAFE | RELATIME),
    optional(c"/sys/kernel/tracing", c"tracefs", SAFE),
    optional(c"/sys/kernel/config", c"configfs", SAFE | RELATIME),
    optional(c"/sys/fs/bpf", c"bpf", SAFE | RELATIME),
    optional(
        c"/sys/firmware/efi/efivars",
        c"efivarfs",
        SAFE | RELATIME | RDONLY,
    ),
    optional(c"/sys/fs/pstore", c"pstore", SAFE),
    stacking(c"/dev/hugepages", c"hugetlbfs", NOSUID | NODEV),
    stacking(c"/dev/mqueue", c"mqueue", SAFE),
];

const fn entry(
    target: &'static CStr,
    kind: &'static CStr,
    flags: u32,
    options: &'static [&'static CStr],
    twice: Twice,
    without: Level,
) -> Filesystem {
    Filesystem {
        target,
        kind,
        flags,
        options,
        twice,
        without,
    }
}

const fn optional(target: &'static CStr, kind: &'static CStr, flags: u32) -> Filesystem {
    entry(target, kind, flags, &[c""], Twice::Refused, Level::Debug)
}

const fn stacking(target: &'static CStr, kind: &'static CStr, flags: u32) -> Filesystem {
    entry(target, kind, flags, &[c""], Twice::Stacks, Level::Debug)
}

/// Mounts what is not mounted yet. Never blocks: all of it is memory.
pub fn mount_all(log: &mut Log) {
    let mut buffer = [0; 1024];
    let mut known: &[u8] = &[];
    for filesystem in &TABLE {
        // Asking the kernel for a type it has not got makes it start modprobe.
        if !known.is_empty() && !lists(known, filesystem.kind) {
            continue;
        }
        let name = filesystem.target.to_bytes();
        match mount_one(filesystem) {
            Ok(()) => {}
            Err(Errno::ENODEV | Errno::ENOENT | Errno::EPERM)
                if filesystem.without == Level::Debug => {}
            Err(errno) => log.failed(filesystem.without, "mount", name, errno),
        }
        if filesystem.kind == c"proc" {
            known = files::read(c"/proc/filesystems", &mut buffer).unwrap_or_default();
        }
        if filesystem.kind == c"devtmpfs" {
            // From here on messages have a place.
            log.use_kmsg();
        }
    }
}

fn mount_one(filesystem: &Filesystem) -> Result<()> {
    if filesystem.twice == Twice::Stacks {
        match mount::place(filesystem.target) {
            Place::Missing => files::make_directory(filesystem.target, 0o755)?,
            Place::Free => {}
            Place::Taken => return Ok(()),
        }
    }
    let mut result = Err(Errno::EINVAL);
    for options in filesystem.options {
        result = try_mount(filesystem, options);
        if result == Err(Errno::ENOENT) && files::make_directory(filesystem.target, 0o755).is_ok() {
            result = try_mount(filesystem, options);
        }
        match result {
            // The options are too new for this kernel: try the weaker ones.
            Err(Errno::EINVAL) => {}
            // It is there already.
            Ok(()) | Err(Errno::EBUSY) => return Ok(()),
            Err(_) => break,
        }
    }
    result
}

fn try_mount(filesystem: &Filesystem, options: &CStr) -> Result<()> {
    mount::mount(
        filesystem.kind,
        filesystem.target,
        filesystem.kind,
        filesystem.flags,
        options,
    )
}

/// Whether `/proc/filesystems` lists a type: the last word of a line.
fn lists(known: &[u8], kind: &CStr) -> bool {
    known
        .split(|byte| *byte == b'\n')
        .any(|line| line.rsplit(|byte| *byte == b'\t').next() == Some(kind.to_bytes()))
}

/// Whether a filesystem type is the kernel's own: it has no disk behind it, and
/// nothing is lost when it is still mounted at the end.
pub fn is_pseudo(kind: &[u8]) -> bool {
    /// Types that are not in the table above.
    const OTHERS: [&[u8]; 3] = [b"rootfs", b"ramfs", b"cgroup"];
    TABLE
        .iter()
        .any(|filesystem| filesystem.kind.to_bytes() == kind)
        || OTHERS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mount_comes_after_what_it_is_mounted_in() {
        for (index, filesystem) in TABLE.iter().enumerate() {
            let target = filesystem.target.to_str().unwrap();
            for later in &TABLE[index..] {
                let later = later.target.to_str().unwrap();
                assert!(!target.starts_with(&format!("{later}/")), "{target}");
            }
        }
    }

    #[test]
    fn a_type_is_found_whole_or_not_at_all() {
        let known = b"nodev\tproc\nnodev\tcgroup2\n\text4\n";

        assert!(lists(known, c"ext4"));
        assert!(lists(known, c"cgroup2"));
        assert!(!lists(known, c"cgroup"));
        assert!(!lists(known, c"ext"));
    }
}
