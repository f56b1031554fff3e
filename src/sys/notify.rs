//! One datagram to whoever runs the container (`sd_notify(3)`).

use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sendto, socket_with,
};

use super::{Result, reason};
use crate::base::errno::Errno;

/// Sends a message to the socket of this name: a path, or an abstract one behind
/// `@`. Waits for no reader.
///
/// # Errors
///
/// `EAGAIN` when it takes no more now, `EINVAL` for another kind of name, and the
/// kernel's other reasons.
pub fn send(name: &[u8], message: &[u8]) -> Result<()> {
    let address = match name {
        [b'/', ..] => SocketAddrUnix::new(name),
        [b'@', rest @ ..] if !rest.is_empty() => SocketAddrUnix::new_abstract_name(rest),
        _ => return Err(Errno::EINVAL),
    };
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .map_err(reason)?;
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendto(&socket, message, flags, &address.map_err(reason)?)
        .map(drop)
        .map_err(reason)
}
