//! Standard descriptors: closed, full, broken, slow, shared.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::thread;

use crate::init::End;
use crate::lines::eventually;
use crate::room::{Room, config};
use crate::start::{Signals, Start, pipe};
use crate::starts::{assert_holds_its_own_only, is_up};

#[test]
fn it_starts_with_any_of_its_standard_descriptors_closed() {
    for closed in 0..8_usize {
        let mut room = Room::with_host(&["up"], "");
        let mut start = Start::new(&room);
        for number in (0..3).filter(|number| closed >> number & 1 == 1) {
            start = start.stdio(number, None);
        }
        let mut init = start.spawn();

        is_up(&mut room);

        let held = init.descriptors();
        for number in 0..3 {
            let (found, target) = &held[number];
            assert_eq!(usize::try_from(*found), Ok(number), "{closed:#b} {held:?}");
            let is_given = closed >> number & 1 == 0;
            let expected: &[&str] = match (is_given, number) {
                (true, 2) => &["pipe:["],
                (true, _) => &["/dev/null"],
                (false, _) => &["/dev/console"],
            };
            assert!(
                expected.iter().any(|part| target.contains(part)),
                "{closed:#b}: {held:?}"
            );
            // A host gets the last two as they are, and most programs can't do with
            // one that does not wait.
            let info = fs::read_to_string(init.proc(&format!("fdinfo/{number}"))).unwrap();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = i32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
            assert_eq!(flags & libc::O_NONBLOCK, 0, "{closed:#b}: {number}");
        }
        assert_holds_its_own_only(&init);
        // It still has a place for its messages.
        if closed >> 2 == 0 {
            init.says("host-init: host: started, pid 2");
        } else {
            room.console.wait_for("host-init: host: started, pid 2");
        }
        init.stop_with(0);
    }
}

#[test]
fn it_starts_with_nothing_at_all_to_write_to() {
    let mut room = Room::with_host(&["up"], "output = \"null\"");
    fs::remove_file(room.path().join("dev/console")).unwrap();
    let mut init = Start::new(&room)
        .stdio(0, None)
        .stdio(1, None)
        .stdio(2, None)
        .signals(Signals::Hostile)
        .spawn();

    is_up(&mut room);

    init.stop_with(0);
}

#[test]
fn a_standard_error_that_takes_nothing_neither_ends_nor_holds_it() {
    let full = || {
        let (read, write) = pipe();
        fill(&write);
        (Some(read), write)
    };
    let broken = || {
        let (read, write) = pipe();
        drop(read);
        (None, write)
    };
    let device = || {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        (None, OwnedFd::from(full))
    };

    for (what, (_reader, stderr)) in [
        ("a full pipe that nobody reads", full()),
        ("a pipe whose reader is gone", broken()),
        ("a full disk", device()),
    ] {
        let mut room = Room::with_host(&["up"], "");
        let mut init = Start::new(&room).stdio(2, Some(stderr)).spawn();

        is_up(&mut room);

        // What it has to say goes to the console instead.
        room.console.wait_for("host-init: host: started, pid 2");
        assert_eq!(init.stop(), End::Code(0), "{what}");
    }
}

#[test]
fn a_standard_output_that_takes_nothing_is_the_hosts_alone_to_bear() {
    let full = || {
        let (read, write) = pipe();
        fill(&write);
        (Some(read), write)
    };
    let broken = || {
        let (read, write) = pipe();
        drop(read);
        (None, write)
    };
    for (what, make) in [
        ("full", &full as &dyn Fn() -> (Option<OwnedFd>, OwnedFd)),
        ("broken", &broken),
    ] {
        let (_out, stdout) = make();
        let (_err, stderr) = make();
        // A pipe that broke ends the host, again and again.
        let mut room = Room::with_host(&["shouts"], "backoff = \"10ms\"");
        let mut init = Start::new(&room)
            .stdio(1, Some(stdout))
            .stdio(2, Some(stderr))
            .spawn();
        assert_eq!(room.told.next(), "shouts");
        room.write("etc/host-init.toml", &config(&["up"], ""));
        init.signal(libc::SIGHUP);
        init.has_heard_all();

        // It still hears what it is asked.
        init.signal(34 + 7);
        room.told.wait_for("up ");

        assert_eq!(init.stop(), End::Code(0), "{what}");
    }
}

