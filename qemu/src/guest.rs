//! A machine that runs: what it says, what it is told, how it ends.
//!
//! Waits go forward: each begins where the last one that succeeded ended, so
//! a test reads as the story of the boot. Every wait has a bound.

use core::time::Duration;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use crate::ending::Ending;
use crate::error::Error;
use crate::process::Process;
use crate::pump::{Event, Pump, State};
use crate::scratch::Scratch;
use crate::slot::Slot;

/// How long the monitor may take for an answer, on a busy machine.
const MONITOR_BOUND: Duration = Duration::from_secs(30);

/// How long QEMU may take to close its files once the guest has ended.
const EXIT_BOUND: Duration = Duration::from_secs(10);

/// How often to look at the processor of a guest whose console says nothing.
const LOOK_AT_PROCESSOR: Duration = Duration::from_millis(250);

/// A running machine. Dropped, it is gone, whatever it was doing.
#[must_use = "a guest ends when it is dropped"]
pub struct Guest {
    machine: Machine,
    /// Up to where waits for the console have read.
    heard: usize,
    /// Up to where waits for events have read.
    noticed: usize,
    /// Number of the last command of the monitor.
    asked: u64,
    /// How the last boot ended, once nothing runs any more.
    ending: Option<Ending>,
}

/// What a guest owns, in the order in which it goes.
pub(crate) struct Machine {
    pub(crate) process: Process,
    pub(crate) pump: Pump,
    pub(crate) keyboard: Option<UnixStream>,
    pub(crate) control: UnixStream,
    /// Where QEMU writes its own messages.
    pub(crate) complaints: PathBuf,
    pub(crate) _scratch: Scratch,
    pub(crate) _slot: Slot,
}

impl Guest {
    pub(crate) fn switch_on(machine: Machine) -> Result<Self, Error> {
        let mut guest = Self {
            machine,
            heard: 0,
            noticed: 0,
            asked: 0,
            ending: None,
        };
        guest.monitor("qmp_capabilities", Value::Null)?;
        guest.monitor("cont", Value::Null)?;
        Ok(guest)
    }

    /// Waits for a line with this text in it, and returns the line.
    pub fn wait_line(&mut self, text: &str, bound: Duration) -> Result<String, Error> {
        self.wait_line_where(
            &format!("a line with {text:?}"),
            |line| line.contains(text),
            bound,
        )
    }

    /// Waits for a line that a predicate accepts; `what` names it in errors.
    pub fn wait_line_where(
        &mut self,
        what: &str,
        mut accepts: impl FnMut(&str) -> bool,
        bound: Duration,
    ) -> Result<String, Error> {
        let mut position = self.heard;
        let (line, next) = self.wait(what, bound, |state| {
            while let Some((line, next)) = state.transcript.line(position) {
                if accepts(&line) {
                    return Some((line, next));
                }
                position = next;
            }
            None
        })?;
        self.heard = next;
        Ok(line)
    }

    /// Waits for a text, be its line finished or not: a prompt.
    pub fn wait_text(&mut self, text: &str, bound: Duration) -> Result<(), Error> {
        let heard = self.heard;
        self.heard = self.wait(&format!("the text {text:?}"), bound, |state| {
            state.transcript.text(heard, text)
        })?;
        Ok(())
    }

    /// Waits for QEMU to announce something: `RESET`, `WATCHDOG`, `SHUTDOWN`.
    pub fn wait_event(&mut self, name: &str, bound: Duration) -> Result<Event, Error> {
        let noticed = self.noticed;
        let (event, next) = self.wait(&format!("the event {name}"), bound, |state| {
            let later = state.events.iter().enumerate().skip(noticed);
            let (number, event) = later.into_iter().find(|(_, event)| event.name == name)?;
            Some((event.clone(), number + 1))
        })?;
        self.noticed = next;
        Ok(event)
    }

