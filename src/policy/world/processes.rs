//! Processes that end when they like, if they do.

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::{Exit, Failure, Step};
use crate::base::signal::Signal;
use crate::policy::event::{Event, ServiceId};
use crate::policy::notice::Notice;
use crate::policy::samples::{NO_PROCESS, by};
use crate::policy::world::{Due, World};

/// A service's processes.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) main: Option<Main>,
    pub(super) leftovers: Vec<Leftover>,
    pub(super) is_watched: bool,
    /// Whether it was said to be empty, and was not.
    pub(super) is_lied_about: bool,
}

/// A main process, until its end is told.
pub(super) struct Main {
    pub(super) name: u32,
    pub(super) is_alive: bool,
    pub(super) is_stopped: bool,
    pub(super) was_killed: bool,
    pub(super) pending: Option<Signal>,
    pub(super) manner: Manner,
}

/// A process that was left behind.
pub(super) struct Leftover {
    pub(super) name: u32,
    pub(super) manner: Manner,
    pub(super) was_killed: bool,
}

/// How long a process takes to end; none for ever.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) when_asked: Option<u64>,
    pub(super) when_killed: Option<u64>,
}

impl World {
    pub(super) fn start(&mut self, id: ServiceId) -> Option<Event> {
        if self.is_barren || self.goes_wrong(8) {
            return Some(Event::Unstarted(id, NO_PROCESS));
        }
        let name = self.name();
        let manner = self.manner();
        let is_stopped = self.goes_wrong(8);
        self.slot(id).main = Some(Main {
            name,
            is_alive: true,
            is_stopped,
            was_killed: false,
            pending: None,
            manner,
        });
        if id == ServiceId::Host {
            self.speak(name);
        }
        let lives = [
            None,
            None,
            Some(70_000),
            Some(1),
            Some(5),
            Some(800),
            Some(20_000),
        ];
        if let Some(millis) = self.chance.of(&lives) {
            let exit = self.exit();
            self.due(millis, Due::Death(id, name, exit));
        }
        None
    }

    /// What a life of the host is going to say of itself.
    fn speak(&mut self, name: u32) {
        let notice = Notice::default();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        if !self.goes_wrong(4) {
            let millis = self.chance.of(&[0, 1, 700, 60_000, 89_999, 90_000, 90_001]);
            let ready = Notice {
                is_ready: true,
                ..notice
            };
            self.due(millis, Due::Says(name, ready, None));
        }
        if !self.goes_wrong(4) {
            let alive = Notice {
                is_alive: true,
                ..notice
            };
            let often = self.chance.of(&[5_000, 19_999, 20_000, 20_001]);
            self.due(often, Due::Says(name, alive, Some(often)));
        }
        if self.goes_wrong(3) {
            let extension = self.chance.of(&[seconds(5), seconds(200)]);
            let interval = self.chance.of(&[seconds(0), seconds(3)]);
            let is_ready = self.chance.one_in(2);
            let said = self.chance.of(&[
                Notice {
                    extension,
                    ..notice
                },
                Notice { interval, ..notice },
                Notice {
                    is_lost: true,
                    is_ready,
                    ..notice
                },
                Notice {
                    is_stopping: true,
                    ..notice
                },
            ]);
            let millis = self.chance.of(&[0, 2_000, 80_000]);
            self.due(millis, Due::Says(name, said, None));
        }
    }

    pub(super) fn say(&mut self, name: u32, notice: Notice, again: Option<u64>) {
        let main = self.slot(ServiceId::Host).main.as_ref();
        let is_there = main.is_some_and(|main| main.name == name && main.is_alive);
        if is_there {
            if let Some(millis) = again {
                self.due(millis, Due::Says(name, notice, again));
            }
            self.handle(Event::Notified(notice));
        }
    }

    fn exit(&mut self) -> Exit {
        self.chance.of(&[
            Exit::Code(0),
            Exit::Code(1),
            Exit::Code(143),
            by(Signal::TERM),
            Exit::Signal {
                signal: Signal::SEGV,
                dumped: true,
            },
            Exit::Unstarted(Failure {
                step: Step::Exec,
                errno: Errno::ENOENT,
            }),
            Exit::Unknown,
        ])
    }

