//! One host: its failures, and how it is stopped.

use super::*;

#[test]
fn a_host_that_fails_is_started_at_once_and_then_after_its_back_off() {
    let mut story = Story::running();

    assert_eq!(
        story.on(Exited(Host, FAILED)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, FAILED, Cause::Itself)
        ]
    );
    assert_eq!(story.on(Emptied(Host)), [Start(Host)]);
    assert_eq!(story.end(Host, FAILED), [Say(Report::StartIn(Host, 1_000))]);
    assert_eq!(story.reach_deadline(1_000), [Start(Host)]);
    assert_eq!(story.machine.deadline(), None);
}

#[test]
fn a_start_without_a_process_is_recorded_and_tried_again() {
    let mut story = Story::running();
    let unstarted = Exit::Unstarted(NO_PROCESS);

    assert_eq!(
        story.on(Event::Unstarted(Host, NO_PROCESS)),
        [
            Clear(Host, Signal::KILL),
            Record(Host, unstarted, Cause::Itself)
        ]
    );
    assert_eq!(story.on(Emptied(Host)), [Say(Report::StartIn(Host, 10))]);
}

#[test]
fn a_stop_during_the_back_off_leaves_at_once() {
    let mut story = Story::running();
    story.end(Host, FAILED);
    story.end(Host, FAILED);

    assert_eq!(
        story.on(Signaled(Signal::TERM)),
        [ending(Ending::Reboot), Leave(Ending::Reboot, Step::Kill)]
    );
}

#[test]
fn a_stop_while_a_mount_is_under_way_lets_it_be_done() {
    let mut story = Story::booted(MACHINE);

    assert_eq!(story.on(Signaled(Signal::USR2)), [ending(Ending::PowerOff)]);
    assert_eq!(
        story.on(Done(Mount(0), Outcome::Good)),
        [Leave(Ending::PowerOff, Step::Kill)]
    );
}

#[test]
fn a_mount_that_hangs_holds_a_stop_up_for_two_seconds() {
    let mut story = Story::booted(MACHINE);
    story.on(Signaled(Signal::USR2));

    assert_eq!(
        story.reach_deadline(2_000),
        [
            Abandon(Mount(0)),
            Say(Report::TooLong(Mount(0))),
            Leave(Ending::PowerOff, Step::Kill)
        ]
    );
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), []);
}

#[test]
fn a_stop_at_once_abandons_a_mount_that_is_under_way() {
    let mut story = Story::booted(MACHINE);

    assert_eq!(
        story.on(Signaled(realtime(14))),
        [
            Abandon(Mount(0)),
            ending(Ending::PowerOff),
            Leave(Ending::PowerOff, Step::Kill)
        ]
    );
}

#[test]
fn a_stop_before_the_boot_is_done_starts_nothing() {
    let mut story = Story::new(MACHINE);
    story.on(Signaled(Signal::TERM));

    assert_eq!(story.on(Event::Booted), []);
    assert!(matches!(story.machine.stage(), Stage::Leaving { .. }));
}

#[test]
fn the_ladder_is_term_then_grace_then_kill_then_sweep() {
    let mut story = Story::running();

    assert_eq!(
        story.on(Signaled(Signal::TERM)),
        begins(ending(Ending::Reboot))
    );
    assert_eq!(
        story.reach_deadline(10_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(
        story.on(Exited(Host, by(Signal::KILL))),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Timeout)
        ]
    );
    assert_eq!(story.on(Emptied(Host)), [Leave(Ending::Reboot, Step::Kill)]);
}

#[test]
fn leftovers_are_asked_after_the_orderly_end_and_killed_at_the_same_deadline() {
    let mut story = Story::running();
    story.on(Signaled(Signal::TERM));
    story.pass(9_000);

    assert_eq!(
        story.on(Exited(Host, Exit::Code(0))),
        [
            Clear(Host, Signal::TERM),
            Record(Host, Exit::Code(0), Cause::Stop)
        ]
    );
    assert_eq!(story.reach_deadline(1_000), [Kill(Host)]);
    assert_eq!(story.on(Emptied(Host)), [Leave(Ending::Reboot, Step::Kill)]);
}

#[test]
fn an_unkillable_host_does_not_keep_the_machine_from_ending() {
    let mut story = Story::running();
    story.on(Signaled(Signal::USR2));
    story.reach_deadline(10_000);

    assert_eq!(
        story.reach_deadline(5_000),
        [
            Say(Report::Unkillable(Host)),
            Leave(Ending::PowerOff, Step::Kill)
        ]
    );
    assert_eq!(
        story.on(Exited(Host, by(Signal::KILL))),
        [
            Clear(Host, Signal::KILL),
            Record(Host, by(Signal::KILL), Cause::Timeout)
        ]
    );
}

#[test]
fn the_end_of_a_rescue_shell_that_was_stopped_does_not_go_on_with_the_boot() {
    let mut story = Story::rescue(MACHINE);
    story.on(Signaled(Signal::TERM));

    assert_eq!(
        story.end(Rescue, Exit::Code(0)),
        [Leave(Ending::Reboot, Step::Kill)]
    );
}

#[test]
fn a_machine_waits_for_the_last_of_its_services() {
    let mut story = Story::rescue(MACHINE);
    story.on(Signaled(Signal::TERM));

    assert_eq!(story.on(Emptied(Host)), []);
    assert_eq!(story.on(Tick), []);
    assert!(matches!(story.machine.stage(), Stage::Stopping { .. }));
}
