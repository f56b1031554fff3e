//! Which table and key a statement is about, and whether it may be there.
//!
//! TOML lets a table have its header once, have headers of tables in it at any
//! time, be made by dotted keys when nothing else made it, or be a value in
//! braces, whole. Tables and keys that host-init does not know are an error as
//! such, so that nothing is remembered of them.

use toml_parser::parser::{Event, EventKind};
use toml_parser::{ParseError, Source};

use crate::format::config::arena::Arena;
use crate::format::config::draft::Draft;
use crate::format::config::error::{Path, Reason, Report};
use crate::format::config::hint;
use crate::format::config::keys::{KEYS, Key, Kind, Table};
use crate::format::config::origin::{Origin, Origins};
use crate::format::config::statement::{Cursor, Statement};
use crate::format::config::variables::Variables;
use crate::policy::config::Config;

pub(super) struct Reader<'s, 't, 'e> {
    pub(super) source: Source<'s>,
    pub(super) arena: Arena<'t>,
    pub(super) report: Report<'e>,
    pub(super) draft: Draft<'t>,
    /// The table of the last header; none when host-init does not know it.
    current: Option<Table>,
    origins: Origins,
}

/// What a key is, in its table.
enum Found {
    Key(Spot),
    /// An entry of the environment, whose names are the person's own.
    Variable,
}

/// A key that host-init knows, and where it was written.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) event: Event,
    /// Its index in [`KEYS`].
    pub(super) index: usize,
    pub(super) key: &'static Key,
}

/// What leads through a table.
#[derive(Clone, Copy)]
enum Through {
    Header,
    DottedKey,
}

impl<'s, 't, 'e> Reader<'s, 't, 'e> {
    pub(super) fn new(source: Source<'s>, arena: &'t mut [u8], report: Report<'e>) -> Self {
        Self {
            source,
            arena: Arena::new(arena),
            report,
            draft: Draft::new(),
            current: Some(Table::Root),
            origins: Origins::new(),
        }
    }

