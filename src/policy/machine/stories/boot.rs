//! Mounts, directories, the host; the rescue shell and the count-down.

use super::*;

#[test]
fn a_boot_mounts_in_order_then_makes_directories_then_starts_the_host() {
    let mut story = Story::new(MACHINE);

    assert_eq!(story.on(Event::Booted), [Do(Mount(0))]);
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), [Do(Mount(1))]);
    assert_eq!(story.on(Done(Mount(1), Outcome::Good)), [Do(Directories)]);
    assert_eq!(story.on(Done(Directories, Outcome::Good)), [Start(Host)]);
    assert_eq!(story.machine.stage(), Stage::Running);
    assert_eq!(story.machine.deadline(), None);
}

#[test]
fn what_is_told_twice_happens_once() {
    let mut story = Story::booted(MACHINE);

    assert_eq!(story.on(Event::Booted), []);
    story.on(Done(Mount(0), Outcome::Good));
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), []);
    assert_eq!(story.on(Done(Directories, Outcome::Good)), []);
}

#[test]
fn an_optional_mount_and_a_directory_that_fail_are_done_without() {
    let mut story = Story::booted(MACHINE);
    story.on(Done(Mount(0), Outcome::Good));

    assert_eq!(story.on(Done(Mount(1), BAD)), [Do(Directories)]);
    assert_eq!(story.on(Done(Directories, BAD)), [Start(Host)]);
}

#[test]
fn a_mount_that_hangs_is_abandoned_at_its_bound() {
    let mut story = Story::booted(MACHINE);
    story.on(Done(Mount(0), Outcome::Good));
    story.pass(89_999);
    assert_eq!(story.on(Tick), []);

    assert_eq!(
        story.reach_deadline(1),
        [
            Abandon(Mount(1)),
            Say(Report::TooLong(Mount(1))),
            Do(Directories)
        ]
    );
    assert_eq!(story.on(Done(Mount(1), Outcome::Good)), []);
}

#[test]
fn a_required_mount_that_hangs_needs_a_person() {
    let mut story = Story::booted(MACHINE);

    assert_eq!(
        story.reach_deadline(90_000),
        [
            Abandon(Mount(0)),
            Say(Report::TooLong(Mount(0))),
            Say(Report::Rescue),
            Start(Rescue)
        ]
    );
    assert_eq!(story.machine.deadline(), None);
}

#[test]
fn the_end_of_the_rescue_shell_tries_the_failed_mount_again() {
    let mut story = Story::rescue(MACHINE);
    story.pass(60_000);

    assert_eq!(story.end(Rescue, Exit::Code(0)), [Do(Mount(0))]);
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), [Do(Mount(1))]);
}

#[test]
fn a_later_mount_that_failed_is_tried_again_without_those_before_it() {
    let mut story = Story::booted(Settings {
        required: 0b10,
        ..MACHINE
    });
    story.on(Done(Mount(0), Outcome::Good));
    story.on(Done(Mount(1), BAD));
    story.pass(60_000);

    assert_eq!(story.end(Rescue, Exit::Code(0)), [Do(Mount(1))]);
}

#[test]
fn a_rescue_shell_that_rests_holds_the_boot_up() {
    let mut story = Story::rescue(MACHINE);
    story.end(Rescue, FAILED);
    story.on(Done(Mount(0), BAD));
    story.end(Rescue, FAILED);
    story.pass(1);

    assert_eq!(
        story.on(Done(Mount(0), BAD)),
        [Say(Report::Rescue), Say(Report::StartIn(Rescue, 999))]
    );
    assert_eq!(story.on(Tick), []);
    assert_eq!(story.reach_deadline(999), [Start(Rescue)]);
}

#[test]
fn a_rescue_shell_that_can_not_be_executed_takes_no_processor() {
    for settings in [MACHINE, Settings { host: None, ..BARE }] {
        let mut story = Story::new(settings);
        let mut todo = story.on(Event::Booted);
        let start = story.now;
        let mut starts = 0;

        while story.now < start.after(Duration::from_secs(60)) {
            let mut echoes = Vec::new();
            for action in todo {
                match action {
                    Start(id) => {
                        starts += 1;
                        echoes.push(Event::Unstarted(id, NO_PROCESS));
                    }
                    Clear(id, _) => echoes.push(Emptied(id)),
                    Do(task) => echoes.push(Done(task, BAD)),
                    _ => {}
                }
            }
            if echoes.is_empty() {
                let deadline = story.machine.deadline().unwrap();
                assert!(deadline > story.now);
                story.now = deadline;
                echoes.push(Tick);
            }
            todo = echoes
                .into_iter()
                .flat_map(|event| story.on(event))
                .collect();
            assert!(starts < 20, "{starts} starts");
        }

        assert!(starts > 5, "{starts} starts");
    }
}

