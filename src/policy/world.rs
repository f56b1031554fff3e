//! A world around the machine in which nothing can be relied on.
//!
//! Processes end late, early, never, or while they are being signalled; they
//! ignore signals, stand still, leave others behind, and hang in the kernel.
//! Mounts fail and hang, starts fail, the child of the last steps hangs or dies
//! at any of them, and the kernel tells of an end late or not at all. Actions are
//! performed as `pid1::hands` performs them, with a clock that jumps to whatever
//! comes next.

mod chance;
mod histories;
mod laws;
mod processes;
mod work;

use core::time::Duration;

use crate::base::exit::Exit;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Action, Actions, Event, Found, Outcome, SERVICES, ServiceId, Task};
use crate::policy::machine::Machine;
use crate::policy::notice::Notice;
use crate::policy::settings::Settings;
use crate::policy::trial::{Mark, Version};
use crate::policy::world::chance::Chance;
use crate::policy::world::laws::Laws;
use crate::policy::world::processes::Slot;

/// The world, and the machine in it.
struct World {
    machine: Machine,
    actions: Actions,
    now: Instant,
    chance: Chance,
    temper: Temper,
    settings: Settings,
    /// What a reload may find.
    configs: Vec<Settings>,
    /// What is going to happen, in no order.
    due: Vec<(Instant, Due)>,
    services: [Slot; SERVICES.len()],
    job: Option<(u32, Task)>,
    /// What is on the disk of the host's trial.
    disk: Option<Mark>,
    /// Whether this world has written it.
    is_own: bool,
    /// What the job writes there, and what it has found.
    writes: Option<Mark>,
    found: Found,
    /// The host's version that is there.
    version: Version,
    leaver: Option<(u32, Ending)>,
    board: Step,
    /// Whether no program can be started.
    is_barren: bool,
    /// Names that were given to lives, jobs and leavers.
    names: u32,
    over: Option<Ending>,
    laws: Laws,
    steps: u32,
}

/// How a world is disposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Temper {
    /// All goes well.
    Kind,
    /// Some things go wrong.
    Mixed,
    /// Most things go wrong.
    Hostile,
}

/// What is going to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    /// A signal is sent to PID 1.
    Signal(Signal),
    /// PID 1 is woken for nothing.
    Wake,
    /// The main process of this life ends.
    Death(ServiceId, u32, Exit),
    /// The end of a main process is told.
    Told(ServiceId, Exit),
    /// The main process of this life of the host says something, and again after this
    /// many milliseconds.
    Says(u32, Notice, Option<u64>),
    /// A process that was left behind ends.
    Gone(ServiceId, u32),
    /// The end of the last process is told.
    Emptied(ServiceId),
    /// A job ends.
    Done(u32, Outcome),
    /// A leaver begins a step.
    Step(u32, Step),
    /// A leaver ends before its work is done.
    Crash(u32),
}

impl World {
    fn new(seed: u64, settings: Settings, configs: Vec<Settings>) -> Self {
        let mut chance = Chance::new(seed);
        let temper = chance.of(&[Temper::Kind, Temper::Mixed, Temper::Hostile]);
        let is_barren = chance.one_in(16);
        Self {
            machine: Machine::new(settings),
            actions: Actions::new(),
            now: Instant::BOOT.after(Duration::from_secs(2)),
            chance,
            temper,
            settings,
            configs,
            due: Vec::new(),
            services: Default::default(),
            job: None,
            disk: None,
            is_own: false,
            writes: None,
            found: Found::default(),
            version: Version(1),
            leaver: None,
            board: Step::Kill,
            is_barren,
            names: 0,
            over: None,
            laws: Laws::new(seed),
            steps: 0,
        }
    }

    /// Goes on with what another world has left.
    fn go_on(&mut self, before: Option<Self>) {
        if let Some(before) = before {
            self.disk = before.disk;
            self.version = before.version;
        }
    }

    /// Boots, and lives up to a moment; the number of steps.
    fn cut(&mut self, most: u32) -> u32 {
        let steps = self.chance.of(&[2, 5, 20, most]);
        self.handle(Event::Booted);
        while self.over.is_none() && self.steps < steps && self.step() {}
        self.steps
    }

    /// Boots, lives through what is due, and is asked to power off when nothing is
    /// left or enough has happened. Returns the number of steps.
    fn live(&mut self, most: u32) -> u32 {
        self.handle(Event::Booted);
        while self.over.is_none() && self.steps < most {
            if !self.step() {
                self.laws.check_rest(&self.machine, &self.settings);
                break;
            }
        }
        if self.over.is_none() {
            self.due(0, Due::Signal(Signal::PWR));
        }
        while self.over.is_none() {
            assert!(
                self.steps < most + 2_000 && self.step(),
                "{}",
                self.laws.broken("the ending never comes")
            );
        }
        self.laws.check_over(self.over);
        self.steps
    }

    /// Lets the next thing happen; false when there is none.
    fn step(&mut self) -> bool {
        self.steps += 1;
        let next = (0..self.due.len()).min_by_key(|index| self.due[*index].0);
        let deadline = self.machine.deadline();
        let at = match (next.map(|index| self.due[index].0), deadline) {
            (None, None) => return false,
            (Some(due), Some(deadline)) if due == deadline => {
                if self.chance.one_in(2) {
                    self.tick(deadline);
                    return true;
                }
                due
            }
            (Some(due), Some(deadline)) if due < deadline => due,
            (Some(due), None) => due,
            (_, Some(deadline)) => {
                self.tick(deadline);
                return true;
            }
        };
        let (_, due) = self.due.remove(next.unwrap());
        self.go_to(at);
        self.happen(due);
        true
    }