    pub(super) const fn report(&mut self) -> &mut Report<'e> {
        &mut self.report
    }

    pub(super) fn read(&mut self, statement: &Statement<'_>) {
        let mut cursor = Cursor::new(statement.events);
        while let Some(event) = cursor.next() {
            let is_header = match event.kind() {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => true,
                EventKind::SimpleKey => false,
                // Left over behind a syntax error.
                EventKind::StdTableClose
                | EventKind::ArrayTableClose
                | EventKind::InlineTableOpen
                | EventKind::InlineTableClose
                | EventKind::ArrayOpen
                | EventKind::ArrayClose
                | EventKind::KeySep
                | EventKind::KeyValSep
                | EventKind::Scalar
                | EventKind::ValueSep
                | EventKind::Whitespace
                | EventKind::Comment
                | EventKind::Newline
                | EventKind::Error => continue,
            };
            if is_header {
                // What the table before lacks is no guess.
                self.close_entry();
            }
            self.report.mute(!statement.is_sound);
            if is_header {
                self.read_header(&mut cursor, event);
            } else {
                self.read_pair(&mut cursor, event, self.current);
            }
            self.report.mute(false);
        }
    }

    /// The config, when nothing was wrong.
    pub(super) fn finish(mut self, variables: &Variables<'t>) -> Option<Config<'t>> {
        self.close_entry();
        if let Some(at) = self.draft.host_at {
            self.draft.fill(variables);
            self.tell_missing(Table::Host, at);
            self.check_backoff();
            self.check_trial();
            self.check_record();
            self.check_ready();
            self.draft.config.host = Some(self.draft.host);
        }
        self.report.finish().then_some(self.draft.config)
    }

    /// `[a.b]` or `[[a.b]]`.
    fn read_header(&mut self, cursor: &mut Cursor<'_>, open: Event) {
        self.current = None;
        let Some(first) = cursor.next_if(EventKind::SimpleKey) else {
            return;
        };
        let (table, last) = self.walk(cursor, first, Some(Table::Root), Through::Header);
        let spot = match self.find(table, last) {
            Some(Found::Key(spot)) => spot,
            Some(Found::Variable) => return self.refuse_table(last),
            None => return,
        };
        let is_array = open.kind() == EventKind::ArrayTableOpen;
        if let Kind::Table(inner) = spot.key.kind {
            self.note_host(inner, open);
            let origin = self.origins.replace(inner, Origin::Header);
            if is_array {
                self.add_unexpected(spot, "a table, written with [ ]", "an array of tables");
            } else if !matches!(origin, Origin::Absent | Origin::Implicit) {
                self.add_duplicate(spot);
            }
            self.current = Some(inner);
        } else if let Kind::Tables(inner) = spot.key.kind {
            let origin = self.origins.replace(inner, Origin::Header);
            if !is_array {
                self.add_unexpected(spot, spot.key.kind.expected(), "a table");
            } else if !matches!(origin, Origin::Absent | Origin::Header) {
                self.add_duplicate(spot);
            }
            self.draft.begin(inner, open.span().start());
            self.current = Some(inner);
        } else {
            self.add_unexpected(spot, spot.key.kind.expected(), "a table");
        }
    }

    /// `a.b = value`, in the text or in braces.
    fn read_pair(&mut self, cursor: &mut Cursor<'_>, first: Event, from: Option<Table>) {
        let (table, last) = self.walk(cursor, first, from, Through::DottedKey);
        let found = self.find(table, last);
        if cursor.next_if(EventKind::KeyValSep).is_none() {
            return;
        }
        match found {
            Some(Found::Key(spot)) => self.assign(cursor, spot),
            Some(Found::Variable) => self.read_variable(cursor, last),
            None => self.skip_value(cursor),
        }
    }

    fn assign(&mut self, cursor: &mut Cursor<'_>, spot: Spot) {
        let is_new = if let Kind::Table(inner) | Kind::Tables(inner) = spot.key.kind {
            self.note_host(inner, spot.event);
            self.origins.replace(inner, Origin::Inline) == Origin::Absent
        } else {
            self.draft.note_place(spot.index, spot.event.span().start())
        };
        if !is_new {
            self.add_duplicate(spot);
            self.skip_value(cursor);
        } else if let Kind::Table(inner) = spot.key.kind {
            match cursor.next_if(EventKind::InlineTableOpen) {
                Some(_) => self.read_braces(cursor, inner),
                None => self.refuse_value(cursor, spot, spot.key.kind.expected()),
            }
        } else if let Kind::Tables(inner) = spot.key.kind {
            match cursor.next_if(EventKind::ArrayOpen) {
                Some(_) => self.read_entries(cursor, inner, spot),
                None => self.refuse_value(cursor, spot, spot.key.kind.expected()),
            }
        } else if let Kind::Command(_) = spot.key.kind {
            match cursor.next_if(EventKind::ArrayOpen) {
                Some(_) => self.read_command(cursor, spot),
                None => self.refuse_value(cursor, spot, spot.key.kind.expected()),
            }
        } else {
            self.read_scalar(cursor, spot);
        }
    }

    /// The pairs of a table in braces, up to the brace.
    fn read_braces(&mut self, cursor: &mut Cursor<'_>, table: Table) {
        while cursor.next_if(EventKind::InlineTableClose).is_none() {
            let Some(event) = cursor.next() else {
                return;
            };
            if event.kind() == EventKind::SimpleKey {
                self.read_pair(cursor, event, Some(table));
            }
        }
    }

    /// The entries of an array of tables that is written as a value.
    fn read_entries(&mut self, cursor: &mut Cursor<'_>, table: Table, spot: Spot) {
        while cursor.next_if(EventKind::ArrayClose).is_none() {
            if let Some(open) = cursor.next_if(EventKind::InlineTableOpen) {
                self.draft.begin(table, open.span().start());
                self.read_braces(cursor, table);
                self.close_entry();
            } else if cursor.peek().is_some() {
                self.refuse_value(cursor, spot, "a table");
            } else {
                return;
            }
        }
    }

    /// The table that the path leads to, and the last key of it.
    fn walk(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: Event,
        from: Option<Table>,
        through: Through,
    ) -> (Option<Table>, Event) {
        let mut table = from;
        let mut key = first;
        while let Some(next) = cursor.next_if(EventKind::SimpleKey) {
            table = self.descend(table, key, through);
            key = next;
        }
        (table, key)
    }

    /// The table that a key which is not the last of its path leads to.
    fn descend(&mut self, table: Option<Table>, key: Event, through: Through) -> Option<Table> {
        let spot = match self.find(table, key)? {
            Found::Key(spot) => spot,
            Found::Variable => {
                self.refuse_table(key);
                return None;
            }
        };
        let (Kind::Table(inner) | Kind::Tables(inner)) = spot.key.kind else {
            self.add_unexpected(spot, spot.key.kind.expected(), "a table");
            return None;
        };
        self.note_host(inner, key);
        let is_array = spot.key.kind == Kind::Tables(inner);
        let origin = self.origins.of(inner);
        match (through, *origin) {
            (Through::Header, Origin::Inline)
            | (Through::DottedKey, Origin::Inline | Origin::Header) => {
                self.add_duplicate(spot);
                return None;
            }
            // In an array: its last entry.
            (Through::Header, Origin::Header) => {}
            (
                Through::Header | Through::DottedKey,
                Origin::Absent | Origin::Implicit | Origin::Dotted,
            ) if is_array => {
                self.add_unexpected(spot, spot.key.kind.expected(), "a table");
                return None;
            }
            (Through::Header, Origin::Absent) => *origin = Origin::Implicit,
            (Through::Header, Origin::Implicit | Origin::Dotted) => {}
            (Through::DottedKey, Origin::Absent | Origin::Implicit | Origin::Dotted) => {
                *origin = Origin::Dotted;
            }
        }
        Some(inner)
    }

    /// What a key is; none when it or its table is not known, which was said.
    fn find(&mut self, table: Option<Table>, key: Event) -> Option<Found> {
        let raw = self.source.get(key)?;
        let mut error: Option<ParseError> = None;
        self.arena.start();
        raw.decode_key(&mut self.arena, &mut error);
        if let Some(error) = error {
            self.report.add_syntax(Path::NONE, &error);
            return None;
        }
        let table = table?;
        if table == Table::Environment {
            return Some(Found::Variable);
        }
        let Some(name) = self.arena.text() else {
            let expected = "a larger buffer for the strings";
            let path = self.path(table, raw.as_str());
            self.report
                .add(key.span().start(), path, Reason::Unfit { expected });
            return None;
        };
        let found = KEYS
            .iter()
            .enumerate()
            .find(|(_, known)| known.table == table && known.name == name);
        let Some((index, known)) = found else {
            let nearest = hint::nearest(table, name);
            let path = self.path(table, raw.as_str());
            let at = key.span().start();
            self.report.add(at, path, Reason::Unknown { nearest });
            return None;
        };
        Some(Found::Key(Spot {
            event: key,
            index,
            key: known,
        }))
    }

    /// Goes over a value that means nothing here; its syntax still counts.
    pub(super) fn skip_value(&mut self, cursor: &mut Cursor<'_>) {
        let mut depth = 0_usize;
        while let Some(event) = cursor.next() {
            match event.kind() {
                EventKind::ArrayOpen | EventKind::InlineTableOpen => {
                    depth = depth.saturating_add(1);
                }
                EventKind::ArrayClose | EventKind::InlineTableClose => {
                    depth = depth.saturating_sub(1);
                }
                EventKind::SimpleKey => {
                    self.find(None, event);
                    continue;
                }
                EventKind::Scalar => {
                    self.decode(event, Path::NONE);
                }
                EventKind::StdTableOpen
                | EventKind::StdTableClose
                | EventKind::ArrayTableOpen
                | EventKind::ArrayTableClose
                | EventKind::KeySep
                | EventKind::KeyValSep
                | EventKind::ValueSep
                | EventKind::Whitespace
                | EventKind::Comment
                | EventKind::Newline
                | EventKind::Error => continue,
            }
            if depth == 0 {
                return;
            }
        }
    }
}