    /// Waits for the end of the boot that is under way, and tells how it ended.
    ///
    /// Over restarts each call tells the ending of the next boot. Once nothing
    /// runs any more, the answer stays the same.
    pub fn wait_end(&mut self, bound: Duration) -> Ending {
        let deadline = Instant::now() + bound;
        let mut look_at = Instant::now() + LOOK_AT_PROCESSOR;
        loop {
            if let Some(ending) = self.ending() {
                return ending;
            }
            let now = Instant::now();
            if now >= deadline.min(look_at) {
                // The console may be dead, and the guest halted in silence.
                if self.has_stopped_processor() {
                    return Ending::Halted;
                }
                if now >= deadline {
                    // The last look took its time, and the guest may have ended.
                    return self.ending().unwrap_or(Ending::Hung);
                }
                look_at = now + LOOK_AT_PROCESSOR;
                continue;
            }
            let state = self.machine.pump.state();
            if state.endings.is_empty() && state.signs.ending_with_power_on().is_none() {
                drop(self.machine.pump.more(state, deadline.min(look_at) - now));
            }
        }
    }

    /// The ending of the boot that is under way, if it has come. Never waits.
    ///
    /// A guest that halted without a word on the console is not seen by this.
    pub fn ending(&mut self) -> Option<Ending> {
        if self.ending.is_some() {
            return self.ending.clone();
        }
        let mut state = self.machine.pump.state();
        let Some(ending) = state.endings.pop_front() else {
            return state.signs.ending_with_power_on();
        };
        if state.is_over && state.endings.is_empty() {
            drop(state);
            self.conclude();
            self.ending = Some(ending.clone());
        }
        Some(ending)
    }

    /// Waits for this ending; any other is an error that shows the console.
    pub fn expect_end(&mut self, expected: &Ending, bound: Duration) -> Result<(), Error> {
        let ending = self.wait_end(bound);
        if ending == *expected {
            return Ok(());
        }
        let reason = match ending {
            Ending::Hung => format!("still running after {bound:?}"),
            other => format!("it {other}"),
        };
        Err(self.error("see", format!("the guest {expected}"), reason))
    }

    /// Types a text on the console.
    pub fn type_text(&mut self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        let written = match &mut self.machine.keyboard {
            None => Err(std::io::Error::other("there is no console")),
            Some(keyboard) => keyboard.write_all(text.as_ref()),
        };
        written.map_err(|error| self.error("type", "on the console", error))
    }

    /// Types a text and Enter.
    pub fn type_line(&mut self, text: &str) -> Result<(), Error> {
        self.type_text(format!("{text}\n"))
    }

    /// Presses keys of the keyboard together, by QEMU's names for them.
    pub fn press(&mut self, keys: &[&str]) -> Result<(), Error> {
        let keys: Vec<Value> = keys
            .iter()
            .map(|key| json!({"type": "qcode", "data": key}))
            .collect();
        self.monitor("send-key", json!({ "keys": keys })).map(drop)
    }

    /// Presses Ctrl-Alt-Del.
    pub fn press_ctrl_alt_delete(&mut self) -> Result<(), Error> {
        self.press(&["ctrl", "alt", "delete"])
    }

    /// Presses the power button (ACPI). What follows is up to the guest.
    pub fn press_power(&mut self) -> Result<(), Error> {
        self.monitor("system_powerdown", Value::Null).map(drop)
    }

    /// Presses the reset button.
    pub fn press_reset(&mut self) -> Result<(), Error> {
        self.monitor("system_reset", Value::Null).map(drop)
    }

    /// Pulls the plug: QEMU is killed at once. Disks keep what was written.
    pub fn pull_plug(&mut self) {
        self.machine.process.kill();
    }

    /// Stops reading the console: after some 300 bytes it takes no more.
    pub fn freeze_console(&mut self) {
        self.machine.pump.freeze(true);
    }

    /// Takes up the reading of a console that was frozen or never read.
    pub fn thaw_console(&mut self) {
        self.machine.pump.freeze(false);
    }

    /// Whether the machine runs, by QEMU's word for it: `running`, `paused`.
    pub fn status(&mut self) -> Result<String, Error> {
        let answer = self.monitor("query-status", Value::Null)?;
        Ok(answer["status"].as_str().unwrap_or_default().to_owned())
    }

