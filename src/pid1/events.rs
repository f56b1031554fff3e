//! What happened, as events: signals, ended processes, emptied groups, time.

use heapless::Deque;

use crate::base::exit::Exit;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::pid1::hands::Hands;
use crate::pid1::processes::{self, PLACES, Process};
use crate::pid1::watch::Source;
use crate::policy::event::{Event, SERVICES, ServiceId};
use crate::sys::{clock, reap};

/// Signals that are taken at one wake-up; the rest stay with the kernel. One read
/// brings four.
const SIGNALS: usize = 8;

/// Events that one wake-up may bring: the end of every process, an empty group of
/// every service, signals, and three times what the host says: before its end, and when
/// it speaks at its socket and by its descriptor.
const CAPACITY: usize = PLACES + SERVICES.len() + SIGNALS + 3;

/// Things that are looked at after one wait; the rest are reported by the next.
const READY: usize = 8;

/// Children that are reaped before anything else is looked at again: a storm of
/// orphans does not keep a stop from being heard.
const REAPED_AT_ONCE: usize = 256;

/// What happened and was not handled yet.
#[derive(Default)]
pub struct Events {
    queue: Deque<Event, CAPACITY>,
    /// Whether children that ended may be left from the last turn.
    may_reap: bool,
    /// Whether the last event was a tick.
    has_ticked: bool,
    /// Whether the next event is a tick.
    owes_tick: bool,
}

impl Events {
    /// Puts a signal behind what else is still to be handled, once; whether there
    /// is anything else.
    pub fn put_behind(&mut self, signal: Signal) -> bool {
        let is_it = |event: &Event| matches!(event, Event::Signaled(it) if *it == signal);
        let has_else = self.queue.iter().any(|event| !is_it(event));
        if has_else && !self.queue.iter().any(is_it) {
            // There is room: the signal itself was just taken out.
            let _ = self.queue.push_back(Event::Signaled(signal));
        }
        has_else
    }

    /// Looks for children that ended before the next wait.
    pub fn reap_soon(&mut self) {
        self.may_reap = true;
    }
}

impl Hands {
    /// Waits for the next event: at the latest [`Event::Tick`] at the deadline.
    pub fn next_event(&mut self, deadline: Option<Instant>) -> Event {
        loop {
            let deadline = [deadline, self.status.due(), self.manager.due()]
                .into_iter()
                .flatten()
                .min();
            // A flood of events does not hold back what is due: one tick comes
            // between two of them.
            let is_due = deadline.is_some_and(|at| at <= clock::now());
            let owes_tick = core::mem::take(&mut self.events.owes_tick);
            if owes_tick || is_due && !self.events.has_ticked {
                // What the host has said in time is not too late because nobody has
                // read it yet.
                if !owes_tick && let Some(heard) = self.hear_host() {
                    self.events.owes_tick = true;
                    return heard;
                }
                self.events.has_ticked = true;
                return Event::Tick;
            }
            self.events.has_ticked = false;
            if let Some(event) = self.events.queue.pop_front() {
                return event;
            }
            let until = if self.events.may_reap {
                Some(Instant::BOOT)
            } else {
                deadline
            };
            let mut sources = heapless::Vec::<Source, READY>::new();
            self.watch.wait(until, |source| {
                // What does not fit is reported by the next wait.
                let _ = sources.push(source);
            });
            for source in &sources {
                self.look(*source);
            }
            if self.events.may_reap {
                self.reap();
            }
        }
    }

    /// What the host has said.
    fn hear_host(&mut self) -> Option<Event> {
        let main = self.processes.main(ServiceId::Host).map(|main| main.pid);
        self.hear(main)
    }

    /// A process that was in the table has ended. What the host said before it did is
    /// heard before it.
    fn note_end(&mut self, process: &Process, exit: Exit) {
        if let processes::Part::Main(ServiceId::Host, _) = process.part {
            if let Some(heard) = self.hear(Some(process.pid)) {
                self.push(heard);
            }
            // What it left behind is not ready in its place.
            self.readiness.close(&self.watch);
        }
        if let Some(event) = self.ended(process, exit) {
            self.push(event);
        }
    }

    fn look(&mut self, source: Source) {
        match source {
            Source::Signals => self.read_signals(),
            Source::Process(place) => {
                // A kernel that does not answer is a kernel that does not know.
                let exit = self
                    .processes
                    .at(place)
                    .and_then(|process| reap::ask(&process.pidfd).unwrap_or(Some(Exit::Unknown)));
                if let Some(exit) = exit
                    && let Some(process) = self.processes.take(place)
                {
                    self.note_end(&process, exit);
                }
            }
            Source::Group(place) => {
                if let Some(id) = self.groups.is_empty(place) {
                    self.push(Event::Emptied(id));
                }
            }
            Source::Notices => {
                if let Some(heard) = self.hear_host() {
                    self.push(heard);
                }
            }
        }
    }

    fn read_signals(&mut self) {
        let mut taken = 0;
        loop {
            let queue = &mut self.events.queue;
            if taken + 4 > SIGNALS {
                return;
            }
            let mut has_child = false;
            let has_more = self.watch.read_signals(|received| match received.signal {
                Signal::CHLD => has_child = true,
                signal => {
                    #[cfg(feature = "inject-faults")]
                    inject(signal);
                    taken += 1;
                    let _ = queue.push_back(Event::Signaled(signal));
                }
            });
            self.events.may_reap |= has_child;
            if !has_more {
                return;
            }
        }
    }

    /// Releases children that ended, and tells of those that are ours. Where
    /// children vanish there are none.
    fn reap(&mut self) {
        self.events.may_reap = false;
        for _ in 0..REAPED_AT_ONCE {
            let Some((pid, exit)) = reap::next() else {
                return;
            };
            if let Some(process) = self.processes.take_pid(pid) {
                self.note_end(&process, exit);
            }
        }
        self.events.may_reap = true;
    }

    fn push(&mut self, event: Event) {
        // There is room: see CAPACITY.
        let pushed = self.events.queue.push_back(event);
        debug_assert!(pushed.is_ok(), "more happened than can");
    }
}

/// Commits a fault when a signal that means nothing else asks for it.
#[cfg(feature = "inject-faults")]
fn inject(signal: Signal) {
    match signal {
        Signal::URG => panic!("injected by URG"),
        Signal::WINCH => crate::sys::fault::commit(),
        _ => {}
    }
}
