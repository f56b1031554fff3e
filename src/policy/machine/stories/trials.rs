//! A host on trial: asked for, kept, halted, started anew.

use super::*;
use crate::policy::samples::TRIED;
use crate::policy::settings::Probation;
use crate::policy::trial::{Kept, OnHalt, Version};

const GOOD: Outcome = Outcome::Good;

fn found(version: u64) -> Found {
    Found {
        version: Some(Version(version)),
        kept: None,
    }
}

/// What another life has kept of version 1, which failed so often.
fn failed(failures: u32) -> Found {
    let mark = Mark {
        version: Version(1),
        failures,
        ..Mark::default()
    };
    Found {
        kept: Some(Kept {
            mark,
            is_own: false,
        }),
        ..found(1)
    }
}

fn on_halt(settings: Settings, on_halt: OnHalt) -> Settings {
    let probation = settings.trial.or(TRIED.trial).unwrap();
    let rules = crate::policy::trial::Rules {
        on_halt,
        ..probation.rules
    };
    Settings {
        host: TRIED.host,
        trial: Some(Probation { rules, ..probation }),
        ..settings
    }
}

impl Story {
    /// One whose host is up on its trial.
    fn tried() -> Self {
        let mut story = Self::new(TRIED);
        assert_eq!(story.on(Event::Booted), [Do(Task::Attempt)]);
        assert_eq!(story.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);
        story
    }

    /// One whose host has failed too often before, and is halted.
    fn halted(settings: Settings) -> Self {
        let mut story = Self::booted(settings);
        let said = story.on(Event::Attempted(failed(3), GOOD));
        assert_eq!(said[0], Say(Report::Halted(Halt::NoWayBack)));
        story
    }

    fn failures(&self) -> u32 {
        self.machine.trial().unwrap().mark().failures
    }
}

#[test]
fn nobody_else_is_at_the_record_when_a_start_is_asked_for() {
    let mut story = Story::tried();
    assert_eq!(
        story.reach_deadline(30_000),
        [Say(Report::Healthy), Do(Task::Remember)]
    );
    let next = story.end(Host, FAILED);
    assert_eq!(next, [], "{next:?}");

    assert_eq!(story.on(Done(Task::Remember, GOOD)), [Do(Task::Attempt)]);
    assert_eq!(story.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);
    assert_eq!(story.failures(), 1);
}

#[test]
fn an_answer_that_is_late_is_not_waited_for_and_said() {
    let mut story = Story::booted(TRIED);

    assert_eq!(
        story.reach_deadline(10_000),
        [
            Abandon(Task::Attempt),
            Say(Report::TooLong(Task::Attempt)),
            Say(Report::Forgetful(Errno::ETIMEDOUT)),
            Start(Host)
        ]
    );
}

#[test]
fn a_stop_waits_a_little_for_what_is_asked_and_keeps_that_nothing_was_started() {
    let mut story = Story::booted(TRIED);
    story.pass(100);
    assert_eq!(story.on(Signaled(Signal::TERM)), [ending(Ending::Reboot)]);

    // Which says that a start is under way.
    assert_eq!(
        story.on(Event::Attempted(found(1), GOOD)),
        [Do(Task::Remember)]
    );

    assert_eq!(
        story.on(Done(Task::Remember, GOOD)),
        [Leave(Ending::Reboot, Step::Kill)]
    );
    let trial = story.machine.trial().unwrap();
    assert!(!trial.mark().is_attempting);
}

#[test]
fn a_stop_does_not_wait_for_a_record_that_hangs() {
    let mut story = Story::booted(TRIED);
    story.on(Signaled(Signal::TERM));

    let given_up = story.reach_deadline(5_000);
    assert_eq!(given_up[0], Abandon(Task::Attempt));
    assert_eq!(given_up.last(), Some(&Do(Task::Remember)));
    // Nothing may be begun while the one that was killed is not gone.
    assert_eq!(
        story.on(Done(Task::Remember, Outcome::Bad(Errno::EBUSY))),
        [
            Say(Report::Forgetful(Errno::EBUSY)),
            Leave(Ending::Reboot, Step::Kill)
        ]
    );
}

