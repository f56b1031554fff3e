//! How a service is brought down.

use super::*;

#[test]
fn a_stop_during_the_wait_starts_nothing() {
    let mut story = Story::up();
    story.exit(FAILED);
    story.empty();
    story.exit(FAILED);
    story.empty();

    assert_eq!(story.stop(Haste::Orderly), []);

    assert!(story.service.is_gone());
    assert_eq!(story.service.deadline(), None);
}

#[test]
fn a_stop_during_a_sweep_starts_nothing_after_it() {
    let mut story = Story::up();
    story.exit(FAILED);

    assert_eq!(story.stop(Haste::Orderly), []);
    assert!(!story.service.is_gone());
    assert_eq!(story.empty(), []);

    assert!(story.service.is_gone());
}

#[test]
fn an_orderly_stop_is_the_stop_signal_and_then_a_continue() {
    let mut story = Story::new(Rules {
        stop_signal: Signal::INT,
        ..RULES
    });
    story.start();

    assert_eq!(
        story.stop(Haste::Orderly),
        [Send(Host, Signal::INT), Send(Host, Signal::CONT)]
    );
    story.pass(300);
    assert_eq!(
        story.exit(Exit::Code(0)),
        [
            Clear(Host, Signal::TERM),
            Record(Host, Exit::Code(0), Cause::Stop)
        ]
    );
    assert!(!story.service.is_gone());
    assert_eq!(story.empty(), []);
    assert!(story.service.is_gone());
}

#[test]
fn who_ignores_the_stop_signal_is_killed_at_the_deadline_and_no_sooner() {
    let mut story = Story::up();
    story.stop(Haste::Orderly);

    story.pass(9_999);
    assert_eq!(story.tick(), []);
    assert_eq!(
        story.reach_deadline(1),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(
        story.exit(by(Signal::KILL)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Timeout)
        ]
    );
    story.empty();
    assert!(story.service.is_gone());
}

#[test]
fn leftovers_are_killed_at_the_deadline_that_the_main_process_had() {
    let mut story = Story::up();
    story.stop(Haste::Orderly);
    story.pass(4_000);

    story.exit(Exit::Code(0));

    assert_eq!(story.reach_deadline(6_000), [Kill(Host)]);
    assert!(!story.service.is_gone());
    assert_eq!(story.reach_deadline(5_000), [Say(Report::Unkillable(Host))]);
    assert!(story.service.is_gone());
    assert_eq!(story.service.deadline(), None);
}

#[test]
fn a_stop_at_once_kills_without_asking() {
    let mut story = Story::up();

    assert_eq!(story.stop(Haste::AtOnce), [Kill(Host)]);
    assert_eq!(
        story.exit(by(Signal::KILL)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Stop)
        ]
    );
    story.empty();

    assert!(story.service.is_gone());
}

#[test]
fn a_second_stop_at_once_kills_what_was_only_asked() {
    let mut asked = Story::up();
    asked.stop(Haste::Orderly);
    let mut sweeping = Story::up();
    sweeping.stop(Haste::Orderly);
    sweeping.exit(Exit::Code(0));

    assert_eq!(
        asked.stop(Haste::AtOnce),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(sweeping.stop(Haste::AtOnce), [Kill(Host)]);
}

#[test]
fn hurrying_never_gives_more_time() {
    let mut story = Story::up();
    story.stop(Haste::Orderly);
    story.pass(9_000);

    assert_eq!(story.hurry(2_000), []);

    assert_eq!(
        story.reach_deadline(1_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(story.hurry(0), []);
}

#[test]
fn hurrying_what_is_killed_already_leaves_the_kernel_its_time() {
    let mut story = Story::up();
    story.exit(FAILED);
    story.stop(Haste::Orderly);

    assert_eq!(story.hurry(0), []);

    assert_eq!(story.reach_deadline(5_000), [Say(Report::Unkillable(Host))]);
}

#[test]
fn one_that_can_not_be_killed_is_given_up_and_not_started_beside() {
    let mut story = Story::up();
    story.stop(Haste::AtOnce);

    assert_eq!(story.reach_deadline(5_000), [Say(Report::Unkillable(Host))]);

    assert_eq!(story.service.state(), State::Stuck);
    assert!(story.service.is_gone());
    assert_eq!(story.service.deadline(), None);
    assert_eq!(story.start(), []);
    assert_eq!(story.stop(Haste::AtOnce), []);
}

#[test]
fn the_late_end_of_one_that_could_not_be_killed_is_written_down() {
    let mut story = Story::up();
    story.stop(Haste::AtOnce);
    story.reach_deadline(5_000);

    assert_eq!(
        story.exit(by(Signal::KILL)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Timeout)
        ]
    );
    assert_eq!(story.start(), []);
    assert_eq!(story.reach_deadline(5_000), [Say(Report::Unkillable(Host))]);

    assert_eq!(story.start(), [Start(Host)]);
}

#[test]
fn an_end_that_crosses_the_kill_is_written_down_as_it_was() {
    let mut story = Story::up();
    story.stop(Haste::Orderly);
    story.reach_deadline(10_000);

    assert_eq!(
        story.exit(Exit::Code(7)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, Exit::Code(7), Cause::Timeout)
        ]
    );
}

#[test]
fn a_stop_of_one_that_is_down_does_nothing() {
    let mut story = Story::new(RULES);

    assert_eq!(story.stop(Haste::Orderly), []);
    assert_eq!(story.exit(FAILED), []);
    assert_eq!(story.empty(), []);

    assert!(story.service.is_gone());
}

#[test]
fn new_rules_hold_from_the_next_stop_and_leave_the_one_under_way() {
    let mut story = Story::up();
    let slow = Rules {
        stop_grace: Duration::from_secs(20),
        ..RULES
    };
    story.service.set_rules(slow);
    story.stop(Haste::Orderly);
    story.service.set_rules(RULES);

    assert_eq!(
        story.reach_deadline(20_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
}
