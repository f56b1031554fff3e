//! Reads the guest's console and QEMU's monitor from one thread.
//!
//! One thread, because the order counts: what QEMU wrote to the console before
//! it announced a reset must be in the transcript when the reset is judged. So
//! the console is drained each time before the monitor is read.

use core::time::Duration;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

use crate::ending::{Ending, Signs};
use crate::system;
use crate::transcript::Transcript;

/// After a reset the firmware resets once more, within 0.07 s where that was
/// measured. A kernel needs longer than this to boot, and says that it restarts.
const FIRMWARE_BOUND: Duration = Duration::from_secs(1);

/// Something that QEMU's monitor announced.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The monitor's name for it: `SHUTDOWN`, `RESET`, `WATCHDOG`.
    pub name: String,
    /// What it says about it; null when nothing.
    pub data: Value,
}

impl Event {
    /// Why a `SHUTDOWN` or a `RESET` came: `guest-reset`, `host-qmp-quit`.
    pub fn reason(&self) -> Option<&str> {
        self.data.get("reason").and_then(Value::as_str)
    }
}

/// What has been read so far.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) transcript: Transcript,
    pub(crate) events: Vec<Event>,
    pub(crate) replies: Vec<Value>,
    /// Endings of boots that nobody has asked for yet, oldest first.
    pub(crate) endings: VecDeque<Ending>,
    /// What was seen of the boot that is under way.
    pub(crate) signs: Signs,
    /// QEMU has closed the monitor, and no more will be read.
    pub(crate) is_over: bool,
    /// The console is not being read.
    is_frozen: bool,
    /// QEMU's reason for the shutdown that it announced.
    shutdown: Option<String>,
    /// When the last reset came, and how much of the console there was.
    reset: Option<(Duration, usize)>,
}

impl State {
    fn note(&mut self, event: Event, time: Duration) {
        match (event.name.as_str(), event.reason()) {
            ("RESET", _) if self.is_the_firmwares(time) => {}
            ("RESET", Some(reason)) => {
                self.reset = Some((time, self.transcript.len()));
                let ending = self.signs.ending(reason);
                self.endings.push_back(ending);
                self.signs = Signs::default();
            }
            ("SHUTDOWN", Some(reason)) => self.shutdown = Some(reason.to_owned()),
            ("WATCHDOG", _) => self.signs.has_watchdog_fired = true,
            _ => {}
        }
        self.events.push(event);
    }

    /// Whether a reset at this time is only the firmware's, which finds the
    /// memory used by the boot before and resets the machine once more.
    fn is_the_firmwares(&self, time: Duration) -> bool {
        self.reset.is_some_and(|(last, length)| {
            time.saturating_sub(last) < FIRMWARE_BOUND && self.transcript.len() == length
        })
    }

    fn finish(&mut self) {
        self.transcript.close();
        // Without an announcement QEMU has died, and the guest with it.
        let reason = self.shutdown.take().unwrap_or_default();
        let ending = self.signs.ending(&reason);
        self.endings.push_back(ending);
        self.is_over = true;
    }
}

/// Our side of the thread.
pub(crate) struct Pump {
    shared: Arc<Shared>,
    wake: UnixStream,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Where the console is copied to as it comes.
pub(crate) type Mirror = Box<dyn Write + Send>;

impl Pump {
    /// Starts reading. A console that is frozen is not read until it is thawed.
    pub(crate) fn start(
        console: Option<UnixStream>,
        monitor: UnixStream,
        mirror: Option<Mirror>,
        is_frozen: bool,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        shared.lock().is_frozen = is_frozen;
        let (wake, woken) = UnixStream::pair()?;
        let reader = Reader {
            shared: Arc::clone(&shared),
            console,
            monitor,
            woken,
            mirror,
            unfinished: Vec::new(),
        };
        // It ends when QEMU has; nobody waits for it, since a mirror may block.
        thread::Builder::new()
            .name("console".into())
            .spawn(move || reader.run())?;
        Ok(Self { shared, wake })
    }

    /// Stops or takes up the reading of the console.
    pub(crate) fn freeze(&mut self, is_frozen: bool) {
        self.shared.lock().is_frozen = is_frozen;
        // A reader that has ended needs no waking.
        let _ = self.wake.write_all(b"!");
    }

