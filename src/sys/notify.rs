//! Datagrams of `sd_notify(3)`: one to whoever runs the container, and those that the
//! host sends.

use core::ffi::CStr;

use linux_raw_sys::general::__NR_recvmsg;
use linux_raw_sys::net::{MSG_DONTWAIT, MSG_TRUNC, SCM_CREDENTIALS, SOL_SOCKET};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode};
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, getsockname, sendto,
    socket_with, sockopt,
};
use static_assertions::const_assert_eq;

use super::call::check;
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
    let socket = socket()?;
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendto(&socket, message, flags, &address.map_err(reason)?)
        .map(drop)
        .map_err(reason)
}

/// A socket at which messages are received, each with its sender.
pub struct Inbox(OwnedFd);

/// A message, and the process that sent it.
pub struct Letter<'b> {
    /// What it says.
    pub text: &'b [u8],
    /// The pid of its sender; 0 for a process that this namespace does not see.
    pub sender: u32,
}

/// Bytes of the longest name: an address less its family, and `@`.
pub const NAME_BYTES: usize = 109;

impl Inbox {
    /// A socket at this path, instead of whatever is there, to which everybody may
    /// send.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn at(path: &CStr) -> Result<Self> {
        let inbox = Self::new()?;
        let address = SocketAddrUnix::new(path).map_err(reason)?;
        match rustix::fs::unlinkat(CWD, path, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(errno) => return Err(reason(errno)),
        }
        bind(&inbox.0, &address).map_err(reason)?;
        rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(0o666), AtFlags::empty())
            .map_err(reason)?;
        Ok(inbox)
    }

    /// A socket with an abstract name that the kernel chooses: containers that share a
    /// network share these names.
    ///
    /// # Errors
    ///
    /// The kernel's reasons.
    pub fn anywhere() -> Result<Self> {
        let inbox = Self::new()?;
        bind(&inbox.0, &SocketAddrUnix::new_unnamed()).map_err(reason)?;
        Ok(inbox)
    }

    /// One that the life before has opened.
    pub const fn adopt(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// Its descriptor.
    pub const fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// The name that others send to, in this buffer: a path, or an abstract one
    /// behind `@`.
    ///
    /// # Errors
    ///
    /// None that can happen to a socket that is bound.
    pub fn name<'b>(&self, buffer: &'b mut [u8; NAME_BYTES]) -> Result<&'b [u8]> {
        let address = getsockname(&self.0).map_err(reason)?;
        let address = SocketAddrUnix::try_from(address).map_err(reason)?;
        let (start, rest) = match (address.abstract_name(), address.path_bytes()) {
            (Some(rest), _) => (&b"@"[..], rest),
            (None, Some(path)) => (&b""[..], path),
            (None, None) => return Err(Errno::EINVAL),
        };
        let length = start.len() + rest.len();
        let name = buffer.get_mut(..length).ok_or(Errno::ENAMETOOLONG)?;
        let (first, last) = name.split_at_mut(start.len());
        first.copy_from_slice(start);
        last.copy_from_slice(rest);
        Ok(name)
    }

    /// Takes the next message; none of one that is longer than the buffer. Waits for
    /// none.
    ///
    /// There is no room for descriptors, so that the kernel closes what comes with a
    /// message.
    ///
    /// # Errors
    ///
    /// `EAGAIN` when there is none, and the kernel's other reasons.
    pub fn receive<'b>(&self, buffer: &'b mut [u8]) -> Result<Option<Letter<'b>>> {
        let mut credentials = Credentials::default();
        let part = Part {
            start: buffer.as_mut_ptr(),
            length: buffer.len(),
        };
        let mut header = Header {
            name: core::ptr::null_mut(),
            name_length: 0,
            parts: &raw const part,
            parts_count: 1,
            control: &raw mut credentials,
            control_length: size_of::<Credentials>(),
            flags: 0,
        };
        let socket = usize::try_from(self.0.as_raw_fd()).map_err(|_| Errno::EBADF)?;
        let words = [
            socket,
            (&raw mut header).addr(),
            MSG_DONTWAIT as usize,
            0,
            0,
            0,
        ];
        // SAFETY: the header names one buffer of that length and one of credentials,
        // both of which stay; whatever the kernel writes is a value of either.
        let length = unsafe { check(__NR_recvmsg, words) }?;
        let sender = match (credentials.level, credentials.kind) {
            (SOL_SOCKET, SCM_CREDENTIALS) => credentials.pid,
            _ => 0,
        };
        let text = buffer.get(..length).unwrap_or_default();
        Ok((header.flags & MSG_TRUNC == 0).then_some(Letter { text, sender }))
    }

    /// A socket whose messages have their sender from the first on.
    fn new() -> Result<Self> {
        let socket = socket()?;
        sockopt::set_socket_passcred(&socket, true).map_err(reason)?;
        Ok(Self(socket))
    }
}

impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// `struct user_msghdr` of the kernel.
#[repr(C)]
struct Header {
    name: *mut u8,
    name_length: u32,
    parts: *const Part,
    parts_count: usize,
    control: *mut Credentials,
    control_length: usize,
    flags: u32,
}

/// `struct iovec`.
#[repr(C)]
struct Part {
    start: *mut u8,
    length: usize,
}

/// A `struct cmsghdr` with a `struct ucred` behind it, and nothing behind that.
#[repr(C)]
#[derive(Default)]
struct Credentials {
    length: usize,
    level: u32,
    kind: u32,
    pid: u32,
    user: u32,
    group: u32,
    filler: u32,
}

const_assert_eq!(size_of::<Header>(), 56);
const_assert_eq!(size_of::<Credentials>(), 32);

fn socket() -> Result<OwnedFd> {
    socket_with(
        AddressFamily::UNIX,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )
    .map_err(reason)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use rustix::io::IoSlice;
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, connect, sendmsg};

    use super::*;

    /// A socket that the kernel named, and one that is connected to it.
    fn pair() -> (Inbox, OwnedFd) {
        let inbox = Inbox::anywhere().unwrap();
        let mut buffer = [0; NAME_BYTES];
        let name = inbox.name(&mut buffer).unwrap();
        assert_eq!(name[0], b'@');
        let address = SocketAddrUnix::new_abstract_name(&name[1..]).unwrap();
        let socket = socket().unwrap();
        connect(&socket, &address).unwrap();
        (inbox, socket)
    }

    fn send_with(socket: &OwnedFd, text: &str, descriptors: &[BorrowedFd<'_>]) {
        let mut space = [core::mem::MaybeUninit::uninit(); 256];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)));
        }
        let parts = [IoSlice::new(text.as_bytes())];
        sendmsg(socket, &parts, &mut control, SendFlags::empty()).unwrap();
    }

    #[test]
    fn a_message_comes_with_its_sender_and_one_that_is_too_long_is_none() {
        let (inbox, socket) = pair();
        let mut buffer = [0; 16];
        assert_eq!(inbox.receive(&mut buffer).err(), Some(Errno::EAGAIN));
        for text in ["READY=1", "", "sixteen bytes ok", "seventeen bytes.."] {
            send_with(&socket, text, &[]);
        }

        for text in ["READY=1", "", "sixteen bytes ok"] {
            let letter = inbox.receive(&mut buffer).unwrap().unwrap();
            assert_eq!(letter.text, text.as_bytes());
            assert_eq!(letter.sender, std::process::id());
        }
        assert!(inbox.receive(&mut buffer).unwrap().is_none());
        assert_eq!(inbox.receive(&mut buffer).err(), Some(Errno::EAGAIN));
    }

    #[test]
    fn what_comes_with_a_message_is_closed() {
        let (inbox, socket) = pair();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        send_with(&socket, "BARRIER=1", &[writer.as_fd(); 20]);
        drop(writer);

        let mut buffer = [0; 16];
        let letter = inbox.receive(&mut buffer).unwrap().unwrap();

        assert_eq!(letter.text, b"BARRIER=1");
        assert_eq!(letter.sender, std::process::id());
        // Nobody has the other end any more.
        assert_eq!(rustix::io::read(&reader, &mut [0]), Ok(0));
    }

    #[test]
    fn what_is_at_the_path_is_replaced() {
        let path = std::env::temp_dir().join(format!("host-init-inbox-{}", std::process::id()));
        let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();

        let old = Inbox::at(&c_path).unwrap();
        let new = Inbox::at(&c_path).unwrap();

        let socket = UnixDatagram::unbound().unwrap();
        socket.send_to(b"READY=1", &path).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(old.receive(&mut buffer).err(), Some(Errno::EAGAIN));
        assert!(new.receive(&mut buffer).unwrap().is_some());
        assert_eq!(
            new.name(&mut [0; NAME_BYTES]).unwrap(),
            path.to_str().unwrap().as_bytes()
        );
        std::fs::remove_file(path).unwrap();
    }
}
