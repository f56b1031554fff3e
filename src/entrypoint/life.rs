//! From the start of the command to its end.

use core::ffi::CStr;
use core::time::Duration;

use crate::base::exit::Exit;
use crate::base::job::Job;
use crate::base::signal::Signal;
use crate::base::time::Instant;
use crate::entrypoint::voice::Speaker;
use crate::policy::entrypoint::place::Place;
use crate::policy::entrypoint::{Action, Entrypoint, Event, OnStop, Target};
use crate::sys::reap::Looked;
use crate::sys::signals::{Children, Received};
use crate::sys::spawn::Launched;
use crate::sys::{
    Fd, Result, clock, descendants, kill, kmsg, poll, process, reap, signals, task, terminal,
};

/// Children that are reaped before signals are looked at again: a storm of orphans
/// does not keep a stop from being heard.
const REAPED_AT_ONCE: usize = 256;

/// How long to wait for a kernel that says a process ended, and not yet how: only a
/// debugger makes it longer.
const MOMENT: Duration = Duration::from_millis(1);

/// A command and everything around it.
pub struct Life {
    launched: Launched,
    entrypoint: Entrypoint,
    speaker: Speaker,
    is_init: bool,
    name: &'static CStr,
    /// Whether the command has a process group in host-init's own session.
    has_group: bool,
    /// Whether host-init gave that group the terminal, which it takes back.
    has_lent: bool,
    /// Where signals are read when the kernel releases children by itself, and the
    /// command's end is told by its descriptor; without, children are waited for.
    descriptor: Option<Fd>,
    /// Whether the kernel may release children by itself, once there are any but the
    /// command.
    may_vanish: bool,
    /// Whether children that ended may be left from the last turn.
    may_reap: bool,
}

impl Life {
    /// The life of a command that was just started.
    pub const fn new(
        launched: Launched,
        entrypoint: Entrypoint,
        speaker: Speaker,
        is_init: bool,
        name: &'static CStr,
        place: Place,
    ) -> Self {
        Self {
            launched,
            entrypoint,
            speaker,
            is_init,
            name,
            has_group: matches!(place.job, Job::Group),
            has_lent: matches!(place.job, Job::Group) && place.takes_terminal,
            descriptor: None,
            may_vanish: false,
            may_reap: false,
        }
    }

    /// Lives it. With `sees_each`, every orphan and every stop is looked at.
    pub fn run(mut self, sees_each: bool) -> ! {
        // None is worth the command's life.
        let _ = process::leave_directory();
        process::close_inherited(&[Some(&self.launched.pidfd)]);
        self.may_vanish = !sees_each;
        loop {
            let deadline = self.entrypoint.deadline();
            if deadline.is_some_and(|at| at <= clock::now()) {
                self.handle(Event::Tick);
                continue;
            }
            match &self.descriptor {
                Some(_) => self.wait_for_descriptors(deadline),
                None => self.wait_for_signals(deadline),
            }
        }
    }

    /// The first orphan was reaped, and more may come: from here on the kernel releases
    /// children at once, and an orphan costs nothing. Those that ended before are still
    /// there.
    fn let_children_vanish(&mut self) {
        if core::mem::take(&mut self.may_vanish)
            && reap::remembers(&self.launched.pidfd)
            && let Ok(descriptor) = signals::open(Children::Vanish)
            && signals::set_children(Children::Vanish).is_ok()
        {
            self.descriptor = Some(descriptor);
        }
    }

    /// How long to wait for something to happen.
    fn patience(&self, deadline: Option<Instant>) -> Option<Duration> {
        if self.may_reap {
            Some(Duration::ZERO)
        } else {
            deadline.map(|at| at.since(clock::now()))
        }
    }

    fn wait_for_descriptors(&mut self, deadline: Option<Instant>) {
        let Some(descriptor) = &self.descriptor else {
            return;
        };
        let timeout = self.patience(deadline);
        let [has_signal, has_ended] =
            poll::wait_for_either(descriptor, &self.launched.pidfd, timeout);
        if has_signal {
            let mut received = heapless::Vec::<Received, { signals::RECORDS }>::new();
            let _ = signals::read(descriptor, |one| {
                let _ = received.push(one);
            });
            for one in received {
                self.signaled(one);
            }
        }
        if has_ended {
            match reap::ask(&self.launched.pidfd) {
                Ok(Some(exit)) => self.ended(exit),
                Ok(None) => kmsg::pause(MOMENT),
                Err(_) => self.ended(Exit::Unknown),
            }
        }
        if self.may_reap && !has_signal {
            self.reap();
        }
    }

    fn wait_for_signals(&mut self, deadline: Option<Instant>) {
        match signals::wait(self.patience(deadline)) {
            Some(received) if received.signal == Signal::CHLD => self.reap(),
            Some(received) => self.signaled(received),
            None if self.may_reap => self.reap(),
            None => {}
        }
    }

