//! What an entrypoint does, told in order.

use super::*;

fn at(millis: u64) -> Instant {
    Instant::BOOT.after(Duration::from_millis(1_000_000 + millis))
}

fn sent(signal: Signal) -> Event {
    Event::Signaled {
        signal,
        is_kernels: false,
    }
}

fn pressed(signal: Signal) -> Event {
    Event::Signaled {
        signal,
        is_kernels: true,
    }
}

const fn killed(signal: Signal) -> Exit {
    Exit::Signal {
        signal,
        dumped: false,
    }
}

fn plain() -> Entrypoint {
    Entrypoint::new(Rules::PLAIN)
}

fn with(change: impl FnOnce(&mut Rules)) -> Entrypoint {
    let mut rules = Rules::PLAIN;
    change(&mut rules);
    Entrypoint::new(rules)
}

#[test]
fn every_signal_but_that_of_children_is_forwarded_as_it_is() {
    for number in 1..=64 {
        let Some(signal) = Signal::from_number(number) else {
            continue;
        };
        let expected: &[Action] = if signal == Signal::CHLD {
            &[]
        } else {
            &[Action::Send(Target::Command, signal)]
        };

        assert_eq!(plain().handle(at(0), sent(signal)), expected, "{signal}");
    }
}

#[test]
fn without_a_grace_nothing_is_ever_due() {
    let mut entrypoint = plain();

    entrypoint.handle(at(0), sent(Signal::TERM));

    assert_eq!(entrypoint.deadline(), None);
}

#[test]
fn the_grace_begins_with_the_first_signal_that_asks_for_an_end_and_is_over_once() {
    let mut entrypoint = with(|rules| rules.kill_after = Some(Duration::from_secs(5)));

    entrypoint.handle(at(0), sent(Signal::USR1));
    assert_eq!(entrypoint.deadline(), None);
    entrypoint.handle(at(1_000), sent(Signal::INT));
    entrypoint.handle(at(3_000), sent(Signal::TERM));

    assert_eq!(entrypoint.deadline(), Some(at(6_000)));
    assert_eq!(entrypoint.handle(at(5_999), Event::Tick), []);
    assert_eq!(
        entrypoint.handle(at(6_000), Event::Tick),
        [Action::Send(Target::Command, Signal::KILL)]
    );
    assert_eq!(entrypoint.deadline(), None);
}

#[test]
fn a_group_is_killed_whole_and_its_command_though_it_left_it() {
    let mut entrypoint = with(|rules| {
        rules.target = Target::Group;
        rules.kill_after = Some(Duration::ZERO);
    });

    entrypoint.handle(at(0), sent(Signal::TERM));

    assert_eq!(
        entrypoint.handle(at(0), Event::Tick),
        [
            Action::Send(Target::Group, Signal::KILL),
            Action::Send(Target::Command, Signal::KILL)
        ]
    );
}

#[test]
fn each_stop_signal_of_a_runtime_begins_the_grace() {
    let nspawns = Signal::realtime(3).unwrap();
    for signal in [
        Signal::TERM,
        Signal::INT,
        Signal::QUIT,
        Signal::PWR,
        nspawns,
        Signal::USR2,
    ] {
        let mut entrypoint = with(|rules| {
            rules.kill_after = Some(Duration::from_secs(1));
            rules.stop_signal = Some(Signal::USR2);
        });

        entrypoint.handle(at(0), sent(signal));

        assert_eq!(entrypoint.deadline(), Some(at(1_000)), "{signal}");
    }
}

#[test]
fn a_rewritten_signal_is_another_and_a_dropped_one_none() {
    let mut entrypoint = with(|rules| {
        rules.rewrites.set(Signal::TERM, Some(Signal::QUIT));
        rules.rewrites.set(Signal::HUP, None);
    });

    assert_eq!(
        entrypoint.handle(at(0), sent(Signal::TERM)),
        [Action::Send(Target::Command, Signal::QUIT)]
    );
    assert_eq!(entrypoint.handle(at(0), sent(Signal::HUP)), []);
    assert_eq!(
        entrypoint.handle(at(0), sent(Signal::QUIT)),
        [Action::Send(Target::Command, Signal::QUIT)]
    );
}

#[test]
fn the_end_of_the_command_is_the_end() {
    for (exit, code) in [
        (Exit::Code(0), 0),
        (Exit::Code(255), 255),
        (killed(Signal::KILL), 137),
        (killed(Signal::realtime(30).unwrap()), 192),
    ] {
        assert_eq!(
            plain().handle(at(0), Event::Ended(exit)),
            [Action::Exit(code)]
        );
    }
}

