//! What holds in every world, whatever happens in it.

mod kept;
mod watch;

use core::fmt::Debug;
use core::time::Duration;

use crate::base::exit::Exit;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Action, Cause, Event, Outcome, Report, SERVICES, ServiceId, Task};
use crate::policy::machine::{Aim, Machine, Stage};
use crate::policy::request::{self, Haste, Request};
use crate::policy::service::State;
use crate::policy::settings::{Role, Settings};
use crate::policy::trial::{Mark, OnHalt, WayBack};
use crate::policy::vigil;
use crate::policy::world::index;
use crate::policy::world::laws::watch::Watch;
use crate::policy::world::processes::Slot;

/// What the machine gives a child that keeps something while everything stops, and the
/// kernel to let go of it.
const KEEPING: Duration = Duration::from_secs(6);

/// How long the kernel may take to end what was killed, as the rules have it.
const KILL_BOUND: Duration = Duration::from_secs(5);

/// How long a rescue shell may take to end.
const SHELL_GRACE: Duration = Duration::from_secs(1);

/// Events at one moment: more than this is a machine that goes round in circles.
const MOST_AT_ONCE: u32 = 60;

/// Who watches over the laws.
pub(super) struct Laws {
    seed: u64,
    history: Vec<String>,
    at: Instant,
    at_once: u32,
    grace: Duration,
    vigil: vigil::Rules,
    shutdown: Duration,
    /// What a command has to take the host back, if one does.
    take_back: Duration,
    /// Ends that were told and are to be recorded.
    owed: Option<(ServiceId, Exit, Cause)>,
    lives: [Life; SERVICES.len()],
    task: Option<Task>,
    /// The latest moment at which every service is to be gone.
    gone_by: Option<Instant>,
    /// The latest moment at which the kernel is to be asked.
    asked_by: Option<Instant>,
    was_kernel_asked: bool,
    /// Whether the last steps have begun.
    has_left: bool,
    announced: Option<Ending>,
    must_be_off: bool,
    is_hurried: bool,
    /// Whether the last signal left no time.
    is_at_once: bool,
    /// What the exit code of a container is to be.
    code: u8,
    /// What a container can't be without.
    required: u32,
}

/// What was done to one life of a service.
#[derive(Clone, Copy, Default)]
struct Life {
    has_process: bool,
    was_asked: bool,
    was_killed: bool,
    /// Before this moment it is not killed, unless somebody hurries.
    spared_until: Instant,
    watch: Watch,
    /// What it did not do, when that was said.
    lapse: Option<Cause>,
    /// Whether it was told to end for another life, and not because all stops.
    is_restarting: bool,
}

impl Life {
    /// Who ended it. What was killed without being asked before ended as somebody
    /// wished, unless even that took too long.
    const fn cause(self, state: State) -> Cause {
        match (self.was_asked, self.was_killed) {
            (false, false) => Cause::Itself,
            (true, true) => Cause::Timeout,
            (false, true) if matches!(state, State::Stuck) => Cause::Timeout,
            (true, false) | (false, true) => Cause::Stop,
        }
    }
}

