//! How each kind of refusal is reported: which key, where, what was found.

use toml_parser::parser::{Event, EventKind};

use crate::format::config::error::{Path, Reason};
use crate::format::config::keys::Table;
use crate::format::config::reader::{Reader, Spot};
use crate::format::config::statement::Cursor;

impl<'s> Reader<'s, '_, '_> {
    /// The path of a key in the current entry of its table.
    #[inline(never)]
    pub(super) const fn path<'n>(&self, table: Table, name: &'n str) -> Path<'n> {
        Path {
            table,
            index: self.draft.index(table),
            name,
        }
    }

    pub(super) const fn path_of(&self, spot: Spot) -> Path<'static> {
        self.path(spot.key.table, spot.key.name)
    }

    /// What the text has there.
    pub(super) fn raw(&self, event: Event) -> &'s str {
        self.source.get(event).map_or("", |raw| raw.as_str())
    }

    pub(super) fn add_duplicate(&mut self, spot: Spot) {
        let path = self.path_of(spot);
        self.report
            .add(spot.event.span().start(), path, Reason::Duplicate);
    }

    /// Refuses what stands for a key, said at the key.
    pub(super) fn add_unexpected(
        &mut self,
        spot: Spot,
        expected: &'static str,
        found: &'static str,
    ) {
        let path = self.path_of(spot);
        let reason = Reason::Unexpected { expected, found };
        self.report.add(spot.event.span().start(), path, reason);
    }

    /// Refuses a table that has the name of an environment entry.
    pub(super) fn refuse_table(&mut self, key: Event) {
        let path = self.path(Table::Environment, self.raw(key));
        let reason = Reason::Unexpected {
            expected: "a string",
            found: "a table",
        };
        self.report.add(key.span().start(), path, reason);
    }

    /// Refuses a value that was read, and shows it.
    pub(super) fn refuse(&mut self, value: Event, path: Path<'_>, expected: &'static str) {
        let found = self.raw(value);
        let reason = Reason::Unexpected { expected, found };
        self.report.add(value.span().start(), path, reason);
    }

    /// Refuses the value that comes, whatever it is, and goes over it.
    pub(super) fn refuse_value(
        &mut self,
        cursor: &mut Cursor<'_>,
        spot: Spot,
        expected: &'static str,
    ) {
        let path = self.path_of(spot);
        self.refuse_next(cursor, path, expected);
        self.skip_value(cursor);
    }

    /// Refuses the value that comes, and leaves it there.
    pub(super) fn refuse_next(
        &mut self,
        cursor: &Cursor<'_>,
        path: Path<'_>,
        expected: &'static str,
    ) {
        let Some(event) = cursor.peek() else {
            return;
        };
        let found = match event.kind() {
            EventKind::ArrayOpen => "an array",
            EventKind::InlineTableOpen => "a table",
            EventKind::StdTableOpen
            | EventKind::StdTableClose
            | EventKind::ArrayTableOpen
            | EventKind::ArrayTableClose
            | EventKind::InlineTableClose
            | EventKind::ArrayClose
            | EventKind::SimpleKey
            | EventKind::KeySep
            | EventKind::KeyValSep
            | EventKind::Scalar
            | EventKind::ValueSep
            | EventKind::Whitespace
            | EventKind::Comment
            | EventKind::Newline
            | EventKind::Error => self.raw(event),
        };
        let reason = Reason::Unexpected { expected, found };
        self.report.add(event.span().start(), path, reason);
    }
}