    fn signaled(&mut self, received: Received) {
        let Received {
            signal, is_kernels, ..
        } = received;
        #[cfg(feature = "inject-faults")]
        assert!(signal != Signal::URG, "injected by URG");
        self.handle(Event::Signaled { signal, is_kernels });
    }

    /// Releases children that ended.
    fn reap(&mut self) {
        self.may_reap = false;
        let mut has_reaped = false;
        for _ in 0..REAPED_AT_ONCE {
            match reap::next_change() {
                Looked::Ended(pid, exit) if pid == self.launched.pid => self.ended(exit),
                Looked::Ended(pid, _) => {
                    has_reaped = true;
                    self.speaker.reaped(pid);
                    self.let_children_vanish();
                }
                Looked::Stopped(pid, signal) if pid == self.launched.pid => {
                    self.handle(Event::Stopped(signal));
                }
                Looked::Stopped(..) => {}
                Looked::Nothing => {
                    if has_reaped {
                        self.handle(Event::Reaped);
                    }
                    return;
                }
                Looked::Alone => return self.handle(Event::Alone),
            }
        }
        self.may_reap = true;
        if has_reaped {
            self.handle(Event::Reaped);
        }
    }

    fn ended(&mut self, exit: Exit) {
        let exit = match self.launched.failure() {
            Some(failure) => {
                self.speaker.unstarted(self.name, failure);
                let was_sought = !self.name.to_bytes().contains(&b'/');
                Exit::Code(self.speaker.persona().codes.of(failure, was_sought))
            }
            None => exit,
        };
        self.speaker.ended(exit);
        self.handle(Event::Ended(exit));
    }

    fn handle(&mut self, event: Event) {
        let now = if self.entrypoint.heeds_time() {
            clock::now()
        } else {
            Instant::BOOT
        };
        for action in self.entrypoint.handle(now, event) {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Send(target, signal) => self.send(target, signal),
            Action::Follow => {
                self.take_back_terminal();
                signals::stop_as_by_key();
                self.give_terminal();
                self.send(Target::Group, Signal::CONT);
            }
            Action::Stop => kill::own(Signal::STOP),
            Action::GiveTerminal => self.give_terminal(),
            Action::LookForOthers => {
                // Whoever presses a key does not mean a command that is gone.
                self.take_back_terminal();
                // A kernel that can't do this can't have released them either.
                let _ = signals::set_children(Children::Stay);
                self.descriptor = None;
                self.may_vanish = false;
                self.may_reap = true;
            }
            Action::Exit(code) => {
                if self.entrypoint.rules().on_stop == OnStop::Follow {
                    // Whoever started this wants the terminal back.
                    self.take_back_terminal();
                }
                task::exit(code)
            }
        }
    }

    fn give_terminal(&mut self) {
        if !self.has_group {
            return;
        }
        if self.entrypoint.rules().on_stop == OnStop::Continue || terminal::is_foreground() {
            self.has_lent = terminal::bring_forward(self.launched.pid).is_ok();
        }
    }

    /// What was not given is somebody else's.
    fn take_back_terminal(&mut self) {
        if core::mem::take(&mut self.has_lent) {
            let _ = terminal::bring_back();
        }
    }

    fn send(&self, target: Target, signal: Signal) {
        self.speaker.forwarding(signal);
        match target {
            Target::Group if kill::reaches_group(self.launched.pid, signal) => {}
            // Before the child has made its group there is nobody in it but the
            // child.
            Target::Group | Target::Command => {
                let Launched { pid, pidfd, .. } = &self.launched;
                let sent = kill::process(pidfd, signal).or_else(|errno| {
                    // Whoever was released has no number any more.
                    match reap::ask(pidfd) {
                        Ok(Some(_)) => Err(errno),
                        Ok(None) | Err(_) => kill::child(*pid, signal),
                    }
                });
                if let Err(errno) = sent {
                    self.speaker.failed("forward a signal", errno);
                }
            }
            Target::Others | Target::Adopted if self.is_init => {
                // There may be none.
                let _ = kill::all(signal);
            }
            Target::Others => self.found(descendants::find().map(|found| {
                for pid in found.values() {
                    kill::member(*pid, signal);
                }
            })),
            Target::Adopted => self.found(descendants::each_child(|pid| {
                kill::member(pid, signal);
            })),
        }
    }

    fn found(&self, found: Result<()>) {
        if let Err(errno) = found {
            self.speaker.failed("find the other processes", errno);
        }
    }
}

/// Runs nothing, reaps, and ends at TERM or INT.
pub fn pause() -> ! {
    // With nobody to wait for, the kernel may release them all; where it can't,
    // they are waited for.
    let _ = signals::set_children(Children::Vanish);
    while reap::next().is_some() {}
    loop {
        if let Some(received) = signals::wait(None)
            && matches!(received.signal, Signal::TERM | Signal::INT)
        {
            task::exit(0);
        }
    }
}
