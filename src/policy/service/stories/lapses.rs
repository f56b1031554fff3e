//! A service that does not do what it must.

use super::*;

const WATCHED: Rules = Rules {
    vigil: vigil::Rules {
        ready_within: Some(Duration::from_secs(90)),
        watchdog: Some(Duration::from_secs(20)),
    },
    stop_signal: Signal::INT,
    ..RULES
};

const NOTHING: Notice = Notice {
    is_ready: false,
    is_stopping: false,
    is_alive: false,
    is_lost: false,
    interval: None,
    extension: None,
};

const READY: Notice = Notice {
    is_ready: true,
    ..NOTHING
};

const LOST: Notice = Notice {
    is_lost: true,
    ..NOTHING
};

const ABORTED: Exit = by(Signal::ABRT);

impl Story {
    fn watched() -> Self {
        let mut story = Self::new(WATCHED);
        assert_eq!(story.start(), [Start(Host)]);
        story
    }

    fn says(&mut self, notice: Notice) -> Vec<Action> {
        self.service.notified(self.now, notice, &mut self.actions);
        taken(&mut self.actions)
    }
}

#[test]
fn who_is_not_ready_in_time_is_asked_and_then_killed_and_started_again() {
    let mut story = Story::watched();
    assert_eq!(story.service.ready_since(), None);

    assert_eq!(
        story.reach_deadline(90_000),
        [
            Say(Report::Unready(Host)),
            Send(Host, Signal::INT),
            Send(Host, Signal::CONT)
        ]
    );
    assert_eq!(
        story.reach_deadline(10_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(
        story.exit(by(Signal::KILL)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Unready)
        ]
    );
    // The first failure costs no wait.
    assert_eq!(story.empty(), [Start(Host)]);
    assert_eq!(story.service.failures(), 1);
    assert_eq!(story.service.ready_since(), None);
    assert_eq!(
        story.service.deadline(),
        Some(story.now.after(Duration::from_secs(90)))
    );
}

#[test]
fn who_ends_well_when_told_for_what_it_did_not_do_has_failed_all_the_same() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);

    assert_eq!(
        story.exit(Exit::Code(0)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, Exit::Code(0), Cause::Unready)
        ]
    );

    assert_eq!(story.service.failures(), 1);
}

#[test]
fn who_is_ready_and_not_heard_of_is_told_to_abort() {
    let mut story = Story::watched();
    story.pass(5_000);
    assert_eq!(story.says(READY), [Say(Report::Ready(Host))]);
    assert_eq!(story.service.ready_since(), Some(story.now));
    // It is no news twice.
    assert_eq!(story.says(READY), []);

    assert_eq!(
        story.reach_deadline(20_000),
        [
            Say(Report::Silent(Host)),
            Send(Host, Signal::ABRT),
            Send(Host, Signal::CONT)
        ]
    );
    assert_eq!(story.service.ready_since(), None);
    assert_eq!(
        story.exit(ABORTED),
        [
            Clear(Host, Signal::KILL),
            Record(Host, ABORTED, Cause::Watchdog)
        ]
    );
    assert_eq!(story.empty(), [Start(Host)]);
}

#[test]
fn who_says_that_it_is_lost_is_told_to_abort_at_once_whatever_is_asked_of_it() {
    let mut story = Story::up();

    assert_eq!(
        story.says(LOST),
        [
            Say(Report::Lost(Host)),
            Send(Host, Signal::ABRT),
            Send(Host, Signal::CONT)
        ]
    );
}

#[test]
fn who_says_that_it_ends_is_taken_at_its_word() {
    let mut story = Story::up();
    let stopping = Notice {
        is_stopping: true,
        ..NOTHING
    };

    assert_eq!(story.says(stopping), [Say(Report::Leaving(Host))]);
    // Once is enough.
    assert_eq!(story.says(stopping), []);

    assert_eq!(
        story.exit(Exit::Code(0)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, Exit::Code(0), Cause::Itself)
        ]
    );
}

#[test]
fn a_stop_of_one_that_fails_gives_it_no_more_time_and_keeps_it_down() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);
    story.pass(4_000);

    assert_eq!(story.stop(Haste::Orderly), []);

    assert_eq!(
        story.reach_deadline(6_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    story.exit(by(Signal::KILL));
    assert_eq!(story.empty(), []);
    assert!(story.service.is_gone());
}

#[test]
fn a_stop_at_once_of_one_that_fails_kills_it() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);

    assert_eq!(
        story.stop(Haste::AtOnce),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
}

#[test]
fn one_that_fails_and_was_killed_is_waited_for_by_a_stop_as_long_as_before() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);
    story.reach_deadline(10_000);
    story.pass(1_000);

    assert_eq!(story.stop(Haste::Orderly), []);

    assert_eq!(story.reach_deadline(4_000), [Say(Report::Unkillable(Host))]);
    assert!(story.service.is_gone());
}

#[test]
fn one_that_fails_and_can_not_be_killed_is_given_up_and_not_started_beside() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);
    story.reach_deadline(10_000);

    assert_eq!(story.reach_deadline(5_000), [Say(Report::Unkillable(Host))]);

    assert_eq!(story.service.state(), State::Stuck);
    assert_eq!(story.start(), []);
}

#[test]
fn who_fails_has_nothing_more_to_say() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);
    let before = story.service;

    for notice in [READY, LOST] {
        assert_eq!(story.says(notice), []);
    }
    assert_eq!(story.start(), []);
    assert_eq!(story.empty(), []);
    assert_eq!(story.hurry(0), []);
    assert_eq!(story.service.saved(story.now), None);

    assert_eq!(story.service, before);
}

#[test]
fn one_that_fails_and_is_in_the_config_no_more_is_not_started_again() {
    let mut story = Story::watched();
    story.reach_deadline(90_000);

    story.service.retire();
    story.exit(ABORTED);

    assert_eq!(story.empty(), []);
    assert!(story.service.is_gone());
}

#[test]
fn the_next_life_of_host_init_gives_the_whole_interval_once_more() {
    let mut story = Story::watched();
    story.says(READY);
    story.pass(15_000);

    let saved = story.service.saved(story.now).unwrap();
    let mut next = Story::new(WATCHED);
    next.now = story.now;
    next.service.resume(saved);

    assert_eq!(next.service.ready_since(), story.service.ready_since());
    assert_eq!(
        next.reach_deadline(20_000),
        [
            Say(Report::Silent(Host)),
            Send(Host, Signal::ABRT),
            Send(Host, Signal::CONT)
        ]
    );
}
