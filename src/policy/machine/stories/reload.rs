//! A new config while the machine is at work.

use super::*;

#[test]
fn a_reload_changes_rules_and_restarts_nothing() {
    let mut story = Story::running();
    assert_eq!(story.on(Signaled(Signal::HUP)), [Action::Reload]);
    let rules = Rules {
        stop_signal: Signal::QUIT,
        stop_grace: Duration::from_secs(3),
        ..RULES
    };
    let settings = Settings {
        host: Some(rules),
        ..BARE
    };

    assert_eq!(story.on(Reloaded(settings)), []);

    story.on(Signaled(Signal::TERM));
    assert_eq!(
        story.reach_deadline(3_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(story.machine.host().starts(), 1);
}

#[test]
fn a_reload_changes_what_signals_ask_for() {
    let mut story = Story::running();
    let signals = Signals {
        term: Asked::Ignore,
        ..Signals::BUILT_IN
    };
    story.on(Reloaded(Settings { signals, ..BARE }));

    assert_eq!(story.on(Signaled(Signal::TERM)), []);
    assert_eq!(story.machine.stage(), Stage::Running);
}

#[test]
fn a_reload_that_brings_a_host_starts_it() {
    let mut story = Story::booted(Settings {
        host: None,
        ..CONTAINER
    });

    assert_eq!(story.on(Reloaded(CONTAINER)), [Start(Host)]);
    assert_eq!(story.on(Reloaded(CONTAINER)), []);
}

#[test]
fn a_host_that_a_reload_takes_away_runs_to_its_end_and_is_then_missed() {
    let mut story = Story::running();

    assert_eq!(story.on(Reloaded(Settings { host: None, ..BARE })), []);
    assert_eq!(
        story.end(Host, FAILED),
        [Say(Report::Rescue), Start(Rescue)]
    );
}

#[test]
fn a_host_that_waits_when_a_reload_takes_it_away_is_missed_at_once() {
    let mut story = Story::running();
    story.end(Host, FAILED);
    story.end(Host, FAILED);

    assert_eq!(
        story.on(Reloaded(Settings { host: None, ..BARE })),
        [Say(Report::Rescue), Start(Rescue)]
    );
}

#[test]
fn a_host_that_two_reloads_take_and_give_back_is_kept_up() {
    let mut story = Story::running();
    story.on(Reloaded(Settings { host: None, ..BARE }));
    story.on(Reloaded(BARE));

    assert_eq!(story.end(Host, FAILED), [Start(Host)]);
}

#[test]
fn a_config_that_a_person_mends_in_the_rescue_shell_is_booted_from_its_start() {
    let mut story = Story::booted(Settings {
        required: 0b10,
        ..MACHINE
    });
    story.on(Done(Mount(0), Outcome::Good));
    story.on(Done(Mount(1), BAD));

    assert_eq!(story.on(Reloaded(MACHINE)), []);
    assert_eq!(story.end(Rescue, Exit::Code(0)), [Do(Mount(0))]);
}

#[test]
fn a_config_that_comes_while_a_mount_is_under_way_is_booted_from_its_start() {
    let mut story = Story::booted(MACHINE);
    story.on(Done(Mount(0), Outcome::Good));

    assert_eq!(story.on(Reloaded(MACHINE)), []);
    assert_eq!(story.on(Done(Mount(1), BAD)), [Do(Mount(0))]);
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), [Do(Mount(1))]);
}

#[test]
fn a_reload_is_refused_once_an_ending_is_under_way() {
    let mut story = Story::running();
    story.on(Signaled(realtime(7)));
    assert_eq!(story.on(Signaled(Signal::HUP)), [Action::Reload]);
    story.on(Signaled(Signal::TERM));

    assert_eq!(story.on(Signaled(Signal::HUP)), [refused(Request::Reload)]);
    assert_eq!(
        Story::leaving().on(Signaled(Signal::HUP)),
        [refused(Request::Reload)]
    );
}
