//! What kind of process one is: the flags of its `/proc/PID/stat`.

use core::ffi::CStr;
use core::fmt::Write;

use crate::sys::files;

/// `PF_EXITING`: it is on its way to its end, and has no descriptors before long.
pub const EXITING: u32 = 0x0000_0004;

/// `PF_KTHREAD`: it is a thread of the kernel's.
pub const KERNELS: u32 = 0x0020_0000;

/// The flags of a process; none when it is gone, or there is no `/proc`.
pub fn flags(pid: u32) -> Option<u32> {
    /// Where the flags are behind the name, which may have anything in it.
    const FLAGS: usize = 7;

    let mut path = heapless::String::<32>::new();
    write!(path, "/proc/{pid}/stat\0").ok()?;
    let mut buffer = [0; 512];
    let path = CStr::from_bytes_with_nul(path.as_bytes()).ok()?;
    let stat = files::read(path, &mut buffer).ok()?;
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = core::str::from_utf8(stat.get(name_ends..)?).ok()?;
    rest.split(' ').nth(FLAGS)?.parse().ok()
}
