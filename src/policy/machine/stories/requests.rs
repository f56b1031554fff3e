//! What signals ask for, again and against each other.

use super::*;

#[test]
fn the_second_same_request_leaves_two_seconds_and_the_third_none() {
    let mut story = Story::running();
    story.on(Signaled(Signal::USR2));

    assert_eq!(story.on(Signaled(Signal::USR2)), [Say(Report::Hurried)]);
    story.pass(500);
    assert_eq!(
        story.machine.deadline(),
        Some(story.now.after(Duration::from_millis(1_500)))
    );
    assert_eq!(
        story.on(Signaled(Signal::USR2)),
        [
            Say(Report::Hurried),
            Say(Report::Stubborn(Host)),
            Kill(Host)
        ]
    );
}

#[test]
fn the_two_seconds_of_a_second_request_are_kept_to() {
    let mut story = Story::running();
    story.on(Signaled(Signal::PWR));
    story.on(Signaled(realtime(4)));

    assert_eq!(
        story.reach_deadline(2_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
}

#[test]
fn the_eighth_ctrl_alt_del_kills_though_its_own_request_is_refused() {
    let mut story = Story::running();
    story.on(Signaled(Signal::USR2));
    let reboot = Request::End(Ending::Reboot, Haste::Orderly);

    for _ in 0..7 {
        story.pass(200);
        assert_eq!(story.on(Signaled(Signal::INT)), [refused(reboot)]);
    }
    assert_eq!(
        story.on(Signaled(Signal::INT)),
        [
            refused(reboot),
            Say(Report::Hurried),
            Say(Report::Stubborn(Host)),
            Kill(Host)
        ]
    );
}

#[test]
fn an_ignored_ctrl_alt_del_hurries_nothing() {
    for int in [Asked::Ignore, Asked::Reload] {
        let signals = Signals {
            int,
            ..Signals::BUILT_IN
        };
        let mut story = Story::booted(Settings { signals, ..BARE });
        story.on(Signaled(realtime(7)));

        for _ in 0..20 {
            let actions = story.on(Signaled(Signal::INT));
            assert!(!actions.contains(&Kill(Host)), "{actions:?}");
        }
    }
}

#[test]
fn a_power_off_replaces_a_reboot_and_leaves_services_their_time() {
    let mut story = Story::running();
    story.on(Signaled(Signal::TERM));
    story.pass(1_000);

    assert_eq!(story.on(Signaled(Signal::USR2)), [ending(Ending::PowerOff)]);
    assert_eq!(
        story.reach_deadline(9_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
    assert_eq!(
        story.end(Host, by(Signal::KILL)),
        [Leave(Ending::PowerOff, Step::Kill)]
    );
}

#[test]
fn a_power_off_at_once_replaces_a_reboot_and_kills() {
    let mut story = Story::running();
    story.on(Signaled(Signal::TERM));

    assert_eq!(
        story.on(Signaled(realtime(14))),
        [
            ending(Ending::PowerOff),
            Say(Report::Hurried),
            Say(Report::Stubborn(Host)),
            Kill(Host)
        ]
    );
}

#[test]
fn a_request_that_replaces_another_is_a_first_one() {
    let mut story = Story::running();
    story.on(Signaled(Signal::TERM));
    story.on(Signaled(Signal::USR2));

    assert_eq!(story.on(Signaled(Signal::USR2)), [Say(Report::Hurried)]);
    assert_eq!(
        story.reach_deadline(2_000),
        [Say(Report::Stubborn(Host)), Kill(Host)]
    );
}

#[test]
fn nothing_replaces_a_power_off() {
    let others = [
        (Signal::TERM, Ending::Reboot, Haste::Orderly),
        (Signal::USR1, Ending::Halt, Haste::Orderly),
        (realtime(6), Ending::Kexec, Haste::Orderly),
        (realtime(15), Ending::Reboot, Haste::AtOnce),
    ];
    let mut story = Story::running();
    story.on(Signaled(Signal::USR2));

    for (signal, ending, haste) in others {
        let request = Request::End(ending, haste);
        assert_eq!(story.on(Signaled(signal)), [refused(request)]);
    }
    assert_eq!(
        story.on(Signaled(realtime(7))),
        [refused(Request::Again(Haste::Orderly))]
    );
    assert_eq!(
        story.end(Host, Exit::Code(0)),
        [Leave(Ending::PowerOff, Step::Kill)]
    );
    assert_eq!(
        story.on(Signaled(Signal::TERM)),
        [refused(Request::End(Ending::Reboot, Haste::Orderly))]
    );
}

#[test]
fn a_reboot_a_halt_and_a_loaded_kernel_do_not_replace_each_other() {
    let requests = [
        (Signal::TERM, Ending::Reboot),
        (Signal::USR1, Ending::Halt),
        (realtime(6), Ending::Kexec),
    ];
    for (first, under_way) in requests {
        let mut story = Story::running();
        story.on(Signaled(first));
        for (other, _) in requests.into_iter().filter(|(other, _)| *other != first) {
            assert!(matches!(
                story.on(Signaled(other))[..],
                [Say(Report::Refused(_))]
            ));
        }
        assert_eq!(
            story.end(Host, Exit::Code(0)),
            [Leave(under_way, Step::Kill)]
        );
    }
}

#[test]
fn a_real_time_signal_above_12_kills_at_once_and_still_syncs() {
    let endings = [
        (13, Ending::Halt),
        (14, Ending::PowerOff),
        (15, Ending::Reboot),
        (16, Ending::Kexec),
    ];
    for (n, how) in endings {
        let mut story = Story::running();

        assert_eq!(story.on(Signaled(realtime(n))), [ending(how), Kill(Host)]);
        assert_eq!(story.end(Host, by(Signal::KILL)), [Leave(how, Step::Kill)]);
    }
}

#[test]
fn how_much_is_logged_can_be_asked_for_at_any_time() {
    for mut story in [Story::running(), Story::leaving()] {
        assert_eq!(
            story.on(Signaled(realtime(22))),
            [Action::SetVerbosity(Verbosity::Debug)]
        );
        assert_eq!(
            story.on(Signaled(realtime(23))),
            [Action::SetVerbosity(Verbosity::Configured)]
        );
    }
}

#[test]
fn a_signal_that_means_nothing_changes_nothing() {
    let mut story = Story::running();
    let before = story.machine;

    for signal in [Signal::QUIT, Signal::ALRM, Signal::WINCH, realtime(30)] {
        assert_eq!(story.on(Signaled(signal)), []);
    }

    assert_eq!(story.machine, before);
}
