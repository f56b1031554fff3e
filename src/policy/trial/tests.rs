//! Every life that a trial may have, within small bounds.

use std::collections::{HashSet, VecDeque};

use super::*;

const LIMIT: u32 = 2;

/// Versions there are; the first is none.
const VERSIONS: usize = 4;

/// How often somebody changes the version.
const CHANGES: u8 = 2;

/// A machine with a host, as the world sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    /// What the disk has.
    disk: Key,
    /// What the trial knows; none while the power is off.
    trial: Option<(Key, u8)>,
    /// The version that is current.
    current: u64,
    /// What happens now.
    doing: Doing,
    /// How often each version was taken back without a person.
    taken_back: [u8; VERSIONS],
    /// Which versions were ever healthy.
    was_healthy: [bool; VERSIONS],
    /// Starts since the last health that ended badly: by themselves or with the
    /// power.
    bad: u8,
    /// Changes by somebody, of which there are only so many.
    changes: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Doing {
    Off,
    /// To be started when its mark is durable.
    Starting,
    Up,
    TakingBack,
    Down,
    Halted,
}

/// A mark as it can be hashed.
type Key = (
    u32,
    bool,
    u64,
    Vec<u64>,
    Vec<u64>,
    Option<u64>,
    Option<usize>,
    u8,
);

type Vec<T> = std::vec::Vec<T>;

const HALTS: [Halt; 6] = [
    Halt::NoWayBack,
    Halt::WasGood,
    Halt::TakenBackBefore,
    Halt::TakeBackFailed,
    Halt::TakeBackUnknown,
    Halt::Before,
];

fn key(mark: &Mark) -> Key {
    (
        mark.failures,
        mark.is_attempting,
        mark.version.0,
        mark.good.iter().map(|version| version.0).collect(),
        mark.condemned.iter().map(|version| version.0).collect(),
        mark.going.map(|version| version.0),
        mark.halted
            .map(|halt| HALTS.iter().position(|it| *it == halt).unwrap()),
        mark.reboots,
    )
}

fn mark(key: &Key) -> Mark {
    Mark {
        failures: key.0,
        is_attempting: key.1,
        version: Version(key.2),
        good: key.3.iter().copied().map(Version).collect(),
        condemned: key.4.iter().copied().map(Version).collect(),
        going: key.5.map(Version),
        halted: key.6.map(|place| HALTS[place]),
        reboots: key.7,
    }
}

impl World {
    fn new() -> Self {
        Self {
            disk: key(&Mark::default()),
            trial: None,
            current: 1,
            doing: Doing::Off,
            taken_back: [0; VERSIONS],
            was_healthy: [false; VERSIONS],
            bad: 0,
            changes: 0,
        }
    }

    fn trial(&self, rules: Rules) -> Trial {
        let (held, clean) = self.trial.as_ref().unwrap();
        Trial {
            rules,
            mark: mark(held),
            clean: *clean,
        }
    }

    fn hold(&mut self, trial: &Trial) {
        self.trial = Some((key(trial.mark()), trial.clean));
    }

    /// Makes the mark durable.
    fn write(&mut self) {
        self.disk = self.trial.as_ref().unwrap().0.clone();
    }

    /// Asks whether it may start, and makes the answer durable.
    fn ask(&mut self, rules: Rules) {
        let mut trial = self.trial(rules);
        let verdict = trial.ask(Version(self.current));
        self.hold(&trial);
        self.doing = match verdict {
            Verdict::Start => Doing::Starting,
            Verdict::TakeBack => Doing::TakingBack,
            Verdict::Halt(_) => Doing::Halted,
        };
    }