#[test]
fn a_file_has_what_it_says_and_what_the_host_says() {
    let room = Room::with_host(&["says", "it is the host"], "backoff = \"10ms\"");
    let path = room.path().join("tmp/log");
    // Each of the two begins at its start, as a shell's `2>file` has it.
    let file = fs::File::create(&path).unwrap();
    let mut init = Start::new(&room).stdio(2, Some(file.into())).spawn();
    eventually("three lives", || {
        let text = fs::read_to_string(&path).unwrap();
        text.matches("host: exit 1").count() >= 3
    });

    init.stop_with(0);

    let text = fs::read_to_string(&path).unwrap();
    for line in text.lines() {
        let is_whole = line == "it is the host" || line.starts_with("host-init: ");
        assert!(is_whole, "{text}");
    }
    assert!(text.matches("it is the host\n").count() >= 3, "{text}");
    assert!(text.matches("host: started").count() >= 3, "{text}");
}

#[test]
fn a_console_that_takes_nothing_either_is_no_worse() {
    let mut room = Room::with_host(&["up"], "output = \"null\"");
    let console = fs::File::options()
        .read(true)
        .write(true)
        .open(room.path().join("dev/console"))
        .unwrap();
    fill(&console);
    let (_reader, stderr) = pipe();
    fill(&stderr);
    let mut init = Start::new(&room).stdio(2, Some(stderr)).spawn();

    is_up(&mut room);

    init.stop_with(0);
}

#[test]
fn a_terminal_or_a_socket_that_nobody_reads_does_not_hold_it() {
    for (what, (_reader, stderr)) in [("a terminal", terminal()), ("a socket", socket())] {
        let mut room = Room::with_host(&["up"], "output = \"null\"");
        let mut init = Start::new(&room).stdio(2, Some(stderr)).spawn();
        is_up(&mut room);

        // Forty lines of errors for each reload, until it is full and for long
        // after.
        let bad: String = (0..40)
            .map(|line| format!("unknown-{line} = 1\n"))
            .collect();
        room.write("etc/host-init.toml", &bad);
        for _ in 0..100 {
            init.signal(libc::SIGHUP);
            init.has_heard_all();
        }

        assert_eq!(init.stop(), End::Code(0), "{what}");
    }
}

#[test]
fn a_pipe_that_somebody_else_fills_at_the_same_moment_does_not_hold_it() {
    let mut room = Room::with_host(&["up"], "output = \"null\"");
    let (reader, stderr) = pipe();
    // A mode of its own, as another program's end has that opened it by itself.
    let mut other = fs::File::options()
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(format!("/proc/self/fd/{}", stderr.as_raw_fd()))
        .unwrap();
    let mut init = Start::new(&room).stdio(2, Some(stderr)).spawn();
    is_up(&mut room);
    let bad: String = (0..40)
        .map(|line| format!("unknown-{line} = 1\n"))
        .collect();
    room.write("etc/host-init.toml", &bad);

    // It ends by itself, when the other is done or has failed.
    let other = thread::spawn(move || {
        let bytes = [b'.'; 4096];
        loop {
            // Full most of the time, which is the purpose.
            match other.write(&bytes) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => break error.kind(),
                Ok(_) | Err(_) => {}
            }
        }
    });
    let mut reader = fs::File::from(reader);
    let mut bytes = [0; 4096];
    for _ in 0..1_000 {
        init.signal(libc::SIGHUP);
        // Room for one of the two, whoever is first.
        reader.read_exact(&mut bytes).unwrap();
        // Nobody reads until it has come back.
        init.has_heard_all();
    }
    init.stop_with(0);
    drop(reader);
    assert_eq!(other.join().unwrap(), ErrorKind::BrokenPipe);
}

/// A terminal's two ends, the reader's first.
fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    // SAFETY: the kernel writes two descriptors.
    let made = unsafe {
        libc::openpty(
            &raw mut master,
            &raw mut slave,
            std::ptr::null_mut(),
            std::ptr::null(),
            std::ptr::null(),
        )
    };
    assert_eq!(made, 0);
    // SAFETY: it was just made for this process.
    let master = unsafe { OwnedFd::from_raw_fd(master) };
    // SAFETY: as above.
    let slave = unsafe { OwnedFd::from_raw_fd(slave) };
    (master, slave)
}

/// A socket's two ends.
fn socket() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = UnixStream::pair().unwrap();
    (reader.into(), writer.into())
}

/// Fills a pipe to the last byte.
fn fill(pipe: impl AsFd) {
    let pipe = pipe.as_fd().as_raw_fd();
    // SAFETY: takes numbers.
    let set = unsafe { libc::fcntl(pipe, libc::F_SETFL, libc::O_NONBLOCK) };
    assert_eq!(set, 0);
    for size in [65_536, 1] {
        let bytes = vec![b'.'; size];
        // SAFETY: the buffer has that many bytes.
        while unsafe { libc::write(pipe, bytes.as_ptr().cast(), size) } > 0 {}
    }
    // As whoever made it had it: a write would wait.
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::fcntl(pipe, libc::F_SETFL, 0) }, 0);
}
