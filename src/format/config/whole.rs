//! What only shows when a table is whole: a key that is missing, two values
//! that do not go together, one entry too many.

use toml_parser::parser::Event;

use crate::format::config::error::{Path, Reason};
use crate::format::config::keys::{KEYS, Table};
use crate::format::config::reader::Reader;
use crate::format::config::value;
use crate::policy::config::{Directory, Mount, Ready};

impl<'t> Reader<'_, 't, '_> {
    /// Ends the entry of an array of tables that is being read, if one is.
    pub(super) fn close_entry(&mut self) {
        let Some((table, at)) = self.draft.entry.open.take() else {
            return;
        };
        self.tell_missing(table, at);
        if table == Table::Mount {
            if let Some(mount) = self.draft.entry.mount() {
                self.add_mount(mount, at);
            }
        } else if let Some(directory) = self.draft.entry.directory() {
            self.add_directory(directory, at);
        }
    }

    fn add_mount(&mut self, mount: Mount<'t>, at: usize) {
        let is_taken = |other: &Mount<'_>| value::is_same_path(other.target, mount.target);
        if self.draft.config.mounts.iter().any(is_taken) {
            let at = self.draft.place_of(Table::Mount, "target").unwrap_or(at);
            let expected = "a target that no mount before has";
            self.refuse_whole(at, Table::Mount, "target", expected);
        } else if self.draft.config.mounts.push(mount).is_err() {
            self.refuse_whole(at, Table::Mount, "", "at most 32 mounts");
        }
    }

    fn add_directory(&mut self, directory: Directory<'t>, at: usize) {
        if self.draft.config.directories.push(directory).is_err() {
            self.refuse_whole(at, Table::Directory, "", "at most 32 directories");
        }
    }

    /// Notes that there is a host, and where it was first written of.
    pub(super) fn note_host(&mut self, table: Table, event: Event) {
        if matches!(table, Table::Host | Table::Environment) && self.draft.host_at.is_none() {
            self.draft.host_at = Some(event.span().start());
        }
    }

    /// Says which required keys a table lacks, at its header.
    pub(super) fn tell_missing(&mut self, table: Table, at: usize) {
        for index in self.draft.missing(table) {
            let Some(key) = KEYS.get(index) else {
                continue;
            };
            let path = Path {
                table,
                index: self.draft.index(table),
                name: key.name,
            };
            let expected = key.kind.expected();
            self.report.add(at, path, Reason::Missing { expected });
        }
    }

    /// The back-off can't start above the most it grows to.
    pub(super) fn check_backoff(&mut self) {
        if self.draft.host.backoff <= self.draft.host.backoff_max {
            return;
        }
        if let Some(at) = self.draft.place_of(Table::Host, "backoff-max") {
            self.refuse_whole(at, Table::Host, "backoff-max", "not less than backoff");
        } else if let Some(at) = self.draft.place_of(Table::Host, "backoff") {
            let expected = "at most \"60s\", which is backoff-max while it is not set";
            self.refuse_whole(at, Table::Host, "backoff", expected);
        }
    }

    /// What follows from failures means nothing while they are not counted.
    pub(super) fn check_trial(&mut self) {
        if self.draft.host.start_limit > 0 {
            return;
        }
        for name in [
            "healthy-after",
            "record",
            "current",
            "rollback",
            "rollback-timeout",
            "on-halt",
            "compat",
        ] {
            if let Some(at) = self.draft.place_of(Table::Host, name) {
                self.refuse_whole(at, Table::Host, name, "start-limit above 0 beside it");
            }
        }
    }

    /// The record is no link: writing it would be writing over the version.
    pub(super) fn check_record(&mut self) {
        let (Some(record), Some(current)) = (self.draft.host.record, self.draft.host.current)
        else {
            return;
        };
        if value::is_same_path(record, current)
            && let Some(at) = self.draft.place_of(Table::Host, "record")
        {
            self.refuse_whole(at, Table::Host, "record", "another path than current");
        }
    }

    /// How long it may take to say that it is ready means nothing when it need not.
    pub(super) fn check_ready(&mut self) {
        if self.draft.host.ready != Ready::None {
            return;
        }
        let name = "ready-timeout";
        if let Some(at) = self.draft.place_of(Table::Host, name) {
            self.refuse_whole(at, Table::Host, name, "ready beside it, and not \"none\"");
        }
    }

    fn refuse_whole(&mut self, at: usize, table: Table, name: &str, expected: &'static str) {
        let path = self.path(table, name);
        self.report.add(at, path, Reason::Unfit { expected });
    }
}
