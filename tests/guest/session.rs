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

    /// Has the shell do something, and gives what it printed, without what the
    /// kernel said in between.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        self.asked += 1;
        let begin = format!("-- {} --\n", self.asked);
        let end = format!("== {} ==\n", self.asked);
        self.tell(&format!(
            "echo '{}'; {command}\necho '{}'",
            begin.trim_end(),
            end.trim_end()
        ));
        let mut heard = String::new();
        self.guest
            .wait_line_where(
                &format!("the end of {command:?}"),
                |line| {
                    hear(&mut heard, line);
                    heard.ends_with(&end)
                },
                BOUND,
            )
            .unwrap_or_else(|error| fail(&error));
        let answer = heard.split_once(&begin).map_or("", |(_, answer)| answer);
        answer
            .trim_end_matches(&end)
            .trim_end_matches('\n')
            .to_owned()
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

/// Adds what a line has of a program's output. The kernel's messages are whole,
/// but one may come in the middle of a program's line, which then goes on after it.
fn hear(heard: &mut String, line: &str) {
    match stamp(line) {
        Some(start) => heard.push_str(&line[..start]),
        None => {
            heard.push_str(line);
            heard.push('\n');
        }
    }
}

/// Where a line has the kernel's time stamp: `[    1.234567] `.
fn stamp(line: &str) -> Option<usize> {
    line.match_indices('[').find_map(|(start, _)| {
        let (seconds, rest) = line[start + 1..].split_once('.')?;
        let (micros, _) = rest.split_once("] ")?;
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        (seconds.len() >= 5 && is_number(seconds.trim_start()) && micros.len() == 6)
            .then_some(start)
            .filter(|_| is_number(micros))
    })
}

#[test]
fn what_the_kernel_says_in_the_middle_of_a_line_is_not_the_programs() {
    let mut heard = String::new();

    for line in [
        "[    2.385543] tsc: Refined",
        "fo[    2.388863] clocksource: [x.y] tsc",
        "[   12.394234] clocksource",
        "ur [1.2]",
        "",
    ] {
        hear(&mut heard, line);
    }

    assert_eq!(heard, "four [1.2]\n\n");
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
