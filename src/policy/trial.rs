//! The host's trial: how often it may fail, when it is good, when it is taken back.
//!
//! ```text
//!             may it start?
//!   failures below the limit ───────────────▶ Start ──▶ good, after its health
//!   at the limit, a version to go back to ──▶ TakeBack ──▶ (fresh attempts)
//!   at the limit, nothing left to try ──────▶ Halt, until a person clears it
//! ```
//!
//! What must survive a power cut is a [`Mark`]. Whoever holds a [`Trial`] makes its
//! mark durable before it does what the trial answered: so a start that takes the
//! machine down is found by the next boot, and counted.

/// A version of the host: a number that stands for whatever tells versions apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Version(pub u64);

impl Version {
    /// A version that could not be seen: it is taken for the one before.
    pub const UNKNOWN: Self = Self(0);
}

/// What is kept over power cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Failures in a row of this version.
    pub failures: u32,
    /// Whether a start was made of which nobody has heard the end.
    pub is_attempting: bool,
    /// The version that the failures are of.
    pub version: Version,
    /// Versions that were healthy, the latest last.
    pub good: Versions,
    /// Versions that were taken back, the latest last; never again by itself.
    pub condemned: Versions,
    /// A version that is being taken back.
    pub going: Option<Version>,
    /// Why the host is not started any more.
    pub halted: Option<Halt>,
    /// Rounds that were begun in a row after it was halted, one a boot.
    pub reboots: u8,
}

/// A mark that was read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The mark.
    pub mark: Mark,
    /// Whether this life of host-init kept it, and not one before.
    pub is_own: bool,
}

/// Versions that are remembered as good, and as taken back.
pub const REMEMBERED: usize = 8;

/// A few versions, the latest last; of more, the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Versions {
    list: [Version; REMEMBERED],
    count: u8,
}

impl Versions {
    /// Puts a version last, in place of the first when there is no room.
    pub fn remember(&mut self, version: Version) {
        self.forget(version);
        if usize::from(self.count) == REMEMBERED {
            self.list.rotate_left(1);
            self.count = self.count.saturating_sub(1);
        }
        if let Some(place) = self.list.get_mut(usize::from(self.count)) {
            *place = version;
            self.count = self.count.saturating_add(1);
        }
    }

    /// Takes a version out.
    pub fn forget(&mut self, version: Version) {
        let mut kept = Self::default();
        for other in self.iter().filter(|other| *other != version) {
            if let Some(place) = kept.list.get_mut(usize::from(kept.count)) {
                *place = other;
                kept.count = kept.count.saturating_add(1);
            }
        }
        *self = kept;
    }

    /// Each of them, the latest last.
    pub fn iter(&self) -> impl Iterator<Item = Version> {
        self.list.into_iter().take(usize::from(self.count))
    }

    /// The latest.
    pub fn last(&self) -> Option<Version> {
        self.iter().last()
    }

    /// How many there are.
    pub const fn number(&self) -> u8 {
        self.count
    }

    /// Whether a version is one of them.
    pub fn contains(&self, version: Version) -> bool {
        self.iter().any(|other| other == version)
    }
}

impl FromIterator<Version> for Versions {
    fn from_iter<I: IntoIterator<Item = Version>>(versions: I) -> Self {
        let mut all = Self::default();
        for version in versions {
            all.remember(version);
        }
        all
    }
}

/// Why the host is not started any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// It failed too often, and there is no way back.
    NoWayBack,
    /// It failed too often though it was good once: the machine is at fault.
    WasGood,
    /// It was taken back once already.
    TakenBackBefore,
    /// Taking it back failed.
    TakeBackFailed,
    /// Nobody knows whether it was taken back: the power went.
    TakeBackUnknown,
    /// Whoever kept it running before host-init has halted it.
    Before,
}

/// How a version is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WayBack {
    /// Not at all.
    None,
    /// By making the good one current, which is seen to be done or not.
    Link,
    /// By a command, of which only the end is known.
    Command,
}