#[test]
fn without_a_shell_the_machine_counts_down_and_reboots() {
    let facts = Facts {
        shell: Shell::Missing,
        ..MACHINE.facts
    };
    let mut story = Story::booted(Settings { facts, ..MACHINE });

    assert_eq!(
        story.on(Done(Mount(0), BAD)),
        [Say(Report::Rescue), Say(Report::Hopeless)]
    );
    story.pass(9_999);
    assert_eq!(story.on(Tick), []);
    assert_eq!(
        story.reach_deadline(1),
        [ending(Ending::Reboot), Leave(Ending::Reboot, Step::Kill)]
    );
}

#[test]
fn without_a_shell_and_with_panic_0_the_machine_stays_until_it_is_asked() {
    let facts = Facts {
        shell: Shell::Missing,
        hopeless: Hopeless::Stay,
        ..MACHINE.facts
    };
    let mut story = Story::booted(Settings { facts, ..MACHINE });
    story.on(Done(Mount(0), BAD));

    assert_eq!(story.machine.stage(), Stage::Hopeless { until: None });
    assert_eq!(story.machine.deadline(), None);
    assert_eq!(
        story.on(Signaled(Signal::USR2)),
        [
            ending(Ending::PowerOff),
            Leave(Ending::PowerOff, Step::Kill)
        ]
    );
}

#[test]
fn a_machine_without_a_host_gives_a_person_one_shell_after_the_other() {
    let mut story = Story::new(Settings { host: None, ..BARE });

    assert_eq!(
        story.on(Event::Booted),
        [Say(Report::Rescue), Start(Rescue)]
    );
    story.pass(60_000);
    assert_eq!(story.end(Rescue, Exit::Code(0)), [Start(Rescue)]);
}

#[test]
fn a_shell_that_was_asked_for_comes_first_and_the_boot_after_it() {
    let facts = Facts {
        shell: Shell::First,
        ..MACHINE.facts
    };
    let mut story = Story::new(Settings { facts, ..MACHINE });

    assert_eq!(
        story.on(Event::Booted),
        [Say(Report::Rescue), Start(Rescue)]
    );
    assert_eq!(story.end(Rescue, Exit::Code(0)), [Do(Mount(0))]);
}

#[test]
fn the_shell_that_was_asked_for_gives_way_to_a_host_with_nothing_to_mount() {
    let facts = Facts {
        shell: Shell::First,
        ..BARE.facts
    };
    let mut story = Story::booted(Settings { facts, ..BARE });

    assert_eq!(story.end(Rescue, Exit::Code(0)), [Start(Host)]);
}

#[test]
fn a_rescue_shell_that_is_stopped_gets_hup_and_one_second() {
    let mut story = Story::rescue(MACHINE);

    assert_eq!(
        story.on(Signaled(Signal::TERM)),
        [
            ending(Ending::Reboot),
            Send(Rescue, Signal::HUP),
            Send(Rescue, Signal::CONT)
        ]
    );
    assert_eq!(
        story.reach_deadline(1_000),
        [Say(Report::Stubborn(Rescue)), Kill(Rescue)]
    );
    assert_eq!(
        story.end(Rescue, by(Signal::KILL)),
        [Leave(Ending::Reboot, Step::Kill)]
    );
}

#[test]
fn a_third_request_kills_a_rescue_shell_before_its_second_is_over() {
    let mut story = Story::rescue(MACHINE);
    for _ in 0..2 {
        story.on(Signaled(Signal::TERM));
    }

    assert_eq!(
        story.on(Signaled(Signal::TERM)),
        [
            Say(Report::Hurried),
            Say(Report::Stubborn(Rescue)),
            Kill(Rescue)
        ]
    );
}

#[test]
fn a_shell_that_can_not_be_killed_counts_as_none() {
    let mut story = Story::rescue(MACHINE);
    story.on(Signaled(realtime(17)));
    assert_eq!(
        story.reach_deadline(5_000),
        [Say(Report::Unkillable(Rescue)), Do(Mount(0))]
    );

    assert_eq!(
        story.on(Done(Mount(0), BAD)),
        [Say(Report::Rescue), Say(Report::Hopeless)]
    );
    assert!(story.machine.deadline().is_some());
}