    /// Every world that may come next.
    fn next(&self, rules: Rules) -> Vec<Self> {
        let mut worlds = Vec::new();
        let mut add = |change: &dyn Fn(&mut Self)| {
            let mut world = self.clone();
            change(&mut world);
            worlds.push(world);
        };
        if self.doing != Doing::Off {
            // The power goes, before or after what was to be written is.
            add(&|world| {
                world.bad += u8::from(world.doing == Doing::Up);
                world.doing = Doing::Off;
                world.trial = None;
            });
            add(&|world| {
                world.bad += u8::from(world.doing == Doing::Up);
                world.write();
                world.doing = Doing::Off;
                world.trial = None;
            });
        }
        // Somebody is there to change it only when something runs. Who changes it back
        // in the moment between a take-back and the power cut is not told from nobody.
        if self.changes < CHANGES && matches!(self.doing, Doing::Up | Doing::Halted) {
            for other in 1..4 {
                add(&|world| {
                    world.current = other;
                    world.changes += 1;
                });
            }
        }
        match self.doing {
            Doing::Off => add(&|world| {
                let mark = mark(&world.disk);
                let is_own = false;
                let trial = Trial::new(rules, Kept { mark, is_own });
                world.hold(&trial);
                world.doing = Doing::Down;
            }),
            Doing::Down => add(&|world| world.ask(rules)),
            Doing::Starting => add(&|world| {
                world.write();
                world.doing = Doing::Up;
            }),
            Doing::Up => {
                add(&|world| world.end(rules, Trial::failed));
                add(&|world| world.end(rules, Trial::stopped));
                add(&|world| {
                    let mut trial = world.trial(rules);
                    trial.healthy();
                    let version = trial.mark().version.0;
                    world.was_healthy[usize::try_from(version).unwrap()] = true;
                    world.bad = 0;
                    world.hold(&trial);
                    world.write();
                });
            }
            Doing::TakingBack => {
                // What is asked for is durable first.
                for is_done in [true, false] {
                    add(&|world| {
                        world.write();
                        let mut trial = world.trial(rules);
                        let going = trial.mark().going.unwrap();
                        let place = usize::try_from(going.0).unwrap();
                        // A link that could not be made is as it was.
                        if is_done || rules.way_back == WayBack::Command {
                            world.taken_back[place] += 1;
                        }
                        if is_done {
                            world.current = match (rules.way_back, trial.mark().good.last()) {
                                (WayBack::Link, Some(good)) => good.0,
                                _ => 3,
                            };
                        }
                        trial.taken_back(is_done);
                        world.hold(&trial);
                        world.doing = Doing::Down;
                    });
                }
                // It is done, and the power goes before anybody has written that.
                add(&|world| {
                    world.write();
                    let trial = world.trial(rules);
                    let going = trial.mark().going.unwrap();
                    world.taken_back[usize::try_from(going.0).unwrap()] += 1;
                    world.current = trial.mark().good.last().map_or(3, |good| good.0);
                    world.doing = Doing::Off;
                    world.trial = None;
                });
            }
            Doing::Halted => {
                add(&|world| {
                    world.write();
                    if world.trial(rules).restarts() {
                        world.doing = Doing::Off;
                        world.trial = None;
                    }
                });
            }
        }
        worlds
    }

    fn end(&mut self, rules: Rules, end: fn(&mut Trial)) {
        let mut trial = self.trial(rules);
        let before = trial.mark().failures;
        end(&mut trial);
        self.bad += u8::from(trial.mark().failures > before);
        self.hold(&trial);
        self.doing = Doing::Down;
    }
}

/// Every world that can be reached under these rules.
fn explore(rules: Rules, look: &mut dyn FnMut(&World, &World)) -> usize {
    let mut seen = HashSet::from([World::new()]);
    let mut queue = VecDeque::from([World::new()]);
    while let Some(world) = queue.pop_front() {
        for next in world.next(rules) {
            look(&world, &next);
            if seen.insert(next.clone()) {
                queue.push_back(next);
            }
        }
    }
    seen.len()
}

/// Starts without health in between that may end badly: there is a round for the version
/// that is there first, for each that somebody puts there, after each take-back, and for
/// each reboot. What was started before somebody changed it may end badly once more.
fn most_bad(rules: Rules) -> u8 {
    let taken_back = match rules.way_back {
        WayBack::None => 0,
        WayBack::Link | WayBack::Command => VERSIONS - 1,
    };
    let reboots = if rules.on_halt == OnHalt::Reboot {
        REBOOTS
    } else {
        0
    };
    let rounds = 1 + CHANGES + u8::try_from(taken_back).unwrap() + reboots;
    rounds * u8::try_from(LIMIT).unwrap() + CHANGES
}

#[test]
fn every_life_of_a_trial_keeps_its_promises() {
    for way_back in [WayBack::None, WayBack::Link, WayBack::Command] {
        for on_halt in [OnHalt::Stay, OnHalt::Reboot] {
            let rules = Rules {
                limit: LIMIT,
                way_back,
                on_halt,
            };
            let number = explore(rules, &mut |before, after| {
                // At most once without a person: a link that was not made is made, which
                // is no second time.
                let is_once = after.taken_back.iter().all(|times| *times <= 1);
                assert!(is_once, "{rules:?}: {before:?} -> {after:?}");
                if before.doing != Doing::TakingBack && after.doing == Doing::TakingBack {
                    let version = usize::try_from(after.current).unwrap();
                    assert!(!after.was_healthy[version], "a good one: {before:?}");
                    assert_eq!(after.taken_back[version], 0, "{before:?}");
                }
                assert!(after.bad <= most_bad(rules), "{rules:?}: {after:?}");
            });
            assert!(number > 100, "{rules:?}: {number}");
        }
    }
}