/// What follows when the host is not started any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnHalt {
    /// It stays so, for a person.
    Stay,
    /// The machine restarts, a few times.
    Reboot,
    /// The machine powers off; a container ends.
    PowerOff,
    /// A container ends; a machine powers off.
    Exit,
    /// A person finds a shell on the machine's console.
    Shell,
}

/// The rules of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Failures in a row after which a version is not started again; at least 1.
    pub limit: u32,
    /// How a version is taken back.
    pub way_back: WayBack,
    /// What follows when there is nothing left to try.
    pub on_halt: OnHalt,
}

/// Rounds in a row that a host gets by reboots after it was halted.
pub const REBOOTS: u8 = 3;

/// Clean exits in a row, each soon after the start, of which the last counts as a
/// failure: a host that has nothing to do must not do it for ever.
pub const BURST: u8 = 10;

/// What is to be done instead of a start, or a start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Start this version.
    Start,
    /// Take this version back, then ask again.
    TakeBack,
    /// Do not start it.
    Halt(Halt),
}

/// The trial of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial {
    rules: Rules,
    mark: Mark,
    /// Clean exits in a row, each soon after the start. Not worth a write: a power
    /// cut breaks the row.
    clean: u8,
}

impl Trial {
    /// A trial that goes on from what was kept. A start that was under way when
    /// another life ended is a failure: the kernel panicked, a watchdog or a person
    /// reset the machine, the container was killed, or the power went.
    ///
    /// In the same life, as after a re-execution, it is under way still.
    pub fn new(rules: Rules, kept: Kept) -> Self {
        let mut trial = Self {
            rules,
            mark: kept.mark,
            clean: 0,
        };
        if kept.is_own {
            return trial;
        }
        if trial.mark.is_attempting {
            trial.failed();
        }
        if trial.mark.halted.is_some() && trial.restarts() {
            let mark = &mut trial.mark;
            // Another round, by whatever the machine came to restart.
            mark.halted = None;
            mark.failures = 0;
            mark.reboots = mark.reboots.saturating_add(1);
        }
        trial
    }

    /// A trial of which something is read that was not known when it began: it goes on
    /// with both. What it has kept itself is of its own failures.
    pub fn with(mut self, kept: Kept) -> Self {
        let Kept { mark: kept, is_own } = kept;
        let own = self.mark;
        self.mark.good = kept.good.iter().chain(own.good.iter()).collect();
        self.mark.condemned = kept.condemned.iter().chain(own.condemned.iter()).collect();
        if is_own {
            return self;
        }
        self.mark.going = own.going.or(kept.going);
        self.mark.halted = own.halted.or(kept.halted);
        self.mark.reboots = own.reboots.max(kept.reboots);
        if own.version == Version::UNKNOWN {
            self.mark.version = kept.version;
        }
        if self.mark.version == kept.version {
            let before = kept.failures.saturating_add(u32::from(kept.is_attempting));
            self.mark.failures = own.failures.saturating_add(before);
        }
        self
    }

    /// What must be durable before what was answered last is done.
    pub const fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Follows new rules from now on.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Whether the host, which is this version now, may be started.
    pub fn ask(&mut self, version: Version) -> Verdict {
        let version = self.see(version);
        if let Some(halt) = self.mark.halted {
            return Verdict::Halt(halt);
        }
        if let Some(going) = self.mark.going.take() {
            // The power went while it was taken back.
            match self.rules.way_back {
                // It is the same to do it once more: nothing of it was done.
                WayBack::Link | WayBack::None if going == version => {}
                WayBack::Command if going == version => {
                    self.condemn(going);
                    return self.halt(Halt::TakeBackUnknown);
                }
                WayBack::Link | WayBack::Command | WayBack::None => {
                    self.condemn(going);
                }
            }
        }
        if !self.is_exhausted() {
            self.mark.is_attempting = true;
            return Verdict::Start;
        }
        if self.mark.good.contains(version) {
            return self.halt(Halt::WasGood);
        }
        if self.mark.condemned.contains(version) {
            return self.halt(Halt::TakenBackBefore);
        }
        match (self.rules.way_back, self.mark.good.last()) {
            (WayBack::None, _) | (WayBack::Link, None) => self.halt(Halt::NoWayBack),
            (WayBack::Link, Some(_)) | (WayBack::Command, _) => {
                self.mark.going = Some(version);
                Verdict::TakeBack
            }
        }
    }