    fn manner(&mut self) -> Manner {
        let when_asked = if self.goes_wrong(4) {
            self.chance
                .of(&[None, Some(9_999), Some(10_000), Some(15_000)])
        } else {
            self.chance.of(&[Some(0), Some(3), Some(900), Some(2_500)])
        };
        let when_killed = if self.goes_wrong(6) {
            self.chance
                .of(&[None, Some(4_000), Some(5_000), Some(25_000)])
        } else {
            self.chance.of(&[Some(0), Some(2)])
        };
        Manner {
            when_asked,
            when_killed,
        }
    }

    pub(super) fn signal(&mut self, id: ServiceId, signal: Signal) -> Option<Event> {
        let main = self.slot(id).main.as_mut().filter(|main| main.is_alive)?;
        let signal = match signal {
            Signal::CONT => {
                main.is_stopped = false;
                main.pending.take()?
            }
            _ if main.is_stopped => {
                main.pending = Some(signal);
                return None;
            }
            _ => signal,
        };
        let (name, when_asked) = (main.name, main.manner.when_asked);
        if let Some(millis) = when_asked {
            let exit = self
                .chance
                .of(&[Exit::Code(0), by(signal), Exit::Code(143)]);
            self.due(millis, Due::Death(id, name, exit));
        }
        None
    }

    pub(super) fn kill(&mut self, id: ServiceId) {
        let slot = self.slot(id);
        let mut due = Vec::new();
        if let Some(main) = slot.main.as_mut().filter(|main| main.is_alive) {
            main.was_killed = true;
            if let Some(millis) = main.manner.when_killed {
                due.push((millis, Due::Death(id, main.name, by(Signal::KILL))));
            }
        }
        for left in &mut slot.leftovers {
            left.was_killed = true;
            if let Some(millis) = left.manner.when_killed {
                due.push((millis, Due::Gone(id, left.name)));
            }
        }
        for (millis, what) in due {
            self.due(millis, what);
        }
    }

    pub(super) fn die(&mut self, id: ServiceId, name: u32, exit: Exit) {
        let Some(main) = &mut self.slot(id).main else {
            return;
        };
        if main.name != name || !main.is_alive {
            return;
        }
        main.is_alive = false;
        // One that was killed makes no more processes, even if it takes its time.
        let most = if main.was_killed { 0 } else { 2 };
        for _ in 0..self.chance.of(&[0, 0, 1, 2]).min(most) {
            self.leave_behind(id);
        }
        let late = if self.goes_wrong(4) { 30 } else { 0 };
        self.due(late, Due::Told(id, exit));
        self.look_if_empty(id);
    }

    fn leave_behind(&mut self, id: ServiceId) {
        let (name, manner) = (self.name(), self.manner());
        self.slot(id).leftovers.push(Leftover {
            name,
            manner,
            was_killed: false,
        });
    }

    pub(super) fn sweep(&mut self, id: ServiceId, signal: Signal) -> Option<Event> {
        if self.slot(id).leftovers.is_empty() {
            return Some(Event::Emptied(id));
        }
        if signal == Signal::KILL {
            self.kill(id);
        } else {
            let asked: Vec<_> = self
                .slot(id)
                .leftovers
                .iter()
                .filter_map(|left| Some((left.name, left.manner.when_asked?)))
                .collect();
            for (name, millis) in asked {
                self.due(millis, Due::Gone(id, name));
            }
            // One that was asked to end makes another.
            if self.goes_wrong(6) {
                self.leave_behind(id);
            }
        }
        // Without control groups nobody knows what is left.
        if self.goes_wrong(12) {
            self.slot(id).is_lied_about = true;
            return Some(Event::Emptied(id));
        }
        self.slot(id).is_watched = true;
        None
    }

    pub(super) fn look_if_empty(&mut self, id: ServiceId) {
        let slot = self.slot(id);
        let is_empty =
            slot.leftovers.is_empty() && !slot.main.as_ref().is_some_and(|main| main.is_alive);
        if is_empty && slot.is_watched {
            slot.is_watched = false;
            let late = if self.goes_wrong(4) {
                self.chance.of(&[None, Some(20), Some(4_999), Some(12_000)])
            } else {
                Some(0)
            };
            if let Some(millis) = late {
                self.due(millis, Due::Emptied(id));
            }
        }
    }
}