#[test]
fn a_trial_that_began_without_what_was_kept_goes_on_with_both() {
    let rules = Rules {
        limit: 5,
        way_back: WayBack::Link,
        on_halt: OnHalt::Stay,
    };
    let mut trial = Trial::new(rules, Kept::default());
    assert_eq!(trial.ask(Version(3)), Verdict::Start);
    trial.healthy();
    trial.failed();
    let kept = Mark {
        failures: 1,
        is_attempting: true,
        version: Version(3),
        good: [Version(1)].into_iter().collect(),
        condemned: [Version(2)].into_iter().collect(),
        reboots: 2,
        ..Mark::default()
    };

    let joined = trial.with(Kept {
        mark: kept,
        is_own: false,
    });

    let mark = joined.mark();
    assert_eq!(mark.failures, 3);
    assert!(mark.good.contains(Version(1)));
    assert_eq!(mark.good.last(), Some(Version(3)));
    assert!(mark.condemned.contains(Version(2)));
    assert_eq!(mark.reboots, 2);
    // Of another version nothing but what is known of all.
    let other = Mark {
        version: Version(4),
        ..kept
    };
    let other = Kept {
        mark: other,
        is_own: false,
    };
    assert_eq!(trial.with(other).mark().failures, 1);
}

const RULES: Rules = Rules {
    limit: 3,
    way_back: WayBack::Link,
    on_halt: OnHalt::Stay,
};

#[test]
fn what_a_trial_has_kept_itself_is_not_counted_twice() {
    let mut trial = Trial::new(RULES, Kept::default());
    trial.ask(Version(1));
    trial.failed();
    let kept = Kept {
        mark: *trial.mark(),
        is_own: true,
    };

    assert_eq!(trial.with(kept).mark().failures, 1);
}

#[test]
fn a_version_that_could_not_be_seen_is_the_one_that_is_seen_later() {
    // At a boot nothing could be read, and it failed.
    let mut trial = Trial::new(RULES, Kept::default());
    assert_eq!(trial.ask(Version::UNKNOWN), Verdict::Start);
    trial.failed();
    let kept = Kept {
        mark: Mark {
            version: Version(2),
            failures: 2,
            good: [Version(1)].into_iter().collect(),
            ..Mark::default()
        },
        is_own: false,
    };

    let mut trial = trial.with(kept);

    assert_eq!(trial.mark().failures, 3);
    assert_eq!(trial.ask(Version::UNKNOWN), Verdict::TakeBack);
    assert_eq!(trial.mark().going, Some(Version(2)));
}

#[test]
fn what_could_not_be_seen_is_never_good() {
    let mut trial = Trial::new(RULES, Kept::default());
    trial.ask(Version::UNKNOWN);
    trial.failed();

    trial.healthy();

    assert_eq!(trial.mark().good.last(), None);
    assert_eq!(trial.mark().failures, 0);
}

#[test]
fn a_power_cut_says_nothing_of_a_host_that_was_healthy() {
    let mut trial = Trial::new(RULES, Kept::default());
    trial.ask(Version(1));
    trial.healthy();

    let kept = Kept {
        mark: *trial.mark(),
        is_own: false,
    };
    assert_eq!(Trial::new(RULES, kept).mark().failures, 0);
}

#[test]
fn a_halt_is_of_a_version_unless_a_person_has_written_it() {
    for (halt, verdict) in [
        (Halt::WasGood, Verdict::Start),
        (Halt::Before, Verdict::Halt(Halt::Before)),
    ] {
        let kept = Kept {
            mark: Mark {
                version: Version(1),
                failures: 3,
                halted: Some(halt),
                ..Mark::default()
            },
            is_own: false,
        };
        let mut trial = Trial::new(RULES, kept);

        assert_eq!(trial.ask(Version(1)), Verdict::Halt(halt));
        assert_eq!(trial.ask(Version::UNKNOWN), Verdict::Halt(halt));
        assert_eq!(trial.ask(Version(2)), verdict);
    }
}

#[test]
fn another_round_forgets_no_version_that_was_taken_back() {
    let mut trial = Trial::new(RULES, Kept::default());
    for _ in 0..3 {
        trial.ask(Version(1));
        trial.failed();
    }
    trial.mark.condemned.remember(Version(1));
    assert_eq!(trial.ask(Version(1)), Verdict::Halt(Halt::TakenBackBefore));

    trial.retry();

    assert_eq!(trial.ask(Version(1)), Verdict::Start);
    assert!(trial.mark().condemned.contains(Version(1)));
}
