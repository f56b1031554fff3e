//! Random histories: what people ask for at any moment, in worlds of any temper.

use core::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config as Cases;

use crate::base::signal::Signal;
use crate::policy::backoff::Backoff;
use crate::policy::config::{Asked, Signals};
use crate::policy::samples::{BARE, CONTAINER, MACHINE, MOUNTING, RULES, TRIED, WATCHED, realtime};
use crate::policy::service::Rules;
use crate::policy::settings::{Facts, Hopeless, Probation, Settings, Shell};
use crate::policy::trial::{self, OnHalt, WayBack};
use crate::policy::world::chance::Chance;
use crate::policy::world::{Due, World};

/// Steps that the plain loop takes.
const STEPS: u32 = 200_000;

/// Steps after which a world is asked to power off.
const MOST: u32 = 300;

/// What is asked for, and how many milliseconds after what was asked before.
type Asking = (u64, Due);

/// Everything that a person, a program or the kernel may send.
fn askings() -> Vec<Due> {
    let classic = [
        Signal::TERM,
        Signal::INT,
        Signal::USR1,
        Signal::USR2,
        Signal::PWR,
        Signal::QUIT,
    ];
    let realtime = [3, 4, 5, 6, 13, 14, 15, 16, 22, 23, 30].map(realtime);
    let mut askings: Vec<Due> = classic
        .into_iter()
        .chain(realtime)
        .map(Due::Signal)
        .collect();
    // These end nothing, and so they may come often.
    for _ in 0..6 {
        askings.push(Due::Signal(Signal::HUP));
        askings.extend([8, 9, 10].map(|number| Due::Signal(self::realtime(number))));
        askings.push(Due::Signal(self::realtime(7)));
        askings.push(Due::Signal(self::realtime(17)));
        askings.push(Due::Signal(self::realtime(25)));
        askings.push(Due::Wake);
    }
    askings
}

/// A host on trial under other rules.
fn tried(way_back: WayBack, on_halt: OnHalt) -> Settings {
    let trial = TRIED.trial.map(|probation| Probation {
        rules: trial::Rules {
            way_back,
            on_halt,
            ..probation.rules
        },
        ..probation
    });
    Settings { trial, ..TRIED }
}

/// Machines and containers, with and without what they could have.
fn settings() -> Vec<Settings> {
    let shell = |shell, hopeless| Settings {
        facts: Facts {
            shell,
            hopeless,
            ..MACHINE.facts
        },
        ..MACHINE
    };
    let ten = Hopeless::RestartAfter(Duration::from_secs(10));
    vec![
        MACHINE,
        BARE,
        shell(Shell::First, ten),
        shell(Shell::Missing, ten),
        shell(Shell::Missing, Hopeless::Stay),
        Settings { host: None, ..BARE },
        CONTAINER,
        MOUNTING,
        TRIED,
        tried(WayBack::Command, OnHalt::Reboot),
        tried(WayBack::None, OnHalt::Shell),
        tried(WayBack::Link, OnHalt::PowerOff),
        WATCHED,
        Settings {
            host: WATCHED.host,
            ..CONTAINER
        },
        Settings {
            trial: TRIED.trial,
            host: TRIED.host,
            ..CONTAINER
        },
        Settings {
            host: None,
            ..CONTAINER
        },
    ]
}

/// What reloads may find: the same place, with everything else different.
fn configs(settings: &Settings) -> Vec<Settings> {
    let rules = |grace, first| Rules {
        stop_grace: Duration::from_secs(grace),
        backoff: Backoff {
            first: Duration::from_millis(first),
            ..RULES.backoff
        },
        ..RULES
    };
    let with = |host, mounts, required, int| Settings {
        host,
        mounts,
        required,
        signals: Signals {
            int,
            ..settings.signals
        },
        ..*settings
    };
    let configs = [
        *settings,
        with(Some(rules(0, 0)), 0, 0, Asked::Ignore),
        with(Some(rules(30, 5_000)), 3, 0b111, Asked::PowerOff),
        with(Some(RULES), 2, 0, Asked::Reload),
        Settings {
            trial: TRIED.trial,
            ..with(WATCHED.host, 0, 0, settings.signals.int)
        },
        with(None, 1, 0b1, settings.signals.int),
        Settings {
            trial: TRIED.trial,
            ..with(TRIED.host, 0, 0, settings.signals.int)
        },
        Settings {
            trial: tried(WayBack::Command, OnHalt::PowerOff).trial,
            ..with(TRIED.host, 0, 0, settings.signals.int)
        },
        Settings {
            trial: None,
            ..with(Some(RULES), 0, 0, settings.signals.int)
        },
    ];
    configs.map(consistent).to_vec()
}

/// As a config gives them: it is the host that is on trial, and asks then.
fn consistent(settings: Settings) -> Settings {
    let trial = settings.trial.filter(|_| settings.host.is_some());
    let asks = trial.is_some();
    let host = settings.host.map(|rules| Rules { asks, ..rules });
    Settings {
        host,
        trial,
        ..settings
    }
}

/// Boots that a host on trial lives through.
const BOOTS: u64 = 3;

/// Lives one history, whose host goes on with what was kept in the one before; the
/// number of steps it took.
fn live(seed: u64, settings: Settings, askings: &[Asking]) -> u32 {
    let boots = if settings.trial.is_some() { BOOTS } else { 1 };
    let (mut steps, mut before) = (0, None);
    for boot in 0..boots {
        let seed = seed.wrapping_add(boot);
        let mut world = World::new(seed, settings, configs(&settings));
        world.go_on(before);
        let mut millis = 0;
        for (wait, asking) in askings {
            millis += wait;
            world.due(millis, *asking);
        }
        // The power may go at any moment.
        steps += if Chance::new(seed).one_in(3) {
            world.cut(MOST / 4)
        } else {
            world.live(MOST)
        };
        before = Some(world);
    }
    steps
}

/// Moments that matter: at once, within a press, around graces and bounds.
const WAITS: [u64; 10] = [0, 0, 1, 150, 1_000, 2_000, 5_000, 10_000, 30_000, 100_000];

#[test]
fn the_laws_hold_in_200_000_steps_of_plain_random_worlds() {
    let (settings, askings) = (settings(), askings());
    let mut steps = 0;
    for seed in 1.. {
        let mut chance = Chance::new(seed);
        let number = chance.of(&[0, 1, 2, 5, 10, 20]);
        let asked: Vec<Asking> = (0..number)
            .map(|_| (chance.of(&WAITS), chance.of(&askings)))
            .collect();
        steps += live(seed, chance.of(&settings), &asked);
        if steps >= STEPS {
            break;
        }
    }
}

proptest! {
    #![proptest_config(Cases {
        cases: 2_000,
        failure_persistence: None,
        ..Cases::default()
    })]

    #[test]
    fn the_laws_hold_whatever_is_asked_for_and_when(
        seed in any::<u64>(),
        settings in prop::sample::select(settings()),
        askings in prop::collection::vec(
            (
                prop_oneof![prop::sample::select(&WAITS[..]), 0..12_000_u64],
                prop::sample::select(askings()),
            ),
            0..24,
        ),
    ) {
        live(seed, settings, &askings);
    }
}

#[test]
fn an_impatient_person_gets_the_ending_in_every_world() {
    for seed in 1..200 {
        let pressed: Vec<Asking> = (0..12).map(|_| (100, Due::Signal(Signal::INT))).collect();

        live(seed, MACHINE, &pressed);
        live(seed, CONTAINER, &pressed);
    }
}
