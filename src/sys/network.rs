//! The loopback interface, without which nothing on the machine can talk.

use linux_raw_sys::general::__NR_ioctl;
use linux_raw_sys::if_arp::net_device_flags::IFF_UP;
use linux_raw_sys::ioctl::SIOCSIFFLAGS;
use rustix::fd::AsRawFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use static_assertions::const_assert_eq;

use super::call::check;
use super::{Result, reason};
use crate::base::errno::Errno;

/// `struct ifreq` of `netdevice(7)`, as far as flags are concerned.
#[repr(C)]
struct InterfaceFlags {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const_assert_eq!(size_of::<InterfaceFlags>(), 40);

/// Brings `lo` up; the kernel gives it its addresses. Never blocks.
///
/// # Errors
///
/// `EAFNOSUPPORT` in a kernel without IPv4, and the kernel's other reasons.
pub fn bring_up_loopback() -> Result<()> {
    let socket = rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(reason)?;
    let mut name = [0; 16];
    name[..2].copy_from_slice(b"lo");
    let request = InterfaceFlags {
        name,
        flags: u16::try_from(IFF_UP as u32).unwrap_or(0),
        rest: [0; 22],
    };
    let words = [
        usize::try_from(socket.as_raw_fd()).map_err(|_| Errno::EBADF)?,
        SIOCSIFFLAGS as usize,
        (&raw const request).addr(),
        0,
        0,
        0,
    ];
    // SAFETY: the kernel reads one ifreq, which `request` is.
    unsafe { check(__NR_ioctl, words) }.map(drop)
}
