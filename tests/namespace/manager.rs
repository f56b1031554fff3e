//! What whoever runs the container is told, at `$NOTIFY_SOCKET`.

use std::ffi::CString;
use std::fs;
use std::io::{ErrorKind, IoSliceMut};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::time::Duration;

use crate::init::{End, Init};
use crate::lines::{BOUND, eventually, is_ready};
use crate::room::Room;
use crate::start::{Refused, Start};
use crate::starts::{assert_holds_its_own_only, is_up};
use crate::stops::Lease;

/// Where the room's manager listens.
const SOCKET: &str = "run/notify";

/// Who runs the container, and hears of it.
struct Manager(UnixDatagram);

impl Manager {
    /// One that listens in the room.
    fn new(room: &Room) -> Self {
        Self::of(UnixDatagram::bind(room.path().join(SOCKET)).unwrap())
    }

    fn of(socket: UnixDatagram) -> Self {
        let yes: libc::c_int = 1;
        // SAFETY: the kernel reads one int.
        let set = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PASSCRED,
                (&raw const yes).cast(),
                4,
            )
        };
        assert_eq!(set, 0);
        Self(socket)
    }

    /// The next message, and the pid of its sender.
    fn hears(&self) -> (String, i32) {
        assert!(is_ready(self.0.as_raw_fd(), BOUND), "nothing is told");
        let mut bytes = [0; 4096];
        let mut control = [0_u64; 16];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        // SAFETY: zeros are a value of it.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = parts.as_mut_ptr().cast();
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        // SAFETY: the header is that of two buffers.
        let count = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut header, 0) };
        let count = usize::try_from(count).unwrap();
        // SAFETY: the kernel filled it.
        let first = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
        assert!(!first.is_null());
        // SAFETY: the first and only one is a `ucred`.
        let data = unsafe { libc::CMSG_DATA(first) };
        // SAFETY: as above.
        let sender = unsafe { data.cast::<libc::ucred>().read_unaligned() };
        let text = String::from_utf8(bytes[..count].to_vec()).unwrap();
        (text, sender.pid)
    }

    /// Waits for this message; those before it are passed over.
    fn waits_for(&self, message: &str) {
        while self.hears().0 != message {}
    }

    fn hears_nothing(&self) {
        self.0.set_nonblocking(true).unwrap();
        let heard = self.0.recv(&mut [0; 4096]);
        assert_eq!(heard.unwrap_err().kind(), ErrorKind::WouldBlock);
        self.0.set_nonblocking(false).unwrap();
    }
}

/// Starts it with this socket.
fn told_at<'r>(room: &'r Room, socket: &str) -> Start<'r> {
    let variable = CString::new(format!("NOTIFY_SOCKET={socket}")).unwrap();
    Start::new(room).environment(vec![c"container=test".to_owned(), variable])
}

fn start(room: &Room) -> Init {
    told_at(room, "/run/notify").spawn()
}

#[test]
fn its_life_is_told_a_datagram_each_and_by_pid_1_alone() {
    let mut room = Room::with_host(&["up"], "");
    let manager = Manager::new(&room);
    let mut init = start(&room);
    is_up(&mut room);
    // Its own descriptor is there for one message at a time.
    assert_holds_its_own_only(&init);
    let hears = |expected: &str| {
        let (message, sender) = manager.hears();
        assert_eq!(message, expected);
        assert_eq!(sender, init.pid());
    };
    hears("READY=1");
    hears("STATUS=the host is up");
    manager.hears_nothing();

    init.signal(libc::SIGTERM);

    hears("STOPPING=1");
    hears("STATUS=stopping");
    hears("EXIT_STATUS=0");
    assert_eq!(init.end(), End::Code(0));
    manager.hears_nothing();
}

#[test]
fn a_host_that_is_started_again_at_once_is_no_news() {
    let mut room = Room::with_host(&["up"], "");
    let manager = Manager::new(&room);
    let mut init = start(&room);
    let up = room.told.next();
    manager.waits_for("STATUS=the host is up");

    init.kill_inside(up.strip_prefix("up ").unwrap().parse().unwrap());

    is_up(&mut room);
    eventually("the second life", || {
        room.json("run/host-init/state.json")["host"]["starts"] == 2
    });
    init.stop_with(0);
    assert_eq!(manager.hears().0, "STOPPING=1");
}

#[test]
fn the_code_that_is_told_is_the_one_it_ends_with() {
    for (refused, signal, code) in [
        (Refused::Nothing, 34 + 13, 137),
        (Refused::Reboot, 34 + 5, 133),
    ] {
        let mut room = Room::with_host(&["up"], "");
        let manager = Manager::new(&room);
        let mut init = told_at(&room, "/run/notify").refused(refused).spawn();
        is_up(&mut room);

        init.signal(signal);

        assert_eq!(init.end(), End::Code(code));
        manager.waits_for("STOPPING=1");
        manager.waits_for(&format!("EXIT_STATUS={code}"));
        manager.hears_nothing();
    }
}