    /// Gives QEMU's monitor a command, with an object of arguments or null.
    pub fn monitor(&mut self, command: &str, arguments: Value) -> Result<Value, Error> {
        self.asked += 1;
        let number = self.asked;
        let mut order = json!({"execute": command, "id": number});
        if !arguments.is_null() {
            order["arguments"] = arguments;
        }
        let what = format!("the monitor's {command}");
        if let Err(error) = self
            .machine
            .control
            .write_all(format!("{order}\n").as_bytes())
        {
            return Err(self.error("give", what, error));
        }

        let mut reply = self.wait(&what, MONITOR_BOUND, |state| {
            let place = state
                .replies
                .iter()
                .position(|reply| reply["id"] == number)?;
            Some(state.replies.swap_remove(place))
        })?;
        match reply.get("error") {
            Some(refusal) => {
                let reason = refusal["desc"].as_str().unwrap_or("refused").to_owned();
                Err(self.error("give", what, reason))
            }
            None => Ok(reply["return"].take()),
        }
    }

    /// The whole console so far, without carriage returns.
    pub fn console(&self) -> String {
        self.machine.pump.state().transcript.whole()
    }

    /// All that QEMU has announced so far.
    pub fn events(&self) -> Vec<Event> {
        self.machine.pump.state().events.clone()
    }

    /// The number of QEMU's process.
    pub fn process_id(&self) -> u32 {
        self.machine.process.id()
    }

    /// Waits until a look at the state has an answer. The error of a wait that
    /// got none, or can get none any more, shows the whole console.
    fn wait<T>(
        &self,
        what: &str,
        bound: Duration,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, Error> {
        let deadline = Instant::now() + bound;
        let mut state = self.machine.pump.state();
        loop {
            if let Some(answer) = look(&mut state) {
                return Ok(answer);
            }
            let now = Instant::now();
            if state.is_over {
                let ending = state.endings.back().or(self.ending.as_ref()).cloned();
                drop(state);
                let ended = ending.map_or_else(String::new, |ending| format!(": it {ending}"));
                let reason = format!("the guest has ended{ended}{}", self.complaints());
                return Err(self.error("wait for", what, reason));
            }
            if now >= deadline {
                drop(state);
                return Err(self.error("wait for", what, format!("{bound:?} passed")));
            }
            state = self.machine.pump.more(state, deadline - now);
        }
    }

    fn error(
        &self,
        verb: &'static str,
        object: impl core::fmt::Display,
        reason: impl core::fmt::Display,
    ) -> Error {
        Error::new(verb, object, reason).with_console(self.console())
    }

    /// What QEMU itself had to say, as the tail of a message.
    fn complaints(&self) -> String {
        let log = fs::read_to_string(&self.machine.complaints).unwrap_or_default();
        match log.trim() {
            "" => String::new(),
            log => format!("; QEMU says: {log}"),
        }
    }

    /// Whether the processor sleeps with interrupts off: nothing wakes it.
    fn has_stopped_processor(&mut self) -> bool {
        let arguments = json!({"command-line": "info registers"});
        self.monitor("human-monitor-command", arguments)
            .is_ok_and(|registers| has_stopped(registers.as_str().unwrap_or_default()))
    }

    /// Sees QEMU out: it still flushes its disks when the guest has ended.
    fn conclude(&mut self) {
        if !self.machine.process.wait(EXIT_BOUND) {
            self.machine.process.kill();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.machine.process.kill();
    }
}

/// Reads the flags of the one processor from QEMU's listing.
fn has_stopped(registers: &str) -> bool {
    /// Bit 9 of the flags: interrupts are taken.
    const INTERRUPTS: u64 = 1 << 9;

    let value = |name: &str| {
        let (_, rest) = registers.split_once(name)?;
        rest.split_whitespace().next()
    };
    let flags = value("RFL=").and_then(|flags| u64::from_str_radix(flags, 16).ok());
    value("HLT=") == Some("1") && flags.is_some_and(|flags| flags & INTERRUPTS == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_that_sleeps_with_interrupts_off_has_stopped() {
        assert!(has_stopped(
            "RIP=ffffffff9e03d023 RFL=00000092 [--S-A--] A20=1 SMM=0 HLT=1\r\n"
        ));
    }

    #[test]
    fn an_idle_processor_has_not_stopped() {
        assert!(!has_stopped(
            "RIP=ffffffff9e03d023 RFL=00000246 [---Z-P-] A20=1 SMM=0 HLT=1\r\n"
        ));
        assert!(!has_stopped(
            "RIP=ffffffff9e03d023 RFL=00000092 [--S-A--] A20=1 SMM=0 HLT=0\r\n"
        ));
        assert!(!has_stopped(""));
    }
}