impl Laws {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            history: Vec::new(),
            at: Instant::BOOT,
            at_once: 0,
            grace: Duration::ZERO,
            vigil: vigil::Rules::NONE,
            shutdown: Duration::ZERO,
            take_back: Duration::ZERO,
            owed: None,
            lives: Default::default(),
            task: None,
            gone_by: None,
            asked_by: None,
            was_kernel_asked: false,
            has_left: false,
            announced: None,
            must_be_off: false,
            is_hurried: false,
            is_at_once: false,
            code: 0,
            required: 0,
        }
    }

    /// What a failed test says.
    pub(super) fn broken(&self, law: &str) -> String {
        let start = self.history.len().saturating_sub(60);
        let history = self.history[start..].join("\n");
        format!("{law}\nseed {:#x}, the last of it:\n{history}", self.seed)
    }

    #[track_caller]
    fn hold(&self, law: &str, holds: bool) {
        assert!(holds, "{}", self.broken(law));
    }

    fn note(&mut self, now: Instant, mark: &str, what: impl Debug) {
        let millis = now.since(Instant::BOOT).as_millis();
        self.history.push(format!("{millis:>9} {mark} {what:?}"));
    }

    /// Before the machine hears of an event.
    pub(super) fn hears(
        &mut self,
        now: Instant,
        event: Event,
        machine: &Machine,
        settings: &Settings,
    ) {
        self.note(now, "->", event);
        self.at_once = if now == self.at { self.at_once + 1 } else { 0 };
        self.at = now;
        self.hold("time goes on", self.at_once < MOST_AT_ONCE);
        if let Some(rules) = settings.host {
            self.grace = rules.stop_grace;
            self.vigil = rules.vigil;
        }
        self.shutdown = settings.shutdown.unmount + settings.shutdown.sync;
        if let Some(probation) = settings.trial
            && probation.rules.way_back == WayBack::Command
        {
            self.take_back = self.take_back.max(probation.take_back);
        }
        if settings.facts.role == Role::Container {
            self.required = settings.required;
        }
        match event {
            Event::Exited(id, exit) => self.ended(id, exit, machine),
            Event::Unstarted(id, failure) => self.ended(id, Exit::Unstarted(failure), machine),
            Event::Signaled(signal) => self.hears_signal(signal, machine.stage(), settings),
            Event::Notified(notice) => {
                if let State::Up { .. } = machine.host().state() {
                    self.lives[index(ServiceId::Host)].watch.hears(now, notice);
                }
            }
            Event::Attempted(..) => self.task = None,
            Event::Done(task, outcome) => {
                self.task = None;
                if outcome != Outcome::Good {
                    self.fails(task, machine.stage());
                }
            }
            Event::Tick => {
                if let Stage::Preparing { task, until, .. } = machine.stage()
                    && until <= now
                {
                    self.fails(task, machine.stage());
                }
                let rules = settings.trial.map(|probation| probation.rules);
                if let Stage::Halted { until, .. } = machine.stage()
                    && until.is_some_and(|until| until <= now)
                    && rules.is_some_and(|rules| rules.on_halt == OnHalt::PowerOff)
                {
                    self.code = 253;
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, id: ServiceId, exit: Exit, machine: &Machine) {
        self.hold("what ended is recorded", self.owed.is_none());
        let life = &mut self.lives[index(id)];
        life.has_process = false;
        let is_stopping = matches!(machine.stage(), Stage::Stopping { .. });
        let is_kill = exit.shell_code() == 137;
        if id == ServiceId::Host && life.was_killed && is_kill && is_stopping {
            self.code = 137;
        }
        if let State::Stuck = machine.service_of(id).state() {
            // What was given up is waited for once more.
            let swept_by = self.at.after(KILL_BOUND);
            self.gone_by = self.gone_by.map(|at| at.max(swept_by));
        }
        let cause = match (machine.service_of(id).state(), life.lapse) {
            (State::Failing { .. }, Some(lapse)) => lapse,
            (state, _) => life.cause(state),
        };
        self.owed = Some((id, exit, cause));
    }

    fn hears_signal(&mut self, signal: Signal, stage: Stage, settings: &Settings) {
        let request = request::of_signal(signal, &settings.signals);
        self.is_at_once = matches!(
            request,
            Some(Request::End(_, Haste::AtOnce) | Request::Again(Haste::AtOnce))
        );
        if request == Some(Request::Restart) {
            self.shortens();
            self.lives[index(ServiceId::Host)].is_restarting = true;
        }
        let wants_off = matches!(request, Some(Request::End(Ending::PowerOff, _)));
        let is_too_late = matches!(stage, Stage::Leaving { step, .. } if step >= Step::Reboot);
        self.must_be_off |= wants_off && !is_too_late;
    }

    /// Part of the boot could not be done. What it was of a config that is gone is
    /// no matter.
    fn fails(&mut self, task: Task, stage: Stage) {
        let is_awaited = matches!(
            stage,
            Stage::Preparing { task: awaited, is_current: true, .. } if awaited == task
        );
        if let Task::Mount(number) = task
            && is_awaited
            && self.required >> number & 1 == 1
        {
            self.code = 254;
        }
    }

    /// After the machine has heard of an event.
    pub(super) fn has_heard(&mut self, before: Stage, machine: &Machine) {
        if let Stage::Stopping {
            aim: Aim::Again, ..
        } = before
            && !matches!(machine.stage(), Stage::Stopping { .. })
        {
            self.gone_by = None;
            self.code = 0;
        }
    }

    /// Before an action is performed.
    pub(super) fn sees(
        &mut self,
        now: Instant,
        action: Action,
        machine: &Machine,
        services: &[Slot; SERVICES.len()],
        disk: Option<Mark>,
    ) {
        self.note(now, "<-", action);
        self.hold_kept(action, machine, disk);
        match action {
            Action::Start(id) => {
                self.hold_may_begin(machine);
                let is_alone = services[index(id)].main.is_none();
                self.hold("one main process a service", is_alone);
                self.hold_cleared(&services[index(id)]);
                self.is_hurried = false;
                let watch = match id {
                    ServiceId::Host => Watch::begin(self.vigil, now),
                    ServiceId::Rescue => Watch::default(),
                };
                self.lives[index(id)] = Life {
                    has_process: true,
                    watch,
                    ..Life::default()
                };
            }
            Action::Do(task) => {
                if task == Task::Remember {
                    // What is kept before the end has a time of its own.
                    self.gone_by = self.gone_by.map(|at| at.max(now.after(KEEPING)));
                } else {
                    self.hold_may_begin(machine);
                }
                self.hold("one job at a time", self.task.is_none());
                self.task = Some(task);
            }
            Action::Interrupt(task) => {
                self.hold("who is interrupted works", self.task == Some(task));
            }
            Action::Abandon(task) => {
                self.hold("who is abandoned works", self.task == Some(task));
                // Work that keeps something is answered for.
                self.task = self.task.filter(|task| task.is_keeping());
            }
            Action::Signal(id, signal) if signal != Signal::CONT => {
                let grace = match id {
                    ServiceId::Host => self.grace,
                    ServiceId::Rescue => SHELL_GRACE,
                };
                let life = &mut self.lives[index(id)];
                life.was_asked = true;
                life.spared_until = now.after(grace);
            }
            Action::Kill(id) => {
                let life = self.lives[index(id)];
                let main = services[index(id)].main.as_ref();
                let is_deaf =
                    life.was_asked && main.is_some_and(|main| main.is_alive && main.is_stopped);
                self.hold("who stands still is woken to end", !is_deaf);
                let in_time = !life.was_asked
                    || self.is_hurried
                    || (life.lapse.is_some() || life.is_restarting) && self.is_at_once
                    || now >= life.spared_until;
                self.hold("nobody is killed before their time", in_time);
                let life = &mut self.lives[index(id)];
                life.was_killed |= life.has_process;
            }
            Action::Record(id, exit, cause) => {
                let is_true = self.owed.take() == Some((id, exit, cause));
                self.hold("a record is true, and the only one", is_true);
            }
            Action::Report(Report::Unready(id)) => {
                let life = &mut self.lives[index(id)];
                life.lapse = Some(Cause::Unready);
                let is_late = life.watch.ready_by.is_some_and(|by| by <= now);
                self.hold("nobody is unready before their time", is_late);
            }
            Action::Report(Report::Silent(id)) => {
                let life = &mut self.lives[index(id)];
                life.lapse = Some(Cause::Watchdog);
                let watch = life.watch;
                let is_late = watch.alive_by.is_some_and(|by| by <= now);
                self.hold("nobody is missed before their time", is_late);
            }
            Action::Report(Report::Lost(id)) => {
                let life = &mut self.lives[index(id)];
                life.lapse = Some(Cause::Watchdog);
                let is_lost = life.watch.is_lost;
                self.hold("nobody is lost who does not say so", is_lost);
            }
            // With nothing to stop it is over already.
            Action::Report(Report::Again) => {
                if let Stage::Stopping { .. } = machine.stage() {
                    self.stops(now);
                }
            }
            Action::Report(Report::Hurried) => {
                self.is_hurried = true;
                if let Stage::Stopping { asked, .. } = machine.stage() {
                    self.is_at_once |= asked >= 3;
                    self.stops(now);
                }
            }
            Action::Report(Report::Ending(ending)) => {
                self.announced = Some(ending);
                self.stops(now);
                // Another ending has the time of the last steps once more.
                self.asked_by = None;
            }
            Action::Leave(ending, _) => {
                if self.gone_by.is_some() {
                    services.iter().for_each(|slot| self.hold_cleared(slot));
                }
                self.has_left = true;
                self.leaves(now, ending);
                let asked_by = now.after(KILL_BOUND).after(self.shutdown);
                self.asked_by.get_or_insert(asked_by);
            }
            Action::Exit(ending, code) => {
                self.leaves(now, ending);
                let killed = services[index(ServiceId::Host)].main.is_some();
                let expected = match ending {
                    Ending::Reboot | Ending::Kexec => 133,
                    Ending::Halt | Ending::PowerOff if killed => 137,
                    Ending::Halt | Ending::PowerOff => self.code,
                };
                self.hold("the exit code is true", code == expected);
            }
            _ => {}
        }
    }

    fn hold_cleared(&self, slot: &Slot) {
        let was_tried = slot.leftovers.iter().all(|left| left.was_killed);
        let law = "what is left behind was killed";
        self.hold(law, was_tried || slot.is_lied_about);
    }

    fn hold_may_begin(&self, machine: &Machine) {
        let is_stopping = matches!(
            machine.stage(),
            Stage::Stopping { .. } | Stage::Leaving { .. }
        );
        self.hold("nothing begins while all stops", !is_stopping);
        self.hold("nothing begins after the ending", self.announced.is_none());
    }

    /// Whoever was told to end by itself has no longer than who is told now, by the
    /// config that is in force now.
    fn shortens(&mut self) {
        let host = &mut self.lives[index(ServiceId::Host)];
        host.spared_until = host.spared_until.min(self.at.after(self.grace));
    }

    fn stops(&mut self, now: Instant) {
        self.shortens();
        let at_once = now.after(KILL_BOUND);
        let orderly = at_once.after(self.grace.max(SHELL_GRACE));
        let gone_by = self.gone_by.get_or_insert(orderly);
        if self.is_at_once {
            *gone_by = at_once.min(*gone_by);
        }
        let under_way = match self.task {
            Some(Task::TakeBack) if !self.is_at_once => KEEPING.max(self.take_back),
            Some(_) => KEEPING,
            None => return,
        };
        *gone_by = (*gone_by).max(now.after(under_way));
    }

    fn leaves(&mut self, now: Instant, ending: Ending) {
        let is_announced = self.announced == Some(ending);
        self.hold("the ending is the one that was announced", is_announced);
        let is_kept = !self.must_be_off || ending == Ending::PowerOff;
        self.hold("a power-off stays a power-off", is_kept);
        if let Some(gone_by) = self.gone_by.take() {
            self.hold("services are gone in time", now <= gone_by);
        }
    }

    /// The next life of host-init goes on with the host.
    pub(super) fn resumes(&mut self, now: Instant) {
        self.lives[index(ServiceId::Host)].watch.is_heard(now);
    }

    /// A leaver begins a step.
    pub(super) fn begins(&mut self, now: Instant, step: Step) {
        self.note(now, "  ", step);
        if step >= Step::Reboot && !self.was_kernel_asked {
            let in_time = self.asked_by.is_some_and(|at| now <= at);
            self.hold("the kernel is asked in time", in_time);
            self.was_kernel_asked = true;
        }
    }

    /// The processor comes late to a deadline; the machine can't help that.
    pub(super) fn comes_late(&mut self, late: Duration) {
        for bound in [&mut self.gone_by, &mut self.asked_by] {
            *bound = bound.map(|at| at.after(late));
        }
    }

    /// After everything was done that an event leads to.
    pub(super) fn check(
        &self,
        machine: &Machine,
        services: &[Slot; SERVICES.len()],
        disk: Option<Mark>,
    ) {
        self.hold_known(machine, disk);
        self.hold("what ended is recorded", self.owed.is_none());
        for id in SERVICES {
            let believed = match machine.service_of(id).state() {
                State::Down | State::Asking | State::Sweeping { .. } | State::Waiting { .. } => {
                    false
                }
                State::Up { .. }
                | State::Failing { .. }
                | State::Stopping { .. }
                | State::Killed { .. }
                | State::Stuck => true,
            };
            let is_there = services[index(id)].main.is_some();
            self.hold("the machine knows what runs", believed == is_there);
        }
        if let State::Up { .. } = machine.host().state() {
            let Watch {
                ready_by,
                alive_by,
                is_lost,
                ..
            } = self.lives[index(ServiceId::Host)].watch;
            let is_late = |by: Option<Instant>| by.is_some_and(|by| by < self.at);
            self.hold(
                "who is not ready in time does not live on",
                !is_late(ready_by),
            );
            self.hold("who is not heard of does not live on", !is_late(alive_by));
            self.hold("who is lost does not live on", !is_lost);
            self.hold(
                "the machine knows who is ready",
                machine.host().ready_since().is_some() == ready_by.is_none(),
            );
        }
        let is_idle = matches!(machine.stage(), Stage::Running)
            // A trial wakes once more, when the host is healthy.
            && machine.trial().is_none()
            && self.task.is_none()
            && matches!(machine.host().state(), State::Up { vigil, .. } if vigil.deadline().is_none())
            // What is left of a shell that could not be killed is still swept.
            && machine.service_of(ServiceId::Rescue).is_gone();
        if is_idle {
            self.hold("an idle machine wakes nobody", machine.deadline().is_none());
        }
        let is_preparing = matches!(machine.stage(), Stage::Preparing { .. });
        self.hold(
            "a boot waits for its task",
            !is_preparing || self.task.is_some(),
        );
        let is_boots = matches!(self.task, Some(Task::Mount(_) | Task::Directories));
        // An orderly stop lets it be done.
        let is_stopping = matches!(machine.stage(), Stage::Stopping { .. });
        self.hold(
            "a task is waited for",
            is_preparing || is_stopping || !is_boots,
        );
    }

    /// When nothing is going to happen any more.
    pub(super) fn check_rest(&self, machine: &Machine, settings: &Settings) {
        let is_held = |id| {
            matches!(
                machine.service_of(id).state(),
                State::Up { .. } | State::Stuck
            )
        };
        let may_rest = match machine.stage() {
            Stage::Running => {
                is_held(ServiceId::Host)
                    || settings.host.is_none() && settings.facts.role == Role::Container
            }
            Stage::Rescue { .. } => is_held(ServiceId::Rescue),
            Stage::Hopeless { until } | Stage::Halted { until, .. } => until.is_none(),
            Stage::Booting
            | Stage::Preparing { .. }
            | Stage::Stopping { .. }
            | Stage::Leaving { .. } => false,
        };
        self.hold("what rests has a reason", may_rest);
    }

    /// When the machine is off.
    pub(super) fn check_over(&self, ending: Option<Ending>) {
        self.hold("it ends as announced", ending == self.announced);
        let is_kept = !self.must_be_off || ending == Some(Ending::PowerOff);
        self.hold("a power-off ends as one", is_kept);
    }
}
