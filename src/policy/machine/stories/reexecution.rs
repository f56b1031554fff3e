//! host-init becomes itself again, and its host does not notice.

use super::*;

fn saved(story: &mut Story) -> Saved {
    match story.on(Signaled(realtime(25)))[..] {
        [Action::Reexecute(saved)] => saved,
        ref actions => panic!("{actions:?}"),
    }
}

fn is_refused(story: &mut Story) -> bool {
    story.on(Signaled(realtime(25))) == [refused(Request::Reexecute)]
}

/// The next life, at the same moment.
fn resumed(story: &Story, settings: Settings, host: Saved) -> Story {
    Story {
        machine: Machine::resume(settings, host, None),
        now: story.now,
        actions: Actions::new(),
    }
}

#[test]
fn the_next_life_goes_on_with_a_host_that_is_up() {
    let mut story = Story::running();
    let host = saved(&mut story);

    let mut next = resumed(&story, BARE, host);

    assert_eq!(next.on(Tick), []);
    assert_eq!(next.machine.stage(), Stage::Running);
    assert_eq!(next.machine.deadline(), None);
    assert_eq!(
        next.on(Signaled(Signal::TERM)),
        begins(ending(Ending::Reboot))
    );
}

#[test]
fn the_next_life_remembers_failures_and_uptime() {
    let mut story = Story::running();
    story.end(Host, FAILED);
    story.end(Host, FAILED);
    story.reach_deadline(1_000);
    story.pass(59_000);
    let host = saved(&mut story);
    let mut early = resumed(&story, BARE, host);
    let mut late = resumed(&story, BARE, host);
    late.pass(1_000);

    assert_eq!(early.end(Host, FAILED), [Say(Report::StartIn(Host, 2_000))]);
    assert_eq!(early.machine.host().starts(), 3);
    assert_eq!(late.end(Host, FAILED), [Start(Host)]);
}

#[test]
fn a_re_execution_that_fails_changes_nothing() {
    let mut story = Story::running();
    let before = story.machine;

    saved(&mut story);

    assert_eq!(story.machine, before);
}

#[test]
fn only_a_machine_whose_host_is_up_re_executes() {
    let mut booting = Story::booted(MACHINE);
    let mut rescue = Story::rescue(MACHINE);
    let mut sweeping = Story::running();
    sweeping.on(Exited(Host, FAILED));
    let mut waiting = Story::running();
    waiting.end(Host, FAILED);
    waiting.end(Host, FAILED);
    let mut stopping = Story::running();
    stopping.on(Signaled(Signal::TERM));

    for story in [
        &mut booting,
        &mut rescue,
        &mut sweeping,
        &mut waiting,
        &mut stopping,
        &mut Story::leaving(),
    ] {
        assert!(is_refused(story), "{:?}", story.machine.stage());
    }
}

#[test]
fn a_machine_with_a_shell_that_can_not_be_killed_does_not_re_execute() {
    let mut story = Story::rescue(Settings {
        mounts: 1,
        directories: false,
        ..MACHINE
    });
    story.on(Signaled(realtime(17)));
    story.reach_deadline(5_000);
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), [Start(Host)]);
    assert!(is_refused(&mut story));

    story.end(Rescue, by(Signal::KILL));

    saved(&mut story);
}

#[test]
fn a_host_whose_rules_only_this_life_knows_is_not_handed_over() {
    let mut story = Story::running();
    story.on(Reloaded(Settings { host: None, ..BARE }));

    assert!(is_refused(&mut story));
}

#[test]
fn a_host_that_the_next_life_has_no_rules_for_gets_term_and_ten_seconds() {
    let mut story = Story::running();
    let host = saved(&mut story);
    let mut next = resumed(&story, Settings { host: None, ..BARE }, host);

    assert_eq!(
        next.on(Signaled(Signal::USR2)),
        begins(ending(Ending::PowerOff))
    );
    assert_eq!(
        next.reach_deadline(10_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
}

#[test]
fn a_host_that_the_next_life_has_no_rules_for_is_missed_when_it_ends() {
    let mut story = Story::running();
    let host = saved(&mut story);
    let mut next = resumed(&story, Settings { host: None, ..BARE }, host);

    assert_eq!(next.end(Host, FAILED), [Say(Report::Rescue), Start(Rescue)]);
}
