//! The hosts that say how they are: at `$NOTIFY_SOCKET`, or by a descriptor.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::IoSlice;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketType, connect, sendmsg, socket,
};

use crate::host::{close, exit, fork, quick, set_signal, tell, up, wait_for_end_of};
use crate::start::pipe;

/// Becomes a host of this role.
pub(crate) fn be(role: &str, words: &[&str]) {
    match (role, words) {
        // Says this of itself, a message each, and stays.
        ("notes", messages) => {
            for message in messages {
                note(message);
            }
            up();
        }
        // Is ready and ends in one go, for this many lives; and then stays.
        ("ready-quick", [lives]) => {
            note("READY=1");
            quick(lives.parse().unwrap());
        }
        // The same by a descriptor.
        ("ready-quick", [lives, number]) => {
            write(number.parse().unwrap(), "LONG|");
            quick(lives.parse().unwrap());
        }
        // Is ready later than it may be, but for what it says before.
        ("late", [message]) => {
            note(message);
            std::thread::sleep(std::time::Duration::from_millis(1_500));
            note("READY=1");
            up();
        }
        // Waits for a signal before it is ready, and is alive from then on.
        ("ready-on-hup", _) => {
            set_signal(libc::SIGHUP, be_ready as *const () as libc::sighandler_t);
            up();
        }
        // Has a child say this of it.
        ("proxy", messages) => proxy(messages, || ()),
        // Has a child in a session of its own say this of it.
        ("far-proxy", messages) => proxy(messages, || {
            // SAFETY: has no arguments.
            unsafe { libc::setsid() };
        }),
        // Sends so many descriptors along, and goes on when nobody has them any more.
        ("barrier", counts) => {
            for count in counts {
                wait_at_barrier(count.parse().unwrap());
            }
            up();
        }
        // Takes these steps with the descriptor that it is to be ready by, and stays.
        ("by-descriptor", [number, steps @ ..]) => by_descriptor(number.parse().unwrap(), steps),
        // Floods PID 1 with messages, of its own and of its children's.
        ("notes-flood", _) => {
            tell("floods");
            for _ in 0..3 {
                if fork() == 0 {
                    break;
                }
            }
            let socket = UnixDatagram::unbound().unwrap();
            let path = std::env::var("NOTIFY_SOCKET").unwrap();
            loop {
                let _ = socket.send_to(b"WATCHDOG=1\nSTATUS=flood", &path);
            }
        }
        _ => panic!("no such host: {role}"),
    }
}

extern "C" fn be_ready(_: c_int) {
    note("READY=1");
}

/// Says something of this process, by a socket that is there for one message.
fn note(message: &str) {
    let name = std::env::var("NOTIFY_SOCKET").unwrap();
    let socket = UnixDatagram::unbound().unwrap();
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name).unwrap(),
        None => SocketAddr::from_pathname(&name).unwrap(),
    };
    let mut message = spelled(message);
    // What is no UTF-8 can't be in a config.
    for byte in message.iter_mut().filter(|byte| **byte == b'~') {
        *byte = 0xff;
    }
    socket.send_to_addr(&message, &address).unwrap();
}

/// What a word of a config stands for: ends of lines, and what is too long for one.
fn spelled(word: &str) -> Vec<u8> {
    let long = "x".repeat(100_000);
    word.replace('|', "\n").replace("LONG", &long).into_bytes()
}

/// Says one message itself, and has a child say another.
fn proxy(messages: &[&str], begin: impl Fn()) {
    note(messages[0]);
    let child = fork();
    if child == 0 {
        begin();
        note(messages[1]);
        // It must live until it was heard.
        wait_at_barrier(1);
        exit(0);
    }
    let mut status = 0;
    // SAFETY: the kernel writes one status.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    up();
}

/// Sends so many descriptors along with a message, and waits until nobody has them any
/// more.
fn wait_at_barrier(count: usize) {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let socket = socket(AddressFamily::UNIX, SocketType::DGRAM, None).unwrap();
    let name = std::env::var("NOTIFY_SOCKET").unwrap();
    connect(&socket, &SocketAddrUnix::new(name.as_str()).unwrap()).unwrap();
    let mut space = [MaybeUninit::uninit(); 2048];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let sent: Vec<BorrowedFd<'_>> = (0..count).map(|_| writer.as_fd()).collect();
    assert!(control.push(SendAncillaryMessage::ScmRights(&sent)));
    let parts = [IoSlice::new(b"BARRIER=1")];
    sendmsg(&socket, &parts, &mut control, SendFlags::empty()).unwrap();
    drop(writer);
    assert_eq!(rustix::io::read(&reader, &mut [0]), Ok(0));
}

fn by_descriptor(number: c_int, steps: &[&str]) {
    for step in steps {
        match *step {
            "close" => close(number),
            // For ever; what it is told when nobody reads any more.
            "flood" => flood(number),
            "exit" => exit(0),
            // The rest is done by a child, which is all that has the descriptor then.
            "child" => {
                let (reader, writer) = pipe();
                let is_child = fork() == 0;
                if !is_child {
                    close(number);
                }
                drop(writer);
                if !is_child {
                    up();
                }
                wait_for_end_of(reader.as_raw_fd());
            }
            // The rest is done by what the host leaves when it fails.
            "leave" => leave(),
            "wait" => wait_for_hup(),
            text => write(number, text),
        }
    }
    up();
}

fn flood(number: c_int) {
    set_signal(libc::SIGPIPE, libc::SIG_IGN);
    let text = [b'x'; 4096];
    // SAFETY: the text has so many bytes.
    while unsafe { libc::write(number, text.as_ptr().cast(), text.len()) } > 0 {}
    assert_eq!(
        std::io::Error::last_os_error().raw_os_error(),
        Some(libc::EPIPE)
    );
}

/// Fails, and leaves a process in a session of its own, which goes on.
fn leave() {
    let child = fork();
    if child == 0 {
        // SAFETY: has no arguments.
        unsafe { libc::setsid() };
        // SAFETY: has no arguments.
        while unsafe { libc::getppid() } != 1 {
            std::thread::yield_now();
        }
        return;
    }
    // What is in the session still is killed with it.
    // SAFETY: asks about a child.
    while unsafe { libc::getsid(child) } != child {
        std::thread::yield_now();
    }
    exit(1);
}

/// Tells that it is up, and goes on when it is told to.
fn wait_for_hup() {
    // SAFETY: an empty set is all zeros.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is this process's own.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGHUP) };
    // SAFETY: as above.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    tell(&format!("up {}", process::id()));
    let mut number = 0;
    // SAFETY: the kernel writes one number.
    unsafe { libc::sigwait(&raw const set, &raw mut number) };
}

fn write(number: c_int, text: &str) {
    let text = spelled(text);
    // SAFETY: the number is a descriptor of this process's own.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let count = rustix::io::write(fd, rest).unwrap();
        rest = &rest[count..];
    }
}
