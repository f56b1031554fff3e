//! A host that says how it is, in a machine that acts upon it.

use super::*;
use crate::policy::trial::Version;
use crate::policy::upward::{Mood, Upward};

const READY: Notice = Notice {
    is_ready: true,
    ..NOTHING
};

const NOTHING: Notice = Notice {
    is_ready: false,
    is_stopping: false,
    is_alive: false,
    is_lost: false,
    interval: None,
    extension: None,
};

const FOUND: Found = Found {
    version: Version(1),
    kept: None,
};

impl Story {
    /// One whose host, on trial, was started just now.
    fn watched() -> Self {
        let mut story = Self::booted(WATCHED);
        story.attempt();
        story
    }

    fn attempt(&mut self) {
        assert_eq!(
            self.on(Event::Attempted(FOUND, Outcome::Good)),
            [Start(Host)]
        );
    }
}

#[test]
fn the_time_after_which_a_host_is_healthy_begins_when_it_is_ready() {
    let mut story = Story::watched();
    story.pass(80_000);
    // It is not healthy for being up so long.
    assert_eq!(story.on(Tick), []);

    assert_eq!(story.on(Event::Notified(READY)), [Say(Report::Ready(Host))]);

    story.pass(15_000);
    story.on(Event::Notified(Notice {
        is_alive: true,
        ..NOTHING
    }));
    assert_eq!(
        story.reach_deadline(15_000),
        [Say(Report::Healthy), Do(Task::Remember)]
    );
}

#[test]
fn a_host_that_is_not_ready_in_time_has_failed_its_trial_however_it_ends() {
    let mut story = Story::watched();

    for failures in 1..=2 {
        let told = [
            Say(Report::Unready(Host)),
            Send(Host, Signal::TERM),
            Send(Host, Signal::CONT),
        ];
        assert_eq!(story.reach_deadline(90_000), told);
        story.end(Host, Exit::Code(0));
        let trial = story.machine.trial().unwrap();
        assert_eq!(trial.mark().failures, failures);
        // The second costs a wait.
        if failures == 1 {
            story.attempt();
        }
    }
}

#[test]
fn a_host_that_fails_is_not_healthy_for_the_time_it_takes_to_end() {
    let mut story = Story::watched();
    story.on(Event::Notified(READY));
    story.pass(29_000);
    let lost = Notice {
        is_lost: true,
        ..NOTHING
    };

    story.on(Event::Notified(lost));

    story.pass(2_000);
    assert_eq!(story.on(Tick), []);
    story.on(Exited(Host, by(Signal::ABRT)));
    assert_eq!(story.machine.trial().unwrap().mark().failures, 1);
}

#[test]
fn whoever_runs_the_container_is_told_when_the_host_is_ready_and_not_before() {
    let mut story = Story::booted(Settings {
        host: Some(Rules {
            asks: false,
            ..WATCHED.host.unwrap()
        }),
        ..CONTAINER
    });
    let told = Upward::of(&story.machine);
    assert_eq!((told.is_ready, told.mood), (false, Some(Mood::Starting)));

    story.on(Event::Notified(READY));

    let told = Upward::of(&story.machine);
    assert_eq!((told.is_ready, told.mood), (true, Some(Mood::Up)));
}

#[test]
fn what_is_said_when_all_stops_starts_and_ends_nothing() {
    let mut story = Story::watched();
    story.on(Signaled(Signal::TERM));
    let before = story.machine;

    for is_lost in [true, false] {
        let notice = Notice { is_lost, ..READY };
        assert_eq!(story.on(Event::Notified(notice)), []);
    }

    assert_eq!(story.machine, before);
}

#[test]
fn a_re_execution_forgets_neither_that_it_is_ready_nor_that_it_is_not() {
    for (notice, is_ready) in [(READY, true), (NOTHING, false)] {
        let mut story = Story::watched();
        story.pass(5_000);
        story.on(Event::Notified(notice));

        let saved = story.machine.host().saved(story.now).unwrap();
        let next = Machine::resume(WATCHED, saved, None);

        let since = story.now;
        assert_eq!(next.host().ready_since(), is_ready.then_some(since));
        let left = if is_ready { 20 } else { 85 };
        let by = story.now.after(Duration::from_secs(left));
        assert_eq!(next.deadline(), Some(by));
    }
}