#[test]
fn a_code_becomes_what_was_said_last() {
    let mut codes = Codes::NONE;
    assert!(codes.set(143, 0));
    assert!(codes.set(1, 42));
    assert!(codes.set(1, 43));
    assert!(codes.set(7, 0));
    assert!(codes.set(7, 8));

    for code in 0..=u8::MAX {
        let expected = match code {
            143 => 0,
            1 => 43,
            7 => 8,
            other => other,
        };
        assert_eq!(codes.get(code), expected);
    }
}

#[test]
fn every_code_can_be_forgiven_and_sixteen_changed() {
    let mut codes = Codes::NONE;
    for code in 0..=u8::MAX {
        assert!(codes.set(code, 0));
    }
    assert!((0..=u8::MAX).all(|code| codes.get(code) == 0));

    for code in 1..=16 {
        assert!(codes.set(code, 200));
    }
    assert!(!codes.set(17, 200));
}

#[test]
fn what_the_command_left_is_told_to_end_and_killed_at_its_deadline() {
    let mut entrypoint = with(|rules| {
        rules.others = Others::Stopped;
        rules.kill_after = Some(Duration::from_secs(3));
    });

    entrypoint.handle(at(0), sent(Signal::TERM));
    assert_eq!(
        entrypoint.handle(at(1_000), Event::Ended(Exit::Code(9))),
        [
            Action::LookForOthers,
            Action::Send(Target::Others, Signal::TERM),
            Action::Send(Target::Others, Signal::CONT),
        ]
    );
    assert_eq!(entrypoint.deadline(), Some(at(3_000)));
    assert_eq!(
        entrypoint.handle(at(3_000), Event::Tick),
        [Action::Send(Target::Others, Signal::KILL)]
    );
    assert_eq!(
        entrypoint.handle(at(3_001), Event::Alone),
        [Action::Exit(9)]
    );
}

#[test]
fn what_is_adopted_after_the_deadline_is_killed_and_before_it_has_its_time() {
    let mut entrypoint = with(|rules| rules.others = Others::Stopped);

    assert_eq!(entrypoint.handle(at(0), Event::Reaped), []);
    entrypoint.handle(at(0), Event::Ended(Exit::Code(0)));
    assert_eq!(entrypoint.handle(at(4_999), Event::Reaped), []);
    entrypoint.handle(at(5_000), Event::Tick);
    for millis in [5_001, 5_500, 6_999] {
        assert_eq!(
            entrypoint.handle(at(millis), Event::Reaped),
            [Action::Send(Target::Adopted, Signal::KILL)]
        );
    }

    assert_eq!(entrypoint.handle(at(7_000), Event::Tick), [Action::Exit(0)]);
}

#[test]
fn one_deadline_is_for_the_command_and_for_what_it_leaves() {
    let mut entrypoint = with(|rules| {
        rules.others = Others::Stopped;
        rules.kill_after = Some(Duration::from_secs(1));
    });
    entrypoint.handle(at(0), sent(Signal::TERM));
    assert_eq!(
        entrypoint.handle(at(1_000), Event::Tick),
        [Action::Send(Target::Command, Signal::KILL)]
    );

    entrypoint.handle(at(1_001), Event::Ended(killed(Signal::KILL)));

    assert_eq!(entrypoint.deadline(), Some(at(1_000)));
    assert_eq!(
        entrypoint.handle(at(1_001), Event::Tick),
        [Action::Send(Target::Others, Signal::KILL)]
    );
}

#[test]
fn nobody_is_waited_for_longer_than_what_was_killed_takes() {
    let mut entrypoint = with(|rules| rules.others = Others::Stopped);

    entrypoint.handle(at(0), Event::Ended(killed(Signal::TERM)));
    assert_eq!(entrypoint.deadline(), Some(at(5_000)));
    entrypoint.handle(at(5_000), Event::Tick);
    assert_eq!(entrypoint.deadline(), Some(at(7_000)));

    assert_eq!(
        entrypoint.handle(at(7_000), Event::Tick),
        [Action::Exit(143)]
    );
}

#[test]
fn whoever_asks_again_has_the_others_killed_at_once() {
    let mut entrypoint = with(|rules| rules.others = Others::Stopped);
    entrypoint.handle(at(0), Event::Ended(Exit::Code(0)));

    assert_eq!(entrypoint.handle(at(10), sent(Signal::USR1)), []);
    assert_eq!(
        entrypoint.handle(at(20), sent(Signal::TERM)),
        [Action::Send(Target::Others, Signal::KILL)]
    );
    assert_eq!(entrypoint.handle(at(30), sent(Signal::TERM)), []);
}

#[test]
fn a_group_is_told_in_the_words_of_the_rewrites() {
    let mut entrypoint = with(|rules| {
        rules.target = Target::Group;
        rules.others = Others::Told;
        rules.rewrites.set(Signal::TERM, Some(Signal::INT));
    });

    assert_eq!(
        entrypoint.handle(at(0), Event::Ended(Exit::Code(1))),
        [Action::Send(Target::Group, Signal::INT), Action::Exit(1)]
    );
}

