//! Turns the policy's actions into system calls.
//!
//! What an action leads to at once is its echo: an event that the caller hands
//! to the policy before anything else. What it leads to later comes from
//! [`events`](super::events).

use core::time::Duration;

use crate::base::errno::Errno;
use crate::base::exit::{Exit, Failure, Step};
use crate::base::level::Level;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::format::{self, handover::Handover};
use crate::pid1::config::Source;
use crate::pid1::events::Events;
use crate::pid1::groups::{Groups, Swept};
use crate::pid1::keeper::Keeper;
use crate::pid1::log::{self, Log};
use crate::pid1::notices::Notices;
use crate::pid1::processes::{Part, Process, Processes};
use crate::pid1::readiness::{Readiness, Said};
use crate::pid1::start::{Adopted, HANDOVER_BYTES};
use crate::pid1::status::Status;
use crate::pid1::upward::Manager;
use crate::pid1::watch::Watch;
use crate::pid1::{flags, leave, notices, program, work};
use crate::policy::config::{Host, Ready};
use crate::policy::ending::{self, Ending};
use crate::policy::event::{Action, Event, Outcome, Place, ServiceId, Task};
use crate::policy::machine::Machine;
use crate::policy::request::{self, Verbosity};
use crate::policy::service::Saved;
use crate::policy::settings::{Facts, Settings};
use crate::policy::trial::Mark;
use crate::sys::arguments::Arguments;
use crate::sys::power::{self, Command};
use crate::sys::spawn::{Program, Spawner, Started};
use crate::sys::task::{self, Board, Forked};
use crate::sys::{Fd, Result, clock, handover, kill, kmsg};

/// Everything PID 1 holds.
pub struct Hands {
    /// Where messages go.
    pub log: Log,
    /// The wait point.
    pub watch: Watch,
    /// What happened and was not handled yet.
    pub events: Events,
    /// Every process that was started.
    pub processes: Processes,
    /// Every service's group.
    pub groups: Groups,
    /// Starts programs.
    pub spawner: Spawner,
    /// Where the child that takes the last steps shows its progress.
    pub board: &'static Board,
    /// What others are told.
    pub status: Status,
    /// Whoever runs the container.
    pub manager: Manager,
    /// The config in force.
    pub config: Source,
    /// What is known of the machine.
    pub facts: Facts,
    /// What PID 1 was started with.
    pub arguments: Arguments,
    /// The soft limit of open files that services get.
    pub open_files: Option<u64>,
    /// The host of the life before, until it was taken over.
    pub adopted: Option<Adopted>,
    /// Whether there is still to be done what the host need not wait for.
    pub has_aside: bool,
    /// What is kept of the host over power cuts.
    pub keeper: Keeper,
    /// What the host says of itself.
    pub notices: Notices,
    /// Where it says that it is ready, when it has a descriptor for that.
    pub readiness: Readiness,
}

impl Hands {
    /// Does one thing; what comes of it at once.
    pub fn perform(&mut self, action: Action, machine: &Machine) -> Option<Event> {
        match action {
            Action::Start(id) => self.start(id),
            Action::Signal(id, signal) => self.signal(id, signal),
            Action::Sweep(id, signal) => match self.groups.sweep(id, signal, &self.watch) {
                Swept::Empty => Some(Event::Emptied(id)),
                Swept::Watched => None,
            },
            Action::Kill(id) => {
                // The main process by its descriptor too: it may have left the
                // session, and there may be no control group.
                self.groups.kill(id);
                self.signal(id, Signal::KILL)
            }
            Action::Record(id, exit, cause) => {
                self.log.ended(id, exit, cause);
                self.status.ended(id, exit, cause);
                if id == ServiceId::Host {
                    self.keeper.ended(exit, cause);
                }
                None
            }
            Action::Do(task) => self.work(task, machine),
            Action::Interrupt(task) => {
                self.interrupt(task);
                None
            }
            Action::Abandon(task) => {
                self.interrupt(task);
                let was_there = self.processes.abandon(Part::Task(task));
                // The end of one that is not there any more is on its way.
                (was_there && task.is_keeping())
                    .then(|| self.keeper.done(task, Outcome::Bad(Errno::ETIMEDOUT)))
            }
            Action::Leave(ending, step) => self.leave(ending, step),
            Action::Look => Some(Event::LeavingAt(self.step_shown())),
            Action::Exit(ending, code) => {
                self.status.tell_ends(&self.log);
                exit(ending, code)
            }
            Action::Reload => self.reload(),
            Action::SetVerbosity(verbosity) => {
                self.log.set_level(match verbosity {
                    Verbosity::Debug => Level::Debug,
                    Verbosity::Configured => self.config.level(),
                });
                None
            }
            Action::Reexecute(host) => self.reexecute(host, machine),
            Action::Report(report) => {
                self.log.report(report);
                None
            }
        }
    }

