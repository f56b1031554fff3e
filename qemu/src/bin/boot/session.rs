//! A guest on this terminal: what is typed goes in, the console comes out.

use core::time::Duration;
use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::{self, RecvTimeoutError, SendError, Sender};
use std::thread;

use qemu::{Boot, Ending, Error, Guest};

use crate::demo;
use crate::terminal::{self, Raw};

/// How often to look for the guest's end while nothing is typed.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Ctrl-A, which begins a command for us and not for the guest.
const ESCAPE: u8 = 0x01;

/// Ctrl-D: the end of what is typed.
const END: &str = "\x04";

/// Whether the guest asks for what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// It prints the demonstration's prompt.
    WithPrompt,
    /// It is not known to.
    Never,
}

/// Whether standard input is a person's.
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Runs the machine until it ends, or is told to.
pub(crate) fn run(boot: Boot, asks: Asks) -> Result<Ending, Error> {
    terminal::block_signals();
    let (messages, inbox) = mpsc::channel();
    let mut guest = boot.through_restarts().mirror(io::stdout()).start()?;

    let _raw = match has_terminal() {
        true => {
            eprintln!("boot: Ctrl-A X ends the machine");
            Some(Raw::take().map_err(|error| Error::new("take", "the terminal", error))?)
        }
        false => None,
    };
    listen(messages);

    let mut typist = Typist::new(asks);
    loop {
        match inbox.recv_timeout(LOOK_AGAIN) {
            // What cannot be typed is lost, as on any serial line; that the
            // guest has ended is seen below.
            Ok(Message::Keys(keys)) => drop(guest.type_text(keys)),
            Ok(Message::Line(line)) => typist.lines.push_back(line),
            Ok(Message::End) => typist.has_ended = true,
            Ok(Message::Quit) => guest.pull_plug(),
            // The thread that waits for signals never goes.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        typist.work(&mut guest);
        match guest.ending() {
            // The next boot is on its way.
            Some(Ending::Restarted | Ending::Watchdog) | None => {}
            Some(ending) => {
                if !guest.console().ends_with('\n') {
                    println!();
                }
                return Ok(ending);
            }
        }
    }
}

/// Starts the threads that hear what the person, or the system, wants.
fn listen(messages: Sender<Message>) {
    let signals = messages.clone();
    thread::spawn(move || {
        loop {
            terminal::wait_signal();
            if signals.send(Message::Quit).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        // Nobody listens any more once the guest has ended.
        let _ = match has_terminal() {
            true => hear_keys(&messages),
            false => hear_lines(&messages),
        };
    });
}

/// What is typed, or asked of us.
#[derive(Debug, PartialEq, Eq)]
enum Message {
    Keys(Vec<u8>),
    Line(Vec<u8>),
    /// No more lines will come.
    End,
    /// End the machine.
    Quit,
}

fn hear_keys(messages: &Sender<Message>) -> Result<(), SendError<Message>> {
    let mut escape = Escape::default();
    let mut buffer = [0; 256];
    // The end of a terminal is the person's going: the hang-up says so too.
    while let Ok(length @ 1..) = io::stdin().read(&mut buffer) {
        for message in escape.read(&buffer[..length]) {
            messages.send(message)?;
        }
    }
    messages.send(Message::Quit)
}

fn hear_lines(messages: &Sender<Message>) -> Result<(), SendError<Message>> {
    for line in io::stdin().lock().split(b'\n') {
        // What cannot be read is taken for the end.
        let Ok(line) = line else { break };
        messages.send(Message::Line(line))?;
    }
    messages.send(Message::End)
}

/// Finds our own commands among the keys.
#[derive(Debug, Default)]
struct Escape {
    /// The last key was Ctrl-A.
    has_begun: bool,
}

impl Escape {
    fn read(&mut self, keys: &[u8]) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut typed = Vec::new();
        for &key in keys {
            match (self.has_begun, key) {
                (false, ESCAPE) => self.has_begun = true,
                (false, key) => typed.push(key),
                (true, key) => {
                    self.has_begun = false;
                    match key {
                        b'x' | b'X' => messages.push(Message::Quit),
                        // Twice is once for the guest.
                        ESCAPE | b'a' => typed.push(ESCAPE),
                        key => typed.extend([ESCAPE, key]),
                    }
                }
            }
        }
        if !typed.is_empty() {
            messages.insert(0, Message::Keys(typed));
        }
        messages
    }
}

/// Types the lines of an input that is no terminal, when the guest is ready.
struct Typist {
    asks: Asks,
    lines: VecDeque<Vec<u8>>,
    /// No more lines will come.
    has_ended: bool,
    /// The guest has asked and got no answer.
    is_asked: bool,
}

impl Typist {
    const fn new(asks: Asks) -> Self {
        Self {
            asks,
            lines: VecDeque::new(),
            has_ended: false,
            is_asked: false,
        }
    }

    fn work(&mut self, guest: &mut Guest) {
        match self.asks {
            // Before it says anything, nobody is there to read.
            Asks::Never if guest.console().is_empty() => {}
            Asks::Never => {
                for line in self.lines.drain(..) {
                    drop(guest.type_text([&line[..], b"\n"].concat()));
                }
            }
            Asks::WithPrompt => {
                self.is_asked |= guest.wait_text(demo::PROMPT, Duration::ZERO).is_ok();
                if !self.is_asked {
                    return;
                }
                if let Some(line) = self.lines.pop_front() {
                    self.is_asked = false;
                    drop(guest.type_text([&line[..], b"\n"].concat()));
                } else if self.has_ended {
                    self.is_asked = false;
                    drop(guest.type_text(END));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_a_x_ends_the_machine_even_in_two_reads() {
        let mut escape = Escape::default();

        assert_eq!(escape.read(b"ls\x01"), [Message::Keys(b"ls".to_vec())]);
        assert_eq!(escape.read(b"x"), [Message::Quit]);
    }

    #[test]
    fn other_keys_reach_the_guest_with_their_ctrl_a() {
        let mut escape = Escape::default();

        assert_eq!(escape.read(b"x"), [Message::Keys(b"x".to_vec())]);
        assert_eq!(escape.read(b"\x01\x01"), [Message::Keys(b"\x01".to_vec())]);
        assert_eq!(escape.read(b"\x01c"), [Message::Keys(b"\x01c".to_vec())]);
    }
}
