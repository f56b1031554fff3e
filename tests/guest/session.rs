//! A guest and the shell in it.

use core::ops::{Deref, DerefMut};
use core::time::Duration;
use std::thread;

use qemu::{Boot, Ending, Error, Guest};

/// How long anything may take that waits for nothing: a boot takes two seconds,
/// and a machine that is busy with other things much longer.
pub(crate) const BOUND: Duration = Duration::from_secs(120);

/// A guest whose console is shown when the test that has it fails.
pub(crate) struct Session {
    guest: Guest,
    asked: u32,
}

impl Session {
    /// Switches a machine on.
    pub(crate) fn start(boot: Boot) -> Self {
        Self {
            guest: boot.start().unwrap(),
            asked: 0,
        }
    }

    /// Switches a machine on, and waits for its [`SHELL`](crate::image::SHELL).
    pub(crate) fn up(boot: Boot) -> Self {
        let mut session = Self::start(boot);
        session.line("host: up");
        session
    }

    /// Waits for a line with this text in it.
    pub(crate) fn line(&mut self, text: &str) -> String {
        self.guest
            .wait_line(text, BOUND)
            .unwrap_or_else(|error| fail(&error))
    }

    /// Waits for each line in turn.
    pub(crate) fn lines(&mut self, texts: &[&str]) {
        for text in texts {
            self.line(text);
        }
    }

    /// Waits for a text that no end of a line follows.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.guest
            .wait_text(text, BOUND)
            .unwrap_or_else(|error| fail(&error));
    }

    /// Has the shell do something, and goes on.
    pub(crate) fn tell(&mut self, command: &str) {
        self.guest.type_line(command).unwrap();
    }

    /// Has the shell do something, and gives what it printed, without the kernel's
    /// own lines in between.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        self.asked += 1;
        let end = format!("-- {} --", self.asked);
        self.tell(&format!("{command}\necho '{end}'"));
        let mut answer = Vec::new();
        self.guest
            .wait_line_where(
                &format!("the end of {command:?}"),
                |line| {
                    let is_end = line.ends_with(&end);
                    if !is_end && !is_kernels(line) {
                        answer.push(line.to_owned());
                    }
                    is_end
                },
                BOUND,
            )
            .unwrap_or_else(|error| fail(&error));
        answer.join("\n")
    }

    /// Has the shell send PID 1 a signal.
    pub(crate) fn signal(&mut self, name: &str) {
        self.tell(&format!("kill -{name} 1"));
    }

    /// Waits for the end of this boot.
    pub(crate) fn ends(&mut self, ending: &Ending) {
        self.guest
            .expect_end(ending, BOUND)
            .unwrap_or_else(|error| fail(&error));
    }
}

/// Fails with the first line of the error: the others are the console, which is
/// shown when the session goes.
fn fail(error: &Error) -> ! {
    let text = error.to_string();
    panic!("{}", text.lines().next().unwrap_or_default())
}

/// The seconds of a line of the kernel's log.
pub(crate) fn time(line: &str) -> f64 {
    line.split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .and_then(|(seconds, _)| seconds.trim().parse().ok())
        .unwrap_or_else(|| panic!("no time: {line}"))
}

/// Whether a line begins with the kernel's time stamp.
fn is_kernels(line: &str) -> bool {
    line.strip_prefix('[').is_some_and(|rest| {
        rest.trim_start()
            .starts_with(|first: char| first.is_ascii_digit())
    })
}

impl Deref for Session {
    type Target = Guest;

    fn deref(&self) -> &Guest {
        &self.guest
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Guest {
        &mut self.guest
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- the console ---\n{}", self.guest.console().trim_end());
        }
    }
}
