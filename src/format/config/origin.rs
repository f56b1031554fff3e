//! How each table came to be, which decides what may still be written of it.

use crate::format::config::keys::Table;

/// How a table came to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is not there.
    Absent,
    /// Only a header of a table in it was seen.
    Implicit,
    /// A dotted key made it.
    Dotted,
    /// It has its header; an array of tables has entries with theirs.
    Header,
    /// It is a value, which nothing can be added to.
    Inline,
}

/// The [`Origin`] of each table.
pub(super) struct Origins {
    root: Origin,
    mount: Origin,
    directory: Origin,
    host: Origin,
    environment: Origin,
    shutdown: Origin,
    signals: Origin,
}

impl Origins {
    pub(super) const fn new() -> Self {
        Self {
            root: Origin::Header,
            mount: Origin::Absent,
            directory: Origin::Absent,
            host: Origin::Absent,
            environment: Origin::Absent,
            shutdown: Origin::Absent,
            signals: Origin::Absent,
        }
    }

    pub(super) const fn of(&mut self, table: Table) -> &mut Origin {
        match table {
            Table::Root => &mut self.root,
            Table::Mount => &mut self.mount,
            Table::Directory => &mut self.directory,
            Table::Host => &mut self.host,
            Table::Environment => &mut self.environment,
            Table::Shutdown => &mut self.shutdown,
            Table::Signals => &mut self.signals,
        }
    }

    pub(super) const fn replace(&mut self, table: Table, origin: Origin) -> Origin {
        core::mem::replace(self.of(table), origin)
    }
}
