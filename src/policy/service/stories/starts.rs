//! How a service comes up, again and again.

use super::*;

#[test]
fn a_service_that_is_up_wakes_nobody() {
    let mut story = Story::up();

    assert_eq!(story.service.deadline(), None);
    assert_eq!(story.tick(), []);
    assert_eq!(story.start(), []);
    assert_eq!(story.empty(), []);
    assert_eq!(story.service.starts(), 1);
}

#[test]
fn a_service_that_fails_is_started_at_once_and_then_after_1_2_4_seconds() {
    let mut story = Story::up();

    story.pass(20);
    assert_eq!(
        story.exit(FAILED),
        [
            Clear(Host, Signal::KILL),
            Record(Host, FAILED, Cause::Itself)
        ]
    );
    assert_eq!(story.empty(), [Start(Host)]);

    for (failures, wait) in [(2, 1_000), (3, 2_000), (4, 4_000)] {
        story.pass(20);
        story.exit(FAILED);
        assert_eq!(story.empty(), [Say(Report::StartIn(Host, wait))]);
        assert_eq!(story.service.failures(), failures);
        assert_eq!(story.reach_deadline(wait.into()), [Start(Host)]);
    }
    assert_eq!(story.service.starts(), 5);
}

#[test]
fn the_wait_begins_with_the_end_and_not_with_the_sweep() {
    let mut story = Story::up();
    story.exit(FAILED);
    story.empty();
    story.exit(FAILED);

    story.pass(400);

    assert_eq!(story.empty(), [Say(Report::StartIn(Host, 600))]);
    assert_eq!(story.reach_deadline(600), [Start(Host)]);
}

#[test]
fn a_tick_before_the_wait_is_over_starts_nothing() {
    let mut story = Story::up();
    story.exit(FAILED);
    story.empty();
    story.exit(FAILED);
    story.empty();

    story.pass(999);
    assert_eq!(story.tick(), []);
    assert_eq!(story.start(), []);
    story.pass(1);
    assert_eq!(story.tick(), [Start(Host)]);
}

#[test]
fn a_service_is_not_started_while_something_of_it_is_left() {
    let mut story = Story::up();

    story.exit(FAILED);
    story.pass(4_999);

    assert_eq!(story.tick(), []);
    assert_eq!(story.start(), []);
    assert_eq!(story.empty(), [Start(Host)]);
}

#[test]
fn what_even_a_kill_does_not_clear_away_is_given_up_after_5_seconds() {
    let mut story = Story::up();

    story.exit(FAILED);

    assert_eq!(
        story.reach_deadline(5_000),
        [Say(Report::Unkillable(Host)), Start(Host)]
    );
    assert_eq!(story.empty(), []);
}

#[test]
fn a_start_without_a_process_is_tried_again_no_sooner_than_after_10_ms() {
    let mut story = Story::new(Rules {
        backoff: Backoff {
            first: Duration::ZERO,
            ..RULES.backoff
        },
        ..RULES
    });
    story.start();

    for _ in 0..100 {
        story.exit(Exit::Unstarted(NO_PROCESS));
        assert_eq!(story.empty(), [Say(Report::StartIn(Host, 10))]);
        assert_eq!(story.reach_deadline(10), [Start(Host)]);
    }
}

#[test]
fn whoever_starts_a_service_at_each_of_its_ends_still_waits_for_its_back_off() {
    let mut story = Story::new(Rules {
        restart: Restart::Never,
        ..RULES
    });
    story.start();
    story.exit(FAILED);
    assert_eq!(story.empty(), []);
    assert_eq!(story.start(), [Start(Host)]);

    story.exit(FAILED);
    assert_eq!(story.empty(), []);
    assert_eq!(story.service.deadline(), None);

    assert_eq!(story.start(), [Say(Report::StartIn(Host, 1_000))]);
    assert_eq!(story.start(), []);
    assert_eq!(story.reach_deadline(1_000), [Start(Host)]);
}

#[test]
fn a_start_after_a_stop_has_not_to_wait() {
    let mut story = Story::up();
    story.exit(FAILED);
    story.empty();
    story.exit(FAILED);
    story.empty();
    story.stop(Haste::Orderly);

    assert_eq!(story.start(), [Start(Host)]);
}

#[test]
fn a_retired_service_runs_to_its_end_and_no_further() {
    let mut up = Story::up();
    let mut sweeping = Story::up();
    sweeping.exit(FAILED);
    let mut waiting = Story::up();
    waiting.exit(FAILED);
    waiting.empty();
    waiting.exit(FAILED);
    waiting.empty();

    for story in [&mut up, &mut sweeping, &mut waiting] {
        story.service.retire();
    }

    assert!(waiting.service.is_gone());
    assert_eq!(sweeping.empty(), []);
    assert!(sweeping.service.is_gone());
    assert!(matches!(up.service.state(), State::Up { .. }));
    up.exit(FAILED);
    assert_eq!(up.empty(), []);
    assert!(up.service.is_gone());
}
