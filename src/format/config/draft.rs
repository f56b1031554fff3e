//! A config while it is being read: what is set so far, and where.

use core::ffi::CStr;
use core::time::Duration;

use heapless::Vec;

use crate::format::config::keys::{Asking, COUNT, Id, KEYS, Table, Text, Time};
use crate::format::config::variables::Variables;
use crate::policy::config::{Asked, Config, Directory, Host, Mount, Need};

pub(super) struct Draft<'t> {
    pub(super) config: Config<'t>,
    pub(super) host: Host<'t>,
    /// Where the host was begun; none when there is none.
    pub(super) host_at: Option<usize>,
    /// The entry of an array of tables that is being read.
    pub(super) entry: Entry<'t>,
    /// How many entries of mounts and of directories were begun.
    pub(super) mounts: usize,
    pub(super) directories: usize,
    /// Where each key was set; in an array of tables, in the current entry.
    places: [Option<usize>; COUNT],
}

/// An entry of an array of tables. Only the fields of its table mean something.
pub(super) struct Entry<'t> {
    /// Its table, and where it was begun.
    pub(super) open: Option<(Table, usize)>,
    pub(super) source: Option<&'t CStr>,
    pub(super) target: Option<&'t CStr>,
    pub(super) kind: Option<&'t CStr>,
    pub(super) options: Option<&'t CStr>,
    pub(super) wait: Duration,
    pub(super) need: Need,
    pub(super) path: Option<&'t CStr>,
    pub(super) mode: u16,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl<'t> Draft<'t> {
    pub(super) fn new() -> Self {
        Self {
            config: Config::default(),
            host: Host::new(Vec::new()),
            host_at: None,
            entry: Entry::new(None),
            mounts: 0,
            directories: 0,
            places: [None; COUNT],
        }
    }

    /// Begins an entry of an array of tables.
    pub(super) fn begin(&mut self, table: Table, at: usize) {
        self.entry = Entry::new(Some((table, at)));
        if table == Table::Mount {
            self.mounts = self.mounts.saturating_add(1);
        } else {
            self.directories = self.directories.saturating_add(1);
        }
        for (key, place) in KEYS.iter().zip(&mut self.places) {
            if key.table == table {
                *place = None;
            }
        }
    }

    /// Which entry of its array the table's current one is, from 0.
    pub(super) const fn index(&self, table: Table) -> Option<usize> {
        match table {
            Table::Mount => self.mounts.checked_sub(1),
            Table::Directory => self.directories.checked_sub(1),
            Table::Root | Table::Host | Table::Environment | Table::Shutdown | Table::Signals => {
                None
            }
        }
    }

    /// Notes where the key at this index of [`KEYS`] is set; false when it was
    /// set before.
    pub(super) fn note_place(&mut self, key: usize, at: usize) -> bool {
        self.places
            .get_mut(key)
            .is_some_and(|place| place.replace(at).is_none())
    }

    /// Where a key was set, by its name.
    pub(super) fn place_of(&self, table: Table, name: &str) -> Option<usize> {
        KEYS.iter()
            .zip(&self.places)
            .find(|(key, _)| key.table == table && key.name == name)
            .and_then(|(_, place)| *place)
    }

    /// Fills what is not set, when the host comes from a launcher script.
    pub(super) fn fill(&mut self, variables: &Variables<'t>) {
        let is_set = |name| self.place_of(Table::Host, name).is_some();
        if !is_set("compat") {
            return;
        }
        let [
            has_command,
            has_limit,
            has_backoff,
            has_longest,
            has_way_back,
        ] = [
            is_set("command"),
            is_set("start-limit"),
            is_set("backoff"),
            is_set("backoff-max"),
            is_set("rollback") || is_set("current"),
        ];
        let host = &mut self.host;
        host.launcher = Some(variables.state);
        if !has_command {
            // There is room: nothing else is in it.
            let _ = host.command.extend_from_slice(&[variables.program, c"run"]);
        }
        if !has_limit {
            host.start_limit = variables.limit;
        }
        // No environment makes a config bad.
        match (has_backoff, has_longest) {
            (false, false) => {
                host.backoff = variables.backoff;
                host.backoff_max = host.backoff_max.max(host.backoff);
            }
            (false, true) => host.backoff = variables.backoff.min(host.backoff_max),
            (true, _) => {}
        }
        if !has_way_back {
            let _ = host.rollback.push(variables.rollback);
        }
    }

    /// The required keys of a table that were not set.
    pub(super) fn missing(&self, table: Table) -> impl Iterator<Item = usize> {
        // What came before has said what to run.
        let is_filled = table == Table::Host && self.host.launcher.is_some();
        KEYS.iter()
            .zip(self.places)
            .enumerate()
            .filter(move |(_, (key, place))| {
                key.table == table && key.is_required && place.is_none() && !is_filled
            })
            .map(|(index, _)| index)
    }

    pub(super) fn set_text(&mut self, field: Text, text: &'t CStr) {
        match field {
            Text::MountSource => self.entry.source = Some(text),
            Text::MountTarget => self.entry.target = Some(text),
            Text::MountType => self.entry.kind = Some(text),
            Text::MountOptions => self.entry.options = Some(text),
            Text::DirectoryPath => self.entry.path = Some(text),
            Text::HostDirectory => self.host.directory = text,
            Text::HostRecord => self.host.record = Some(text),
            Text::HostCurrent => self.host.current = Some(text),
        }
    }

    pub(super) const fn set_time(&mut self, field: Time, time: Duration) {
        match field {
            Time::MountWait => self.entry.wait = time,
            Time::StopGrace => self.host.stop_grace = time,
            Time::Backoff => self.host.backoff = time,
            Time::BackoffMax => self.host.backoff_max = time,
            Time::BackoffReset => self.host.backoff_reset = time,
            Time::HealthyAfter => self.host.healthy_after = time,
            Time::RollbackTimeout => self.host.rollback_timeout = time,
            Time::ReadyTimeout => self.host.ready_timeout = time,
            Time::Watchdog => self.host.watchdog = time,
            Time::Unmount => self.config.shutdown.unmount = time,
            Time::Sync => self.config.shutdown.sync = time,
        }
    }

    pub(super) const fn set_asked(&mut self, field: Asking, asked: Asked) {
        let signals = &mut self.config.signals;
        match field {
            Asking::Term => signals.term = asked,
            Asking::Int => signals.int = asked,
            Asking::Usr1 => signals.usr1 = asked,
            Asking::Usr2 => signals.usr2 = asked,
            Asking::Pwr => signals.pwr = asked,
            Asking::Hup => signals.hup = asked,
        }
    }

    pub(super) const fn set_id(&mut self, field: Id, id: u32) {
        match field {
            Id::User => self.entry.uid = id,
            Id::Group => self.entry.gid = id,
        }
    }
}

impl<'t> Entry<'t> {
    /// An entry with the defaults of the documentation.
    const fn new(open: Option<(Table, usize)>) -> Self {
        Self {
            open,
            source: None,
            target: None,
            kind: None,
            options: None,
            wait: Duration::ZERO,
            need: Need::Required,
            path: None,
            mode: 0o755,
            uid: 0,
            gid: 0,
        }
    }

    /// The mount, when nothing is missing.
    pub(super) fn mount(&self) -> Option<Mount<'t>> {
        Some(Mount {
            source: self.source?,
            target: self.target?,
            kind: self.kind?,
            options: self.options.unwrap_or(c""),
            wait: self.wait,
            need: self.need,
        })
    }

    /// The directory, when nothing is missing.
    pub(super) fn directory(&self) -> Option<Directory<'t>> {
        Some(Directory {
            path: self.path?,
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
        })
    }
}