    /// Does what nobody waits for, when its time has come: tells others what has
    /// changed, and once what the host need not wait for.
    pub fn settle(&mut self, machine: &Machine) {
        let now = clock::now();
        let pid = self.processes.main(ServiceId::Host).map(|host| host.pid);
        self.status.note(machine, pid, now);
        if self.status.due().is_some_and(|due| due <= now) {
            self.status.tell(machine, pid, &self.log);
            self.tell_manager(machine, now);
            self.do_aside();
        } else if self.manager.due().is_some_and(|due| due <= now) {
            self.tell_manager(machine, now);
        }
    }

    /// Tells what is still to be told before the end.
    pub fn tell_exit(&mut self, machine: &Machine, code: u8) {
        self.settle(machine);
        let now = clock::now();
        self.tell_manager(machine, now);
        self.manager.tell_exit(code, now, &self.log);
    }

    fn tell_manager(&mut self, machine: &Machine, now: Instant) {
        let is_in_flight = self.spawner.is_in_flight();
        self.manager.tell(machine, is_in_flight, now, &self.log);
    }

    /// What it means that this process ended.
    pub fn ended(&mut self, process: &Process, exit: Exit) -> Option<Event> {
        match process.part {
            Part::Main(id, ticket) => {
                let failure = self.spawner.failure(ticket);
                Some(Event::Exited(id, failure.map_or(exit, Exit::Unstarted)))
            }
            Part::Task(task) => {
                let host = self.config.value().host.as_ref();
                let is_command = host.is_some_and(|host| !host.rollback.is_empty());
                if task == Task::TakeBack && is_command && !exit.is_clean() {
                    self.log.not_taken_back(exit);
                }
                let outcome = work::outcome(exit.shell_code());
                Some(self.keeper.done(task, outcome))
            }
            Part::Abandoned(_) => None,
            Part::Leaver => Some(Event::LeaverEnded(self.step_shown())),
        }
    }

    fn start(&mut self, id: ServiceId) -> Option<Event> {
        self.status.started(id, clock::now());
        if id == ServiceId::Host {
            self.listen();
        }
        match self.try_start(id) {
            Ok(pid) => {
                self.readiness.has_passed();
                self.status.has_pid(id, pid);
                self.log.started(id, pid);
                None
            }
            Err(errno) => {
                self.readiness.close(&self.watch);
                let step = Step::Clone;
                Some(Event::Unstarted(id, Failure { step, errno }))
            }
        }
    }

    fn try_start(&mut self, id: ServiceId) -> Result<u32> {
        if !self.processes.has_room() {
            return Err(Errno::EAGAIN);
        }
        let mut started = self.spawn(id, Grouped::Yes);
        if matches!(started, Err(Errno::ENOENT | Errno::ENODEV)) {
            // Somebody may have removed the control group: another is made.
            self.groups.forget(id);
            started = self.spawn(id, Grouped::Yes);
        }
        if matches!(started, Err(Errno::EBUSY)) {
            // The service gave its group controllers and groups of its own: no
            // process can be in it any more.
            let name = log::name(id).as_bytes();
            self.log
                .failed(Level::Warning, "start in its cgroup", name, Errno::EBUSY);
            started = self.spawn(id, Grouped::No);
        }
        let Started { pid, pidfd, ticket } = started?;
        self.groups.set_leader(id, pid);
        self.insert(pid, pidfd, Part::Main(id, ticket));
        Ok(pid)
    }

    /// Gets ready to hear the host that is about to be started, before it can speak.
    fn listen(&mut self) {
        let host = self.config.value().host.as_ref();
        if host.is_some_and(Host::is_heard) {
            self.notices.open(&self.watch, &self.log);
        } else {
            self.notices.close(&self.watch);
        }
        match host.map(|host| host.ready) {
            Some(Ready::Descriptor(number)) => {
                self.readiness.open(number, &self.watch, &self.log);
            }
            Some(Ready::None | Ready::Notify) | None => self.readiness.close(&self.watch),
        }
    }

