//! Mounting, unmounting, swap, and waiting for a device.

use core::ffi::CStr;
use core::time::Duration;

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, inotify};
use rustix::mount::{MountFlags, UnmountFlags};

use super::call::check;
use super::{Result, clock, files, reason};
use crate::base::errno::Errno;
use crate::base::time::Instant;

/// Mounts `source` on `target`, which must be there. `flags` are those of
/// `mount(2)`. May block on the device.
///
/// # Errors
///
/// The kernel's reasons; `EBUSY` when it is mounted there already.
pub fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: u32, options: &CStr) -> Result<()> {
    let flags = MountFlags::from_bits_retain(flags);
    rustix::mount::mount(source, target, kind, flags, options).map_err(reason)
}

/// Makes what is mounted on `target` read-only, for everybody who sees it. May
/// block on the device.
///
/// # Errors
///
/// `EBUSY` while a file is open for writing, and the kernel's other reasons.
pub fn remount_read_only(target: &CStr) -> Result<()> {
    rustix::mount::mount_remount(target, MountFlags::RDONLY, c"").map_err(reason)
}

/// Unmounts what is mounted last on `target`. May block on the device.
///
/// # Errors
///
/// `EBUSY` while something uses it, and the kernel's other reasons.
pub fn unmount(target: &CStr) -> Result<()> {
    rustix::mount::unmount(target, UnmountFlags::NOFOLLOW).map_err(reason)
}

/// Stops the use of a swap device or file (`swapoff(2)`). May block for long:
/// everything in it is read back.
///
/// # Errors
///
/// The kernel's reasons.
pub fn swap_off(path: &CStr) -> Result<()> {
    let words = [path.as_ptr().addr(), 0, 0, 0, 0, 0];
    // SAFETY: the kernel reads a C string.
    unsafe { check(linux_raw_sys::general::__NR_swapoff, words) }.map(drop)
}

/// `sync(2)`. Blocks until everything is written, or for ever on a dead disk.
pub fn sync() {
    rustix::fs::sync();
}

/// What there is at a place to mount on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Nothing.
    Missing,
    /// A directory of the filesystem around it.
    Free,
    /// The root of what is mounted there.
    Taken,
}

/// What there is at `target` (`statx(2)`). Before Linux 5.8 nobody can tell what is
/// taken, and it is called free.
pub fn place(target: &CStr) -> Place {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match rustix::fs::statx(CWD, target, flags, StatxFlags::empty()) {
        Ok(found) if found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) => Place::Taken,
        Ok(_) => Place::Free,
        Err(_) => Place::Missing,
    }
}

/// Waits until `path` is there, at most for `wait`: woken by the directory's own
/// changes, not by looking again and again. Blocks; for a forked child.
///
/// # Errors
///
/// `ETIMEDOUT` when it did not appear.
pub fn wait_for_path(path: &CStr, directory: &CStr, wait: Duration) -> Result<()> {
    if files::exists(path) {
        return Ok(());
    }
    let deadline = clock::now().after(wait);
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)
        .map_err(reason)?;
    let changes = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&watch, directory, changes).map_err(reason)?;
    let mut buffer = [0_u8; 1024];
    // The device may have appeared between the first look and the watch.
    while !files::exists(path) {
        let now = clock::now();
        if now >= deadline {
            return Err(Errno::ETIMEDOUT);
        }
        super::poll::wait_readable(&watch, deadline.since(now));
        while rustix::io::read(&watch, &mut buffer).is_ok() {}
    }
    Ok(())
}

/// Waits until `wait` is over or the process behind a pid of another is gone;
/// whether it is gone. For a forked child that waits for a holder to end.
pub fn wait_for_end(pid: u32, until: Instant) -> bool {
    let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return true;
    };
    match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        Ok(pidfd) => super::poll::wait_readable(&pidfd, until.since(clock::now())),
        Err(errno) => errno == rustix::io::Errno::SRCH,
    }
}
