//! A host on trial: asked for, kept, halted, started anew.

use super::*;
use crate::policy::samples::{TRIED, WATCHED};
use crate::policy::settings::Probation;
use crate::policy::trial::{Kept, OnHalt, Version};

const GOOD: Outcome = Outcome::Good;

fn found(version: u64) -> Found {
    Found {
        version: Version(version),
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

    /// The host that is up fails, and is started again.
    fn fail_and_start_again(&mut self) {
        assert_eq!(self.end(Host, FAILED), [Do(Task::Attempt)]);
        assert_eq!(self.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);
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
            Interrupt(Task::Attempt),
            Say(Report::TooLong(Task::Attempt)),
        ]
    );
    assert_eq!(story.reach_deadline(1_000), [Abandon(Task::Attempt)]);
    assert_eq!(story.machine.deadline(), None);
    // What it has seen before it was killed is known.
    let killed = Outcome::Bad(Errno::ETIMEDOUT);
    assert_eq!(
        story.on(Event::Attempted(failed(1), killed)),
        [Say(Report::Forgetful(Errno::ETIMEDOUT)), Start(Host)]
    );
    assert_eq!(story.failures(), 1);
    let version = story.machine.trial().unwrap().mark().version;
    assert_eq!(version, Version(1));
}

#[test]
fn a_child_that_was_killed_too_late_has_answered() {
    let mut story = Story::booted(TRIED);
    story.reach_deadline(10_000);

    assert_eq!(story.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);
    assert_eq!(story.on(Event::Attempted(found(1), GOOD)), []);
}

#[test]
fn an_orderly_end_is_kept_when_something_else_was_being_kept() {
    let mut story = Story::tried();
    story.fail_and_start_again();
    assert_eq!(
        story.on(Signaled(realtime(9))),
        [Say(Report::Cleared), Do(Task::Remember)]
    );
    // This mark says that a start is under way.
    story.on(Signaled(Signal::TERM));
    assert_eq!(story.end(Host, Exit::Code(0)), []);

    assert_eq!(story.on(Done(Task::Remember, GOOD)), [Do(Task::Remember)]);
    assert_eq!(
        story.on(Done(Task::Remember, GOOD)),
        [Leave(Ending::Reboot, Step::Kill)]
    );
}

#[test]
fn an_answer_to_what_is_not_asked_any_more_is_none() {
    let changes = [
        Signaled(realtime(10)),
        Reloaded(on_halt(TRIED, OnHalt::Reboot)),
    ];
    for change in changes {
        let mut story = Story::booted(TRIED);
        assert_eq!(story.on(change), []);

        assert_eq!(
            story.on(Event::Attempted(found(1), GOOD)),
            [Do(Task::Attempt)],
            "{change:?}"
        );
        assert_eq!(story.on(Event::Attempted(found(2), GOOD)), [Start(Host)]);
        let version = story.machine.trial().unwrap().mark().version;
        assert_eq!(version, Version(2));
    }
}

#[test]
fn who_is_cleared_while_it_is_asked_for_is_asked_for_again() {
    let mut story = Story::tried();
    assert_eq!(story.end(Host, FAILED), [Do(Task::Attempt)]);
    assert_eq!(story.on(Signaled(realtime(9))), [Say(Report::Cleared)]);

    // The child may have written that it is halted.
    assert_eq!(
        story.on(Event::Attempted(found(1), GOOD)),
        [Do(Task::Attempt)]
    );
    assert_eq!(story.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);
    assert_eq!(story.failures(), 0);
}

#[test]
fn a_host_that_a_reload_takes_away_is_not_started_by_an_answer() {
    let mut story = Story::booted(TRIED);
    story.on(Reloaded(Settings {
        host: None,
        trial: None,
        ..TRIED
    }));

    let said = story.on(Event::Attempted(found(1), GOOD));
    assert!(!said.contains(&Start(Host)), "{said:?}");
}

#[test]
fn a_command_that_takes_the_host_back_has_its_time_also_at_the_end() {
    let probation = TRIED.trial.unwrap();
    let rules = crate::policy::trial::Rules {
        way_back: crate::policy::trial::WayBack::Command,
        ..probation.rules
    };
    let settings = Settings {
        trial: Some(Probation { rules, ..probation }),
        ..TRIED
    };
    let mut story = Story::booted(settings);
    let said = story.on(Event::Attempted(failed(3), GOOD));
    assert_eq!(said, [Say(Report::TakingBack), Do(Task::TakeBack)]);

    // It may be what has asked for the reboot.
    assert_eq!(story.on(Signaled(Signal::TERM)), [ending(Ending::Reboot)]);
    story.pass(290_000);
    assert_eq!(story.on(Done(Task::TakeBack, GOOD)), [Do(Task::Remember)]);
    assert_eq!(
        story.on(Done(Task::Remember, GOOD)),
        [Leave(Ending::Reboot, Step::Kill)]
    );
    assert_eq!(story.failures(), 0);
}

#[test]
fn a_host_that_is_late_has_failed_whatever_ends_it() {
    let mut story = Story::new(WATCHED);
    story.on(Event::Booted);
    story.on(Event::Attempted(found(1), GOOD));
    let said = story.reach_deadline(90_000);
    assert_eq!(said[0], Say(Report::Unready(Host)));

    story.on(Signaled(Signal::TERM));
    assert_eq!(story.end(Host, by(Signal::TERM)), [Do(Task::Remember)]);

    assert_eq!(story.failures(), 1);
}

#[test]
fn what_follows_a_halt_is_what_the_config_says_now() {
    let mut story = Story::halted(on_halt(TRIED, OnHalt::PowerOff));
    story.on(Reloaded(on_halt(TRIED, OnHalt::Stay)));
    assert_eq!(story.machine.deadline(), None);

    story.on(Reloaded(on_halt(TRIED, OnHalt::Reboot)));
    assert_eq!(story.reach_deadline(10_000)[0], ending(Ending::Reboot));
}

#[test]
fn nothing_is_forgotten_that_would_be_known_again() {
    let mut story = Story::tried();
    story.on(Signaled(Signal::TERM));
    story.end(Host, Exit::Code(0));
    story.on(Done(Task::Remember, GOOD));
    assert!(matches!(story.machine.stage(), Stage::Leaving { .. }));

    assert_eq!(story.on(Signaled(realtime(9))), [refused(Request::Clear)]);
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
    assert_eq!(given_up[0], Interrupt(Task::Attempt));
    assert_eq!(story.reach_deadline(1_000), [Abandon(Task::Attempt)]);
    let killed = Outcome::Bad(Errno::ETIMEDOUT);
    assert_eq!(
        story.on(Event::Attempted(found(1), killed)),
        [Do(Task::Remember)]
    );
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
    assert_eq!(story.on(Signaled(realtime(10))), [Do(Task::Attempt)]);
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

#[test]
fn what_is_not_started_again_does_not_wait_for_its_start() {
    let mut story = Story::tried();
    story.fail_and_start_again();
    // The second failure waits, the third is the last.
    assert!(matches!(
        story.end(Host, FAILED)[0],
        Say(Report::StartIn(Host, _))
    ));
    assert_eq!(story.reach_deadline(1_000), [Do(Task::Attempt)]);
    assert_eq!(story.on(Event::Attempted(found(1), GOOD)), [Start(Host)]);

    assert_eq!(story.end(Host, FAILED), [Do(Task::Attempt)]);
    let said = story.on(Event::Attempted(found(1), GOOD));
    assert_eq!(said[0], Say(Report::Halted(Halt::NoWayBack)));
}