    fn tick(&mut self, deadline: Instant) {
        self.go_to(deadline);
        // The processor was busy elsewhere.
        if self.goes_wrong(8) {
            let late = Duration::from_millis(self.chance.of(&[1, 40, 700]));
            self.now = self.now.after(late);
            self.laws.comes_late(late);
        }
        let before = self.machine;
        self.handle(Event::Tick);
        let has_progress =
            self.machine != before || self.machine.deadline().is_none_or(|at| at > self.now);
        assert!(
            has_progress,
            "{}",
            self.laws.broken("a tick changes nothing")
        );
    }

    fn go_to(&mut self, at: Instant) {
        self.now = self.now.max(at);
    }

    /// Hands an event to the machine and does what it asks for, as PID 1 does.
    fn handle(&mut self, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            let before = self.machine.stage();
            self.laws
                .hears(self.now, event, &self.machine, &self.settings);
            self.machine.handle(self.now, event, &mut self.actions);
            self.laws.has_heard(before, &self.machine);
            assert_eq!(self.actions.lost(), 0, "{}", self.laws.broken("lost"));
            if self.over.is_none()
                && let Some(action) = self.actions.pop()
            {
                events.extend(self.do_all(action));
            }
        }
        self.laws.check(&self.machine, &self.services, self.disk);
    }

    /// Does actions up to the first that has an echo.
    fn do_all(&mut self, first: Action) -> Option<Event> {
        let mut next = Some(first);
        while let Some(action) = next {
            self.laws
                .sees(self.now, action, &self.machine, &self.services, self.disk);
            let echo = self.perform(action);
            if echo.is_some() || self.over.is_some() {
                return echo;
            }
            next = self.actions.pop();
        }
        None
    }

    /// Whether something goes wrong that does so once in `n` times.
    fn goes_wrong(&mut self, n: u64) -> bool {
        match self.temper {
            Temper::Kind => false,
            Temper::Mixed => self.chance.one_in(n),
            Temper::Hostile => self.chance.one_in(n) || self.chance.one_in(n),
        }
    }

    fn due(&mut self, millis: u64, due: Due) {
        let at = self.now.after(Duration::from_millis(millis));
        self.due.push((at, due));
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn slot(&mut self, id: ServiceId) -> &mut Slot {
        &mut self.services[index(id)]
    }

    fn perform(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Start(id) => self.start(id),
            Action::Signal(id, signal) => self.signal(id, signal),
            Action::Sweep(id, signal) => self.sweep(id, signal),
            Action::Kill(id) => {
                self.kill(id);
                None
            }
            Action::Do(task) => self.work(task),
            Action::Interrupt(task) => {
                self.interrupt(task);
                None
            }
            Action::Abandon(task) => self.abandon(task),
            Action::Leave(ending, step) => self.leave(ending, step),
            Action::Look => Some(Event::LeavingAt(self.board)),
            Action::Exit(ending, _) => {
                self.over = Some(ending);
                None
            }
            Action::Reload => self.reload(),
            // The next life knows only what was handed over; the rest of the world
            // goes on.
            Action::Reexecute(host) => {
                if !self.goes_wrong(4) {
                    let mark = self.machine.trial().map(|trial| *trial.mark());
                    self.machine = Machine::resume(self.settings, host, mark);
                    self.laws.resumes(self.now);
                }
                None
            }
            Action::Record(..) | Action::SetVerbosity(_) | Action::Report(_) => None,
        }
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Signal(signal) => self.handle(Event::Signaled(signal)),
            Due::Wake => self.handle(Event::Tick),
            Due::Death(id, name, exit) => self.die(id, name, exit),
            Due::Told(id, exit) => {
                self.slot(id).main = None;
                self.handle(Event::Exited(id, exit));
            }
            Due::Says(name, notice, again) => self.say(name, notice, again),
            Due::Gone(id, name) => {
                self.slot(id).leftovers.retain(|left| left.name != name);
                self.look_if_empty(id);
            }
            Due::Emptied(id) => {
                let slot = self.slot(id);
                slot.is_lied_about |= !slot.leftovers.is_empty();
                self.handle(Event::Emptied(id));
            }
            Due::Done(name, outcome) => {
                if let Some((_, task)) = self.job.take_if(|(job, _)| *job == name) {
                    let answer = self.answer(task, outcome);
                    self.handle(answer);
                }
            }
            Due::Step(name, step) => {
                if let Some((_, ending)) = self.leaver.filter(|(leaver, _)| *leaver == name) {
                    self.take_step(name, ending, step);
                }
            }
            Due::Crash(name) => {
                if self.leaver.take_if(|(leaver, _)| *leaver == name).is_some() {
                    self.handle(Event::LeaverEnded(self.board));
                }
            }
        }
    }
}

const fn index(id: ServiceId) -> usize {
    match id {
        ServiceId::Host => 0,
        ServiceId::Rescue => 1,
    }
}
