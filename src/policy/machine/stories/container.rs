//! The same rules where there is no machine.

use super::*;

#[test]
fn a_container_without_a_host_is_idle() {
    let mut story = Story::new(Settings {
        host: None,
        ..CONTAINER
    });

    assert_eq!(story.on(Event::Booted), []);
    assert_eq!(story.on(Tick), []);
    assert_eq!(story.machine.stage(), Stage::Running);
    assert_eq!(story.machine.deadline(), None);
}

#[test]
fn a_container_mounts_what_the_config_asks_for_and_nothing_else() {
    let mut bare = Story::new(CONTAINER);
    assert_eq!(bare.on(Event::Booted), [Start(Host)]);

    let mut story = Story::new(MOUNTING);
    assert_eq!(story.on(Event::Booted), [Do(Mount(0))]);
    assert_eq!(story.on(Done(Mount(0), Outcome::Good)), [Do(Mount(1))]);
    // This one is optional.
    assert_eq!(story.on(Done(Mount(1), BAD)), [Do(Directories)]);
    assert_eq!(story.on(Done(Directories, BAD)), [Start(Host)]);
}

#[test]
fn a_container_that_a_required_mount_fails_ends_with_254() {
    let mut failed = Story::booted(MOUNTING);
    let mut late = Story::booted(MOUNTING);

    let ends = [
        Say(Report::Ending(Ending::PowerOff)),
        ExitWith(Ending::PowerOff, 254),
    ];
    assert_eq!(failed.on(Done(Mount(0), BAD)), ends);
    let given_up = [Abandon(Mount(0)), Say(Report::TooLong(Mount(0)))];
    assert_eq!(late.reach_deadline(90_000), [given_up, ends].concat());
}

#[test]
fn a_container_stops_by_any_classic_signal_and_exits_with_0() {
    for signal in [
        Signal::TERM,
        Signal::INT,
        Signal::USR1,
        Signal::USR2,
        Signal::PWR,
    ] {
        let mut story = Story::booted(CONTAINER);

        assert_eq!(
            story.on(Signaled(signal)),
            begins(ending(Ending::PowerOff)),
            "{signal}"
        );
        assert_eq!(
            story.end(Host, Exit::Code(3)),
            [ExitWith(Ending::PowerOff, 0)]
        );
    }
}

#[test]
fn a_container_is_restarted_only_by_real_time_signals() {
    // 133 for whoever can't be told by the kernel.

    for (n, how) in [(5, Ending::Reboot), (6, Ending::Kexec)] {
        let mut story = Story::booted(CONTAINER);
        story.on(Signaled(realtime(n)));

        assert_eq!(story.end(Host, Exit::Code(0)), [ExitWith(how, 133)]);
    }
}

#[test]
fn a_container_whose_host_had_to_be_killed_exits_with_137() {
    let mut late = Story::booted(CONTAINER);
    late.on(Signaled(Signal::TERM));
    late.reach_deadline(10_000);
    let mut at_once = Story::booted(CONTAINER);
    at_once.on(Signaled(realtime(14)));

    for story in [&mut late, &mut at_once] {
        assert_eq!(
            story.end(Host, by(Signal::KILL)),
            [ExitWith(Ending::PowerOff, 137)]
        );
    }
}

#[test]
fn a_container_whose_host_could_not_even_be_killed_exits_with_137() {
    let mut story = Story::booted(CONTAINER);
    story.on(Signaled(realtime(14)));

    assert_eq!(
        story.reach_deadline(5_000),
        [
            Say(Report::Unkillable(Host)),
            ExitWith(Ending::PowerOff, 137)
        ]
    );
}

#[test]
fn a_host_that_a_soft_reboot_had_to_kill_is_forgotten_by_the_exit_code() {
    let mut story = Story::booted(CONTAINER);
    story.on(Signaled(realtime(17)));
    assert_eq!(story.end(Host, by(Signal::KILL)), [Start(Host)]);
    story.on(Signaled(Signal::TERM));

    assert_eq!(
        story.end(Host, Exit::Code(0)),
        [ExitWith(Ending::PowerOff, 0)]
    );
}

#[test]
fn a_container_that_can_not_be_what_it_is_ends() {
    let mut story = Story::new(Settings {
        host: None,
        ..CONTAINER
    });

    assert_eq!(
        story.on(Event::BootFailed),
        [ending(Ending::PowerOff), ExitWith(Ending::PowerOff, 254)]
    );
}