    /// What has been read so far.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// Waits until more has been read, or the bound has passed.
    pub(crate) fn more<'a>(
        &self,
        state: MutexGuard<'a, State>,
        bound: Duration,
    ) -> MutexGuard<'a, State> {
        self.shared
            .changed
            .wait_timeout(state, bound)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

impl Shared {
    /// The state is whole after every statement that changes it, so a test that
    /// panicked with the lock does no harm.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Reader {
    shared: Arc<Shared>,
    /// None when the guest has no console, or it has been closed.
    console: Option<UnixStream>,
    monitor: UnixStream,
    woken: UnixStream,
    mirror: Option<Mirror>,
    /// The beginning of a line of the monitor.
    unfinished: Vec<u8>,
}

impl Reader {
    fn run(mut self) {
        loop {
            let is_frozen = self.shared.lock().is_frozen;
            let console = self.console.as_ref().filter(|_| !is_frozen);
            let [_, monitor, woken] = system::readable(
                [
                    console.map(AsFd::as_fd),
                    Some(self.monitor.as_fd()),
                    Some(self.woken.as_fd()),
                ],
                None,
            );
            self.drain();
            if woken {
                // One byte for one waking; more of them only wake again.
                let _ = self.woken.read(&mut [0]);
            }
            if monitor && !self.listen() {
                break;
            }
        }
        self.drain();
        self.shared.lock().finish();
        self.shared.changed.notify_all();
    }

    /// Reads all that is there of the console, unless it is frozen.
    fn drain(&mut self) {
        let mut buffer = [0; 4096];
        while let Some(console) = &mut self.console {
            let [is_readable] = system::readable([Some(console.as_fd())], Some(Duration::ZERO));
            if !is_readable || self.shared.lock().is_frozen {
                return;
            }
            let length = console.read(&mut buffer).unwrap_or(0);
            if length == 0 {
                self.console = None;
                return;
            }
            let bytes = &buffer[..length];
            if let Some(mirror) = &mut self.mirror {
                // The mirror is a courtesy: the transcript has it all.
                let _ = mirror.write_all(bytes).and_then(|()| mirror.flush());
            }
            let mut state = self.shared.lock();
            let State {
                transcript, signs, ..
            } = &mut *state;
            transcript.push(bytes, |line| signs.read(line));
            drop(state);
            self.shared.changed.notify_all();
        }
    }

    /// Reads what the monitor says. False when it has been closed.
    fn listen(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let length = self.monitor.read(&mut buffer).unwrap_or(0);
        self.unfinished.extend_from_slice(&buffer[..length]);
        while let Some(end) = self.unfinished.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.unfinished.drain(..=end).collect();
            // What is not JSON is not the monitor's.
            let Ok(mut message) = serde_json::from_slice::<Value>(&line) else {
                continue;
            };
            let mut state = self.shared.lock();
            match message.get("event").and_then(Value::as_str) {
                Some(name) => {
                    let name = name.to_owned();
                    let data = message["data"].take();
                    state.note(Event { name, data }, time(&message["timestamp"]));
                }
                None => state.replies.push(message),
            }
        }
        self.shared.changed.notify_all();
        length > 0
    }
}

/// The monitor's time of an event.
fn time(stamp: &Value) -> Duration {
    let part = |name: &str| stamp[name].as_u64().unwrap_or_default();
    Duration::from_secs(part("seconds")).saturating_add(Duration::from_micros(part("microseconds")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reset(state: &mut State, millis: u64) {
        let event = Event {
            name: "RESET".into(),
            data: json!({"guest": true, "reason": "guest-reset"}),
        };
        state.note(event, Duration::from_millis(millis));
    }

    #[test]
    fn the_firmwares_second_reset_is_no_restart() {
        let mut state = State::default();

        reset(&mut state, 5000);
        reset(&mut state, 5070);

        assert_eq!(state.endings, [Ending::Restarted]);
    }

    #[test]
    fn a_boot_that_spoke_or_took_its_time_is_a_restart_of_its_own() {
        let mut state = State::default();

        reset(&mut state, 5000);
        state.transcript.push(b"x", |_| {});
        reset(&mut state, 5070);
        reset(&mut state, 6070);

        assert_eq!(
            state.endings,
            [Ending::Restarted, Ending::Restarted, Ending::Restarted]
        );
    }

    #[test]
    fn a_qemu_that_goes_without_a_word_was_killed() {
        let mut state = State::default();

        state.finish();

        assert_eq!(state.endings, [Ending::Killed]);
    }

    #[test]
    fn a_time_has_two_parts() {
        let stamp = json!({"seconds": 2, "microseconds": 500_000});

        assert_eq!(time(&stamp), Duration::from_millis(2500));
    }
}
