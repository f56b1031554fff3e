//! The last steps, and the children that take them.

use super::*;

#[test]
fn a_step_of_the_ending_that_takes_too_long_is_given_up_and_the_next_begins() {
    let mut story = Story::leaving();

    let bounds = [
        (Step::Kill, 5_000, Step::Unmount),
        (Step::Unmount, 10_000, Step::Sync),
        (Step::Sync, 30_000, Step::Reboot),
        (Step::Reboot, 60_000, Step::Force),
        (Step::Force, 60_000, Step::Reboot),
    ];
    for (step, bound, next) in bounds {
        assert_eq!(story.reach_deadline(bound), [Look]);
        assert_eq!(
            story.on(LeavingAt(step)),
            [Say(Report::StepTooLong(step)), Leave(Ending::Reboot, next)]
        );
    }
}

#[test]
fn a_step_that_was_begun_meanwhile_has_its_own_time() {
    let mut story = Story::leaving();
    story.pass(4_999);
    assert_eq!(story.on(Tick), []);
    assert_eq!(story.reach_deadline(1), [Look]);

    assert_eq!(story.on(LeavingAt(Step::Sync)), []);
    assert_eq!(story.reach_deadline(30_000), [Look]);
    assert_eq!(
        story.on(LeavingAt(Step::Sync)),
        [
            Say(Report::StepTooLong(Step::Sync)),
            Leave(Ending::Reboot, Step::Reboot)
        ]
    );
}

#[test]
fn a_leaver_that_ended_is_followed_by_one_behind_the_step_it_was_at() {
    let mut story = Story::leaving();

    assert_eq!(
        story.on(LeaverEnded(Step::Unmount)),
        [Leave(Ending::Reboot, Step::Sync)]
    );
    assert_eq!(story.on(LeaverEnded(Step::Kill)), []);
    assert_eq!(
        story.on(LeaverEnded(Step::Sync)),
        [Leave(Ending::Reboot, Step::Reboot)]
    );
}

#[test]
fn a_kernel_that_refuses_every_step_is_asked_once_a_minute() {
    let mut story = Story::leaving();
    assert_eq!(story.on(LeaverEnded(Step::Force)), []);

    for _ in 0..3 {
        story.pass(59_999);
        assert_eq!(story.on(LeaverEnded(Step::Force)), []);
        assert_eq!(story.reach_deadline(1), [Look]);
        assert_eq!(
            story.on(LeavingAt(Step::Force)),
            [
                Say(Report::StepTooLong(Step::Force)),
                Leave(Ending::Reboot, Step::Reboot)
            ]
        );
        assert_eq!(story.on(LeaverEnded(Step::Force)), []);
    }
}

#[test]
fn a_power_off_replaces_a_reboot_until_the_kernel_was_asked() {
    let mut early = Story::leaving();
    early.on(LeaverEnded(Step::Kill));
    let mut late = Story::leaving();
    late.on(LeaverEnded(Step::Sync));

    assert_eq!(
        early.on(Signaled(Signal::USR2)),
        [
            ending(Ending::PowerOff),
            Leave(Ending::PowerOff, Step::Unmount)
        ]
    );
    assert_eq!(early.on(Signaled(Signal::USR2)), []);
    assert_eq!(
        late.on(Signaled(Signal::USR2)),
        [refused(Request::End(Ending::PowerOff, Haste::Orderly))]
    );
}

#[test]
fn what_is_not_a_power_off_is_refused_while_leaving() {
    let mut story = Story::leaving();

    assert_eq!(story.on(Signaled(Signal::TERM)), []);
    assert_eq!(
        story.on(Signaled(Signal::USR1)),
        [refused(Request::End(Ending::Halt, Haste::Orderly))]
    );
    assert_eq!(
        story.on(Signaled(realtime(7))),
        [refused(Request::Again(Haste::Orderly))]
    );
}

#[test]
fn who_has_not_left_is_at_no_step() {
    let mut story = Story::running();

    assert_eq!(story.on(LeavingAt(Step::Sync)), []);
    assert_eq!(story.on(LeaverEnded(Step::Sync)), []);
    assert_eq!(story.machine.stage(), Stage::Running);
}
