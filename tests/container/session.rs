//! A client that runs: what is heard of it, what it is typed, how it ends.

use std::fs;
use std::io::{Read, pipe};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// How long anything may take. Far more than it needs: two processors may have a
/// dozen tests to do.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// A running client, killed when it is dropped.
pub(crate) struct Session {
    child: Child,
    /// The terminal that it has, if any.
    terminal: Option<Terminal>,
    pieces: Receiver<Vec<u8>>,
    heard: String,
    /// The end, in what was heard, of what was waited for last.
    at: usize,
}

impl Session {
    /// One with standard output and error in one pipe, and nothing to read.
    pub(crate) fn piped(mut command: Command) -> Self {
        let (reader, writer) = pipe().unwrap();
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer);
        let child = command.spawn().unwrap();
        // With the command goes this process's end of the pipe.
        drop(command);
        Self::new(child, None, reader)
    }

    /// Runs a command that ends well, and in time.
    pub(crate) fn done(command: Command) {
        Self::piped(command).ends_with(0);
    }

    /// One that leads a session on a terminal of its own.
    pub(crate) fn on_terminal(mut command: Command) -> Self {
        let terminal = Terminal::of(&mut command);
        let child = command.spawn().unwrap();
        drop(command);
        let reader = terminal.reader();
        Self::new(child, Some(terminal), reader)
    }

    fn new(
        child: Child,
        terminal: Option<Terminal>,
        mut reader: impl Read + Send + 'static,
    ) -> Self {
        let (sender, pieces) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody has any more is an error.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                // The test may be over.
                let _ = sender.send(bytes[..count].to_owned());
            }
        });
        Self {
            child,
            terminal,
            pieces,
            heard: String::new(),
            at: 0,
        }
    }

    /// Waits until it has said this, after what was waited for last.
    pub(crate) fn says(&mut self, text: &str) {
        let until = Instant::now() + BOUND;
        loop {
            if let Some(found) = self.heard[self.at..].find(text) {
                self.at += found + text.len();
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                // Whoever says something else for ever does not keep it waiting.
                Ok(piece) if !left.is_zero() => self.heard += &String::from_utf8_lossy(&piece),
                Ok(_) | Err(_) => panic!("no {text:?}:\n{}", self.heard),
            }
        }
    }

    /// Waits until it ends, with this code.
    pub(crate) fn ends_with(&mut self, code: i32) {
        assert!(self.is_over(), "it does not end:\n{}", self.heard);
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{}", self.heard);
    }

    /// Waits until nobody can write to its output any more; whether that came.
    pub(crate) fn is_over(&mut self) -> bool {
        let until = Instant::now() + BOUND;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) if !left.is_zero() => self.heard += &String::from_utf8_lossy(&piece),
                Ok(_) => return false,
                Err(error) => return error == RecvTimeoutError::Disconnected,
            }
        }
    }

    /// Types on its terminal.
    pub(crate) fn types(&self, keys: &str) {
        self.terminal.as_ref().unwrap().types(keys);
    }

    /// Gives its terminal another size.
    pub(crate) fn resizes(&self, rows: u16, columns: u16) {
        self.terminal.as_ref().unwrap().resizes(rows, columns);
    }

    /// Sends a signal to the client itself.
    pub(crate) fn signals(&self, signal: i32) {
        let pid = self.child.id().cast_signed();
        // SAFETY: takes numbers; the child is not waited for yet.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }

    /// Sends a signal to the host-init that the client has, however deep.
    pub(crate) fn signals_host_init(&self, signal: i32) {
        let pid = below(self.child.id()).expect("no host-init");
        // SAFETY: takes numbers.
        assert_eq!(unsafe { libc::kill(pid.cast_signed(), signal) }, 0);
    }

    /// All that was heard until now.
    pub(crate) fn heard(&self) -> &str {
        &self.heard
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Not each client's end is that of what it runs.
        if let Some(pid) = below(self.child.id()) {
            // SAFETY: takes numbers.
            unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) };
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process of the program host-init that is another's child, or a child's.
fn below(parent: u32) -> Option<u32> {
    let children = format!("/proc/{parent}/task/{parent}/children");
    fs::read_to_string(children)
        .ok()?
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .find_map(|child| match fs::read_link(format!("/proc/{child}/exe")) {
            Ok(program) if program.ends_with("host-init") => Some(child),
            _ => below(child),
        })
}