    /// What the host with this main process has said.
    pub fn hear(&mut self, main: Option<u32>) -> Option<Event> {
        let (groups, log) = (&self.groups, &self.log);
        let mut heard = self.notices.hear(main, groups, &mut self.status, log);
        match self.readiness.hear() {
            Some(Said::Ready) => heard.get_or_insert_default().is_ready = true,
            Some(Said::Never(why)) => {
                self.readiness.close(&self.watch);
                // One that ends closes everything, and its end is told. (Without `/proc`
                // that can't be known, and nothing is said.)
                let ends = |pid| flags::flags(pid).is_none_or(|it| it & flags::EXITING != 0);
                let host = self.processes.main(ServiceId::Host);
                if host.is_some_and(|host| !ends(host.pid)) {
                    self.log.never_ready(why);
                }
            }
            None => {}
        }
        if heard.is_some_and(|heard| heard.is_ready) {
            self.readiness.close(&self.watch);
        }
        heard.map(Event::Notified)
    }

    fn spawn(&mut self, id: ServiceId, grouped: Grouped) -> Result<Started> {
        let cgroup = match grouped {
            Grouped::Yes => self.groups.group(id, &self.log),
            Grouped::No => None,
        };
        let config = self.config.value();
        let (role, inherited) = (self.facts.role, self.arguments);
        let heard = match &config.host {
            Some(host) => self.notices.environment(host.watchdog),
            None => notices::Environment::default(),
        };
        program::with(id, config, role, inherited, &heard, |program| {
            self.spawner.spawn(Program {
                passed: self.readiness.passed(),
                cgroup,
                open_files: self.open_files,
                ..program
            })
        })
        // A reload may have taken the host out of the config.
        .ok_or(Errno::ENOENT)?
    }

    fn signal(&self, id: ServiceId, signal: Signal) -> Option<Event> {
        if let Some(process) = self.processes.main(id)
            && let Err(errno) = kill::process(&process.pidfd, signal)
        {
            let name = log::name(id).as_bytes();
            self.log.failed(Level::Warning, "signal", name, errno);
        }
        None
    }

    /// Kills the child that does this, and what it has started.
    fn interrupt(&self, task: Task) {
        for process in self.processes.for_part(Part::Task(task)) {
            // A command that takes the host back leads a session of its own.
            if task == Task::TakeBack {
                let _ = kill::group(process.pid, Signal::KILL);
            }
            kill(process);
        }
    }

    fn work(&mut self, task: Task, machine: &Machine) -> Option<Event> {
        let is_blocked = |place| self.processes.has_abandoned(place);
        let prepared = if task.place().is_some_and(is_blocked) && task != Task::Attempt {
            // It may still write, later than this one.
            Err(Errno::EBUSY)
        } else if self.processes.has_room() {
            self.keeper.prepare(machine, is_blocked(Place::Record))
        } else {
            Err(Errno::EAGAIN)
        };
        let (config, log, keeper) = (self.config.value(), &self.log, &self.keeper);
        let role = self.facts.role;
        let forked = prepared
            .and_then(|()| task::fork(|| work::run(task, config, role, keeper, machine, log)));
        match forked {
            Ok(Forked { pid, pidfd }) => {
                let host = self.config.value().host.as_ref();
                self.keeper.sent(task, host.and_then(|host| host.record));
                self.insert(pid, pidfd, Part::Task(task));
                None
            }
            Err(errno) => {
                self.log.failed(Level::Error, "fork for", b"work", errno);
                let outcome = work::outcome(u8::try_from(errno.number()).unwrap_or(u8::MAX));
                Some(self.keeper.done(task, outcome))
            }
        }
    }

    fn leave(&mut self, ending: Ending, step: ending::Step) -> Option<Event> {
        self.processes.for_part(Part::Leaver).for_each(kill);
        self.processes.abandon(Part::Leaver);
        self.board.show(step.number());
        let (board, log) = (self.board, &self.log);
        let forked = if self.processes.has_room() {
            task::fork(|| leave::run(ending, step, board, log))
        } else {
            Err(Errno::EAGAIN)
        };
        match forked {
            Ok(Forked { pid, pidfd }) => {
                self.insert(pid, pidfd, Part::Leaver);
                None
            }
            // There can be no process: what needs none is done here, and what
            // could block is left out.
            Err(errno) => {
                let word = log::step_word(step).as_bytes();
                self.log.failed(Level::Error, "fork for", word, errno);
                leave::without_child(ending, step, &self.log);
                kmsg::pause(Duration::from_millis(100));
                Some(Event::LeaverEnded(step))
            }
        }
    }

    /// Does once what the host need not wait for, in a child.
    fn do_aside(&mut self) {
        if !self.has_aside {
            return;
        }
        let (groups, log, role) = (&self.groups, &self.log, self.facts.role);
        // Its end means nothing, so that it needs no place. Without room for a
        // process it is tried again.
        self.has_aside = task::fork(|| work::aside(groups, role, log)).is_err();
    }

