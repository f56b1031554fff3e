//! Work that fails and hangs, and the last steps, which do the same.

use crate::base::errno::Errno;
use crate::policy::ending::{Ending, Step};
use crate::policy::event::{Event, Found, Outcome, SERVICES, Task};
use crate::policy::trial::{Kept, Version};
use crate::policy::world::{Due, World};

impl World {
    pub(super) fn work(&mut self, task: Task) -> Option<Event> {
        let outcome = if self.goes_wrong(3) {
            Outcome::Bad(Errno::ENOENT)
        } else {
            Outcome::Good
        };
        if self.goes_wrong(12) {
            self.found = self.look(task);
            return Some(self.answer(task, Outcome::Bad(Errno::EAGAIN)));
        }
        let name = self.name();
        self.job = Some((name, task));
        self.found = self.look(task);
        if !self.goes_wrong(8) {
            let millis = self.chance.of(&[0, 1, 700, 20_000]);
            self.due(millis, Due::Done(name, outcome));
        }
        None
    }

    /// What a job finds when it begins; what it is going to write.
    fn look(&mut self, task: Task) -> Found {
        self.writes = match task {
            Task::Remember => self.machine.trial().map(|trial| *trial.mark()),
            Task::Mount(_) | Task::Directories | Task::Attempt | Task::TakeBack => None,
        };
        if task != Task::Attempt {
            return Found::default();
        }
        if self.goes_wrong(6) {
            // Somebody has put another there.
            self.version = Version(self.chance.of(&[1, 2, 3]));
        }
        let version = if self.goes_wrong(12) {
            Version::UNKNOWN
        } else {
            self.version
        };
        let is_own = self.is_own;
        let is_news = self.machine.trial().is_none() || self.goes_wrong(12);
        let kept = self.disk.filter(|_| is_news);
        let kept = kept.map(|mark| Kept { mark, is_own });
        self.writes = self.machine.trial_with(kept).map(|mut trial| {
            trial.ask(version);
            *trial.mark()
        });
        Found { version, kept }
    }

    /// What the end of a job is told as.
    pub(super) fn answer(&mut self, task: Task, outcome: Outcome) -> Event {
        let writes = self.writes.take();
        // What failed may be written all the same.
        if outcome == Outcome::Good || self.chance.one_in(4) {
            self.is_own |= writes.is_some();
            self.disk = writes.or(self.disk);
        }
        match (task, outcome) {
            (Task::Attempt, outcome) => Event::Attempted(core::mem::take(&mut self.found), outcome),
            (Task::TakeBack, Outcome::Good) => {
                let good = self
                    .machine
                    .trial()
                    .and_then(|trial| trial.mark().good.last());
                self.version = good.unwrap_or_default();
                Event::Done(task, outcome)
            }
            (task, outcome) => Event::Done(task, outcome),
        }
    }

    /// A job is killed: it ends soon, or never. It may have been done just before.
    pub(super) fn interrupt(&mut self, task: Task) {
        if let Some((name, of)) = self.job
            && of == task
        {
            let outcome = self.chance.of(&[Outcome::Bad(Errno::EINTR), Outcome::Good]);
            if !self.goes_wrong(4) {
                let millis = self.chance.of(&[0, 0, 1, 1_000]);
                self.due(millis, Due::Done(name, outcome));
            }
        }
    }

    /// A job is given up.
    pub(super) fn abandon(&mut self, task: Task) -> Option<Event> {
        let was_there = self.job.take_if(|(_, of)| *of == task).is_some();
        (was_there && task.is_keeping()).then(|| self.answer(task, Outcome::Bad(Errno::ETIMEDOUT)))
    }

    pub(super) fn leave(&mut self, ending: Ending, step: Step) -> Option<Event> {
        self.board = step;
        if self.goes_wrong(12) {
            self.leaver = None;
            self.begin_step(ending, step);
            return self.over.is_none().then_some(Event::LeaverEnded(step));
        }
        let name = self.name();
        self.leaver = Some((name, ending));
        self.due(0, Due::Step(name, step));
        None
    }

    pub(super) fn take_step(&mut self, name: u32, ending: Ending, step: Step) {
        self.board = step;
        self.begin_step(ending, step);
        if self.over.is_some() || self.goes_wrong(6) {
            return;
        }
        let millis = self.chance.of(&[0, 3, 800, 4_000, 9_000]);
        match step.next() {
            Some(next) if !self.goes_wrong(8) => self.due(millis, Due::Step(name, next)),
            Some(_) | None => self.due(millis, Due::Crash(name)),
        }
    }

    fn begin_step(&mut self, ending: Ending, step: Step) {
        self.laws.begins(self.now, step);
        match step {
            Step::Kill => {
                for id in SERVICES {
                    self.kill(id);
                }
            }
            Step::Unmount | Step::Sync => {}
            Step::Reboot | Step::Force => {
                if !self.goes_wrong(3) {
                    self.over = Some(ending);
                }
            }
        }
    }

    pub(super) fn reload(&mut self) -> Option<Event> {
        if self.goes_wrong(4) {
            return None;
        }
        self.settings = self.chance.of(&self.configs);
        Some(Event::Reloaded(self.settings))
    }
}
