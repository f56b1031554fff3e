//! Lines that arrive in a pipe, waited for with a bound.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long anything may take that does not wait for a deadline of host-init's.
/// Far more than it needs: two processors may have a dozen tests to do.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// The reader's end of a pipe.
pub(crate) struct Lines {
    name: &'static str,
    pipe: File,
    /// What came and is not a whole line yet.
    rest: Vec<u8>,
    /// Every line that came.
    all: Vec<String>,
    /// How many of them were looked at.
    seen: usize,
}

impl Lines {
    pub(crate) fn new(name: &'static str, pipe: OwnedFd) -> Self {
        // SAFETY: the number is a descriptor that is open.
        let flags = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETFL) };
        // SAFETY: as above.
        let set = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) };
        assert_eq!(set, 0);
        // As much as anybody may have: what does not fit is lost, as it must be.
        // SAFETY: as above.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
        Self {
            name,
            pipe: pipe.into(),
            rest: Vec::new(),
            all: Vec::new(),
            seen: 0,
        }
    }

    /// The next line.
    pub(crate) fn next(&mut self) -> String {
        self.wait("a line", |_| true)
    }

    /// The next line that has `text` in it; lines before it are passed over.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        self.wait(text, |line| line.contains(text))
    }

    fn wait(&mut self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + BOUND;
        loop {
            self.read();
            while let Some(line) = self.all.get(self.seen) {
                self.seen += 1;
                if is_it(line) {
                    return line.clone();
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_ready(self.pipe.as_raw_fd(), left) {
                let (name, all) = (self.name, self.all.join("\n"));
                panic!("{name}: waited for {what:?}; what came:\n{all}");
            }
        }
    }

    /// Every line so far.
    pub(crate) fn all(&mut self) -> &[String] {
        self.read();
        &self.all
    }

    fn read(&mut self) {
        let mut buffer = [0; 65_536];
        loop {
            match self.pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.rest.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("{}: {error}", self.name),
            }
        }
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.all
                .push(String::from_utf8_lossy(&line[..end]).into_owned());
        }
    }
}

/// Waits until a descriptor can be read, and not longer than this; whether it
/// can. One whose other end is gone can't be read any more than it was.
pub(crate) fn is_ready(fd: i32, bound: Duration) -> bool {
    let mut polled = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let time = libc::timespec {
        tv_sec: i64::try_from(bound.as_secs()).unwrap(),
        tv_nsec: i64::from(bound.subsec_nanos()),
    };
    // SAFETY: the kernel reads and writes one entry, and reads one time.
    let ready = unsafe { libc::ppoll(&raw mut polled, 1, &raw const time, std::ptr::null()) };
    ready > 0 && polled.revents & libc::POLLIN != 0
}

/// Looks again and again until what is waited for is so. Only for what the
/// kernel tells nobody about: its tables in `/proc`.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + BOUND;
    while !is_so() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