    /// Takes over the host of the life before, if there was one; what the rules
    /// are to know of it.
    pub fn adopt(&mut self) -> Option<(Saved, Option<Mark>)> {
        let Adopted {
            handover,
            pidfd,
            record,
            socket,
            reader,
        } = self.adopted.take()?;
        // The life before has done it.
        self.has_aside = false;
        let Handover {
            pid,
            host,
            open_files,
            access,
            ..
        } = handover;
        // The limit that is found now is PID 1's own.
        self.open_files = open_files;
        let (id, ticket) = (ServiceId::Host, self.spawner.adopt()?);
        // Opened again, so that the host can be swept when it ends.
        let _ = self.groups.group(id, &self.log);
        self.groups.set_leader(id, pid);
        self.status.adopted(id, pid, host);
        if let Some(socket) = socket {
            self.notices.adopt(socket, access, &self.watch);
        }
        if let Some(reader) = reader {
            self.readiness.adopt(reader, &self.watch);
        }
        self.insert(pid, pidfd, Part::Main(id, ticket));
        // It may have ended while nobody was there to hear of it.
        self.events.reap_soon();
        self.log.reexecuted(pid);
        let place = self.config.value().host.as_ref();
        let place = place.and_then(|host| host.record);
        Some((host, record.map(|record| self.keeper.resume(record, place))))
    }

    /// Becomes the program at host-init's own path; returns if that fails.
    fn reexecute(&mut self, host: Saved, machine: &Machine) -> Option<Event> {
        // The next life would know neither of what is still to be handled nor of
        // the ends that are not told.
        if let Some(signal) = Signal::realtime(request::REEXECUTE)
            && self.events.put_behind(signal)
        {
            return None;
        }
        self.status.tell_ends(&self.log);
        self.do_aside();
        let process = self.processes.main(ServiceId::Host)?;
        let handover = Handover {
            pid: process.pid,
            pidfd: handover::number(&process.pidfd),
            host,
            open_files: self.open_files,
            socket: self.notices.socket().map(handover::number),
            access: self.notices.access(),
            reader: self.readiness.reader().map(handover::number),
        };
        let mut bytes = [0; HANDOVER_BYTES];
        let (own, kept) = bytes.split_at_mut(format::handover::BYTES);
        own.copy_from_slice(&handover.to_bytes());
        let length = match machine.trial() {
            Some(trial) => {
                kept.copy_from_slice(&self.keeper.hand_over(trial.mark()).to_bytes());
                HANDOVER_BYTES
            }
            None => format::handover::BYTES,
        };
        let bytes = bytes.get(..length).unwrap_or_default();
        // What the child that is still on its way has to say would be lost.
        let errno = if self.spawner.is_in_flight() || self.processes.has_abandoned(Place::Record) {
            Errno::EBUSY
        } else {
            // What is said in between waits in the socket or the pipe for the next life.
            let kept = [
                Some(&process.pidfd),
                self.notices.socket(),
                self.readiness.reader(),
            ];
            handover::reexecute(bytes, &kept, self.arguments)
        };
        self.log
            .failed(Level::Error, "re-execute", b"host-init", errno);
        None
    }

    /// Puts a process into the table, and watches it.
    fn insert(&mut self, pid: u32, pidfd: Fd, part: Part) {
        let process = Process { pid, pidfd, part };
        if let Some((place, process)) = self.processes.insert(process)
            && let Err(errno) = self.watch.add_process(&process.pidfd, place)
        {
            self.log.failed(Level::Error, "watch", b"a process", errno);
        }
    }

    /// The step that the child which takes the last steps is at. One that was
    /// killed before its first word was to begin with the first.
    fn step_shown(&self) -> ending::Step {
        ending::Step::from_number(self.board.shown()).unwrap_or(ending::Step::Kill)
    }

    fn reload(&mut self) -> Option<Event> {
        if !self.config.reload(&self.log) {
            return None;
        }
        self.log.set_level(self.config.level());
        self.log.reloaded();
        let settings = Settings::new(self.config.value(), self.facts);
        Some(Event::Reloaded(settings))
    }
}

/// Whether a service is started in its control group.
#[derive(Clone, Copy)]
enum Grouped {
    /// If there is one.
    Yes,
    /// Without it.
    No,
}

fn kill(process: &Process) {
    let _ = kill::process(&process.pidfd, Signal::KILL);
}

/// Ends a container: by `reboot(2)` in its namespace when a restart was asked
/// for, which whoever made it sees; by the exit code else, and where the kernel
/// does not let it.
fn exit(ending: Ending, code: u8) -> ! {
    match ending {
        Ending::Reboot | Ending::Kexec => {
            power::reboot(Command::Restart);
        }
        Ending::Halt | Ending::PowerOff => {}
    }
    task::exit(code)
}
