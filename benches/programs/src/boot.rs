//! The boot job: what every init in a comparison has done before its host runs.

use core::ffi::CStr;

use linux_raw_sys::general::{MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RELATIME};

use crate::kernel;

const SAFE: u32 = MS_NOSUID | MS_NODEV | MS_NOEXEC;

/// Takes every step, each with the least that the kernel asks for.
#[inline(always)]
pub fn run() {
    kernel::mount(c"proc", c"/proc", SAFE, c"");
    kernel::mount(c"sysfs", c"/sys", SAFE, c"");
    kernel::mount(c"devtmpfs", c"/dev", MS_NOSUID, c"mode=0755");
    kernel::mkdir(c"/dev/pts", 0o755);
    kernel::mount(c"devpts", c"/dev/pts", MS_NOSUID | MS_NOEXEC, PTS);
    kernel::mount(c"tmpfs", c"/run", SAFE | MS_RELATIME, c"mode=0755");
    kernel::mount(c"tmpfs", c"/tmp", SAFE, c"mode=1777");
    kernel::mount(c"cgroup2", c"/sys/fs/cgroup", SAFE | MS_RELATIME, GROUPS);
    kernel::set_hostname(b"bench");
    let socket = kernel::socket();
    kernel::set_interface_flags(socket, &LOOPBACK_UP);
    kernel::close(socket);
}

/// Options of devpts.
pub const PTS: &CStr = c"ptmxmode=000,mode=620,gid=5";

/// Options of cgroup2.
pub const GROUPS: &CStr = c"nsdelegate,memory_recursiveprot";

/// `struct ifreq`: the name, and the flag `IFF_UP`.
pub const LOOPBACK_UP: [u8; 40] = {
    let mut request = [0; 40];
    request[0] = b'l';
    request[1] = b'o';
    request[16] = 1;
    request
};