    /// Sees which version is there; which it is taken for.
    fn see(&mut self, version: Version) -> Version {
        let before = self.mark.version;
        if version == Version::UNKNOWN || version == before {
            return before;
        }
        self.mark.version = version;
        // What was counted of one that could not be seen was this one's.
        if before != Version::UNKNOWN {
            // Somebody has put another version there, which has failed in nothing yet.
            self.mark.failures = 0;
            self.mark.halted = self.mark.halted.filter(|halt| *halt == Halt::Before);
            self.clean = 0;
        }
        version
    }

    /// The version was taken back, or that failed.
    pub fn taken_back(&mut self, is_done: bool) {
        let Some(going) = self.mark.going.take() else {
            return;
        };
        self.condemn(going);
        if is_done {
            // Whatever is there now has its attempts before it, also the same again:
            // then it is halted after them, and not taken back.
            self.mark.failures = 0;
        } else {
            self.halt(Halt::TakeBackFailed);
        }
    }

    /// The host failed.
    pub fn failed(&mut self) {
        self.clean = 0;
        self.mark.is_attempting = false;
        self.mark.failures = self.mark.failures.saturating_add(1);
    }

    /// The host ended by itself and all was well, soon after its start or not.
    pub fn ended(&mut self, is_soon: bool) {
        self.mark.is_attempting = false;
        if !is_soon {
            self.clean = 0;
            return;
        }
        self.clean = self.clean.saturating_add(1);
        if self.clean >= BURST {
            self.failed();
        }
    }

    /// The host ended because it was asked to: nothing follows from it.
    pub fn stopped(&mut self) {
        self.mark.is_attempting = false;
    }

    /// The version that runs is healthy: if the power goes now, that says nothing of
    /// it.
    pub fn healthy(&mut self) {
        let version = self.mark.version;
        self.clean = 0;
        self.mark.is_attempting = false;
        self.mark.failures = 0;
        self.mark.reboots = 0;
        if version != Version::UNKNOWN {
            self.mark.good.remember(version);
        }
    }

    /// A person says that it is to be tried as if nothing had been.
    pub fn clear(&mut self) {
        self.clean = 0;
        self.mark = Mark {
            is_attempting: self.mark.is_attempting,
            version: self.mark.version,
            good: self.mark.good,
            ..Mark::default()
        };
    }

    /// Somebody wants it to run: it has another round, as nothing but a new version has.
    pub fn retry(&mut self) {
        self.clean = 0;
        self.mark.failures = 0;
        self.mark.going = None;
        self.mark.halted = None;
        self.mark.reboots = 0;
    }

    /// Whether the version has failed so often that it is not started again as it is.
    pub const fn is_exhausted(&self) -> bool {
        self.mark.failures >= self.rules.limit
    }

    /// Whether the machine is to restart because the host is halted. Who has halted it
    /// before is to see to it.
    pub fn restarts(&self) -> bool {
        self.rules.on_halt == OnHalt::Reboot
            && self.mark.reboots < REBOOTS
            && self.mark.halted != Some(Halt::Before)
    }

    fn halt(&mut self, halt: Halt) -> Verdict {
        self.mark.halted = Some(halt);
        Verdict::Halt(halt)
    }

    fn condemn(&mut self, version: Version) {
        self.mark.condemned.remember(version);
    }
}

#[cfg(test)]
mod tests;