#[test]
fn a_trial_that_a_reload_turns_on_begins_with_the_next_start_and_knows_what_was_kept() {
    let mut story = Story::running();
    assert_eq!(story.on(Reloaded(TRIED)), []);
    assert_eq!(story.machine.deadline(), None);
    assert_eq!(story.on(Signaled(realtime(8))), [refused(Request::Confirm)]);

    assert_eq!(story.end(Host, FAILED), [Do(Task::Attempt)]);
    assert_eq!(story.on(Event::Attempted(failed(2), GOOD)), [Start(Host)]);

    assert_eq!(story.failures(), 2);
}

#[test]
fn what_could_not_be_read_at_first_counts_when_it_can() {
    let mut story = Story::booted(TRIED);
    let bad = Outcome::Bad(Errno::EIO);
    assert_eq!(
        story.on(Event::Attempted(found(1), bad)),
        [Say(Report::Forgetful(Errno::EIO)), Start(Host)]
    );
    story.end(Host, FAILED);

    // One of this life, and two of those before.
    story.on(Event::Attempted(failed(2), GOOD));

    assert!(matches!(story.machine.stage(), Stage::Halted { .. }));
}

#[test]
fn a_host_is_started_anew_without_a_failure() {
    let mut story = Story::tried();
    story.pass(20);
    assert_eq!(story.on(Signaled(realtime(10))), asked_to_end());

    assert_eq!(story.end(Host, by(Signal::TERM)), [Do(Task::Attempt)]);

    assert_eq!(story.on(Event::Attempted(found(2), GOOD)), [Start(Host)]);
    assert_eq!(story.failures(), 0);
}

#[test]
fn a_host_that_rests_is_started_anew_at_once_and_one_that_is_halted_again() {
    let mut story = Story::tried();
    story.end(Host, FAILED);
    story.on(Event::Attempted(found(1), GOOD));
    story.end(Host, FAILED);
    assert!(matches!(
        story.machine.host().state(),
        State::Waiting { .. }
    ));
    assert_eq!(story.on(Signaled(realtime(10))), [Do(Task::Attempt)]);

    let mut story = Story::halted(TRIED);
    assert_eq!(
        story.on(Signaled(realtime(10))),
        [Say(Report::Cleared), Do(Task::Attempt)]
    );
    story.on(Event::Attempted(found(1), GOOD));

    story.on(Signaled(Signal::TERM));
    assert_eq!(
        story.on(Signaled(realtime(10))),
        [refused(Request::Restart)]
    );
}

#[test]
fn a_halted_container_that_is_to_end_says_so_by_its_code() {
    for ends in [OnHalt::Exit, OnHalt::PowerOff] {
        let mut story = Story::halted(on_halt(CONTAINER, ends));

        assert_eq!(
            story.reach_deadline(0),
            [ending(Ending::PowerOff), ExitWith(Ending::PowerOff, 253)]
        );
    }
}

#[test]
fn a_halted_machine_offers_a_shell_again_and_again() {
    let mut story = Story::booted(on_halt(BARE, OnHalt::Shell));
    assert_eq!(
        story.on(Event::Attempted(failed(3), GOOD)),
        [Say(Report::Halted(Halt::NoWayBack)), Start(Rescue)]
    );
    story.pass(10_000);

    assert_eq!(story.end(Rescue, Exit::Code(0)), [Start(Rescue)]);

    // Who has seen to it goes on from within the shell.
    assert_eq!(
        story.on(Signaled(realtime(9))),
        [Say(Report::Cleared), Do(Task::Attempt)]
    );
    assert_eq!(story.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);
    assert_eq!(story.end(Rescue, Exit::Code(0)), []);
}

#[test]
fn a_halted_machine_without_a_shell_and_a_container_wait() {
    let mut settings = on_halt(BARE, OnHalt::Shell);
    settings.facts.shell = Shell::Missing;
    for settings in [settings, on_halt(CONTAINER, OnHalt::Shell)] {
        let mut story = Story::halted(settings);

        assert_eq!(story.machine.deadline(), None);
        assert_eq!(story.on(Tick), []);
    }
}

#[test]
fn a_reload_that_ends_the_trial_of_a_halted_host_lets_it_be_cleared() {
    let mut story = Story::halted(TRIED);
    assert_eq!(story.on(Reloaded(BARE)), []);

    assert_eq!(
        story.on(Signaled(realtime(9))),
        [Say(Report::Cleared), Start(Host)]
    );
}