#[test]
fn an_orphan_less_moment_is_no_end() {
    assert_eq!(plain().handle(at(0), Event::Alone), []);
}

#[test]
fn a_key_that_reaches_the_command_by_itself_is_not_sent_twice() {
    let mut entrypoint = with(|rules| rules.shares_keys = true);

    assert_eq!(entrypoint.handle(at(0), pressed(Signal::INT)), []);
    assert_eq!(
        entrypoint.handle(at(0), sent(Signal::INT)),
        [Action::Send(Target::Command, Signal::INT)]
    );
}

#[test]
fn what_the_terminal_says_of_host_inits_own_messages_is_nobody_elses() {
    let mut entrypoint = plain();

    for signal in [Signal::TTIN, Signal::TTOU] {
        assert_eq!(entrypoint.handle(at(0), pressed(signal)), []);
        assert_eq!(
            entrypoint.handle(at(0), sent(signal)),
            [Action::Send(Target::Command, signal)]
        );
    }
}

#[test]
fn host_init_follows_a_command_that_a_key_stops_when_somebody_waits_for_it() {
    let mut entrypoint = with(|rules| {
        rules.on_stop = OnStop::Follow;
        rules.key_stop = Some(Signal::TSTP);
    });

    assert_eq!(
        entrypoint.handle(at(0), Event::Stopped(Signal::TSTP)),
        [Action::Follow]
    );
    assert_eq!(
        entrypoint.handle(at(0), sent(Signal::CONT)),
        [
            Action::GiveTerminal,
            Action::Send(Target::Command, Signal::CONT)
        ]
    );
    assert_eq!(entrypoint.handle(at(0), Event::Stopped(Signal::STOP)), []);
}

#[test]
fn a_key_that_stops_host_init_stops_the_command_first() {
    let mut entrypoint = with(|rules| rules.key_stop = Some(Signal::STOP));

    assert_eq!(
        entrypoint.handle(at(0), pressed(Signal::TSTP)),
        [Action::Send(Target::Command, Signal::STOP), Action::Follow]
    );
    // Somebody's own TSTP is a signal as any other.
    assert_eq!(
        entrypoint.handle(at(0), sent(Signal::TSTP)),
        [Action::Send(Target::Command, Signal::TSTP)]
    );
}

#[test]
fn a_command_that_nobody_could_continue_is_continued() {
    let mut entrypoint = with(|rules| rules.on_stop = OnStop::Continue);

    for signal in [Signal::TSTP, Signal::TTIN, Signal::TTOU] {
        assert_eq!(
            entrypoint.handle(at(0), Event::Stopped(signal)),
            [
                Action::GiveTerminal,
                Action::Send(Target::Group, Signal::CONT)
            ]
        );
    }
    assert_eq!(entrypoint.handle(at(0), Event::Stopped(Signal::STOP)), []);
}

#[test]
fn no_history_has_more_actions_than_fit_nor_a_deadline_that_stays_due() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for _ in 0..2_000 {
        let mut entrypoint = with(|rules| {
            if next(2) == 0 {
                rules.target = Target::Group;
            }
            rules.others = [Others::Left, Others::Told, Others::Stopped][next(3) as usize];
            rules.on_stop = [OnStop::Ignore, OnStop::Follow, OnStop::Continue][next(3) as usize];
            rules.key_stop = [None, Some(Signal::STOP)][next(2) as usize];
            rules.stops_itself = next(2) == 0;
            rules.shares_keys = next(2) == 0;
            if next(2) == 0 {
                rules.kill_after = Some(Duration::from_millis(next(100)));
            }
        });
        let mut millis = 0;
        for _ in 0..40 {
            millis += next(40);
            if let Some(due) = entrypoint.deadline()
                && due <= at(millis)
            {
                entrypoint.handle(at(millis), Event::Tick);
                assert!(entrypoint.deadline().is_none_or(|after| after > due));
            }
            let event = match next(9) {
                0 => Event::Ended(Exit::Code(3)),
                1 => Event::Stopped(Signal::TSTP),
                2 => Event::Alone,
                3 => pressed(Signal::TSTP),
                4 => sent(Signal::CONT),
                5 => Event::Reaped,
                _ => sent(Signal::from_number(1 + next(31) as u8).unwrap()),
            };
            let actions = entrypoint.handle(at(millis), event);
            assert!(actions.len() < actions.capacity());
            if actions
                .iter()
                .any(|action| matches!(action, Action::Exit(_)))
            {
                assert!(matches!(event, Event::Ended(_) | Event::Alone));
                break;
            }
        }
    }
}
