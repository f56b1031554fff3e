//! Control groups, version 2 (`cgroups(7)`): one for each service.

use core::ffi::CStr;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::path::DecInt;

use super::{Result, files, reason};
use crate::base::errno::Errno;

/// The number that `statfs(2)` gives for cgroup v2: `CGROUP2_SUPER_MAGIC`.
const MAGIC: u64 = 0x6367_7270;

/// The root of the hierarchy as this process sees it, or a group below it.
pub struct Group {
    directory: OwnedFd,
}

impl Group {
    /// The root of the hierarchy, where it is mounted.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` when something else is mounted there, or nothing.
    pub fn root(path: &CStr) -> Result<Self> {
        let directory = files::open_directory(path)?;
        let kind = rustix::fs::fstatfs(&directory).map_err(reason)?.f_type;
        if u64::try_from(kind) != Ok(MAGIC) {
            return Err(Errno::EOPNOTSUPP);
        }
        Ok(Self { directory })
    }

    /// A group below this one; made when it is not there.
    ///
    /// # Errors
    ///
    /// The kernel's reasons: `EROFS` in a container that may not.
    pub fn child(&self, name: &CStr) -> Result<Self> {
        match rustix::fs::mkdirat(&self.directory, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(reason(errno)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory =
            rustix::fs::openat(&self.directory, name, flags, Mode::empty()).map_err(reason)?;
        Ok(Self { directory })
    }

    /// A group below this one that is new, in place of one that has nothing in it; or the
    /// one that is there, and false.
    ///
    /// # Errors
    ///
    /// The kernel's reasons: `EROFS` in a container that may not.
    pub fn renew(&self, name: &CStr) -> Result<(Self, bool)> {
        let is_new = match rustix::fs::unlinkat(&self.directory, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => true,
            // Something is in it, or it is not to be changed.
            Err(_) => false,
        };
        Ok((self.child(name)?, is_new))
    }

    /// Moves a process into the group. Blocks for a grace period of the kernel, often
    /// 10 ms; for a forked child.
    ///
    /// # Errors
    ///
    /// The kernel's reasons: `ESRCH` when it has ended.
    pub fn take(&self, pid: u32) -> Result<()> {
        let pid = DecInt::new(pid);
        files::write_existing_at(&self.directory, c"cgroup.procs", pid.as_bytes())
    }

    /// The controllers that the group has to give, as the kernel writes them.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn controllers<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        files::read_all(self.open(c"cgroup.controllers")?, buffer)
    }

    /// Gives the groups below a controller: `+name`.
    ///
    /// # Errors
    ///
    /// `EBUSY` while there are processes in the group itself.
    pub fn enable(&self, controller: &[u8]) -> Result<()> {
        files::write_existing_at(&self.directory, c"cgroup.subtree_control", controller)
    }

    /// Ends every process of the group and below with KILL, also those that are
    /// just being forked (Linux 5.14). Returns before they are gone.
    ///
    /// # Errors
    ///
    /// `ENOENT` on an older kernel.
    pub fn kill(&self) -> Result<()> {
        files::write_existing_at(&self.directory, c"cgroup.kill", b"1")
    }

    /// The pids in the group, each to `each`, as many as one read gives: at least
    /// the first few hundred.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn processes(&self, mut each: impl FnMut(u32)) -> Result<()> {
        let mut buffer = [0_u8; 2048];
        let file = self.open(c"cgroup.procs")?;
        let length = rustix::io::read(&file, &mut buffer).map_err(reason)?;
        let mut pid = 0_u32;
        for byte in buffer.iter().take(length) {
            match byte {
                b'0'..=b'9' => {
                    pid = pid
                        .saturating_mul(10)
                        .saturating_add(u32::from(byte - b'0'));
                }
                _ => {
                    each(pid);
                    pid = 0;
                }
            }
        }
        Ok(())
    }

    /// The group's `cgroup.events`: readable for a change of whether there are
    /// processes. A read makes it wait for the next change.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn events(&self) -> Result<OwnedFd> {
        self.open(c"cgroup.events")
    }

    fn open(&self, name: &CStr) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory, name, flags, Mode::empty()).map_err(reason)
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> rustix::fd::BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Whether there are processes, as a group's [`Group::events`] says now.
///
/// # Errors
///
/// The kernel's reasons: `ENODEV` when the group was removed.
pub fn is_populated(events: &OwnedFd) -> Result<bool> {
    let mut buffer = [0_u8; 128];
    let length = rustix::io::pread(events, &mut buffer, 0).map_err(reason)?;
    let text = buffer.get(..length).unwrap_or_default();
    Ok(text
        .split(|byte| *byte == b'\n')
        .any(|line| line == b"populated 1"))
}