#[test]
fn a_host_that_fails_is_told_of_and_makes_nothing_ready() {
    let room = Room::new("[host]\ncommand = [\"/none\"]\nbackoff = \"1h\"\nbackoff-max = \"1h\"\n");
    let manager = Manager::new(&room);
    let mut init = start(&room);

    // The first failure costs no wait, and lasts too short a time to be told.
    assert_eq!(
        manager.hears().0,
        "STATUS=the host failed, and is started again soon"
    );

    init.stop_with(0);
    assert_eq!(manager.hears().0, "STOPPING=1");
}

#[test]
fn a_host_is_not_ready_before_it_is_its_program() {
    let mut room = Room::new("[host]\ncommand = [\"/tmp/slow\"]\n");
    room.write("tmp/slow", "#!/host up\n");
    let path = room.path().join("tmp/slow");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let lease = Lease::new(&path);
    let manager = Manager::new(&room);
    let mut init = start(&room);
    eventually("the exec", || lease.is_wanted());
    eventually("the host's state", || {
        room.json("run/host-init/state.json")["host"]["state"] == "up"
    });

    assert!(init.lives_for(Duration::from_millis(100)));
    manager.hears_nothing();
    drop(lease);

    assert_eq!(manager.hears().0, "READY=1");
    is_up(&mut room);
    init.stop_with(0);
}

#[test]
fn an_abstract_socket_is_one_as_well() {
    let mut room = Room::with_host(&["up"], "");
    let name = format!("host-init-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let manager = Manager::of(UnixDatagram::bind_addr(&address).unwrap());
    let mut init = told_at(&room, &format!("@{name}")).spawn();

    manager.waits_for("READY=1");

    is_up(&mut room);
    init.stop_with(0);
    manager.waits_for("EXIT_STATUS=0");
}

#[test]
fn a_socket_that_nobody_can_be_told_at_hurts_nobody_and_is_said_once() {
    let long = format!("/{}", "x".repeat(200));
    let abstract_long = format!("@{}", "x".repeat(200));
    for socket in [
        "/run/none",
        "/run/none/below",
        "/etc/host-init.toml",
        "/run/stream",
        "/run/deaf",
        "/run",
        "@",
        "@host-init-nobody",
        "relative",
        "vsock:2:1234",
        &long,
        &abstract_long,
    ] {
        let mut room = Room::with_host(&["up"], "");
        let stream = UnixListener::bind(room.path().join("run/stream")).unwrap();
        // Nobody listens any more.
        drop(UnixDatagram::bind(room.path().join("run/deaf")).unwrap());
        let mut init = told_at(&room, socket).spawn();
        is_up(&mut room);

        init.stop_with(0);

        drop(stream);
        let said = init.said().all();
        let complaints = said.iter().filter(|line| line.contains("notify "));
        assert_eq!(complaints.count(), 1, "{socket}: {said:#?}");
    }
}

#[test]
fn a_socket_that_is_full_holds_nobody_and_is_tried_again() {
    let mut room = Room::with_host(&["up"], "");
    let manager = Manager::new(&room);
    let filler = UnixDatagram::unbound().unwrap();
    filler.connect(room.path().join(SOCKET)).unwrap();
    filler.set_nonblocking(true).unwrap();
    let mut count = 0;
    while filler.send(b"noise").is_ok() {
        count += 1;
    }
    let mut init = start(&room);
    is_up(&mut room);
    eventually("the host's state", || {
        room.json("run/host-init/state.json")["host"]["state"] == "up"
    });
    for _ in 0..count {
        assert_eq!(manager.hears().0, "noise");
    }
    assert_eq!(manager.hears().0, "READY=1");

    while filler.send(b"noise").is_ok() {}
    init.stop_with(0);
}

#[test]
fn a_full_socket_does_not_hold_up_the_end() {
    let mut room = Room::with_host(&["up"], "");
    let _manager = Manager::new(&room);
    let filler = UnixDatagram::unbound().unwrap();
    filler.connect(room.path().join(SOCKET)).unwrap();
    filler.set_nonblocking(true).unwrap();
    while filler.send(b"noise").is_ok() {}
    let mut init = start(&room);
    is_up(&mut room);

    // It ends as soon as it is asked, whatever is still to be told.
    let time = init.stop_with(0);

    assert!(time < Duration::from_secs(5), "{time:?}");
}
