//! A value becomes a field of the config, or an error that says what would.

use toml_parser::parser::{Event, EventKind};
use toml_parser::{ParseError, Raw, Span};

use crate::base::level::LEVELS;
use crate::base::signal::Signal;
use crate::format::config::error::{Path, Reason};
use crate::format::config::keys::{
    ASKED, COMPAT, Kind, ON_HALT, OUTPUTS, Program, READY, Table, named,
};
use crate::format::config::reader::{Reader, Spot};
use crate::format::config::statement::Cursor;
use crate::format::config::value::{self, Scalar};
use crate::format::duration;
use crate::policy::config::Need;

/// What a string with a NUL in it is told: the kernel's strings end there.
const NO_NUL: &str = "a string without a NUL character";

impl Reader<'_, '_, '_> {
    /// Reads the value of a key that takes one string, number or boolean.
    pub(super) fn read_scalar(&mut self, cursor: &mut Cursor<'_>, spot: Spot) {
        let Some(event) = cursor.next_if(EventKind::Scalar) else {
            return self.refuse_value(cursor, spot, spot.key.kind.expected());
        };
        let path = self.path_of(spot);
        let Some(scalar) = self.decode(event, path) else {
            return;
        };
        if let Err(expected) = self.set(spot.key.kind, scalar) {
            self.refuse(event, path, expected);
        }
    }

    /// Reads the words of a command, up to the bracket.
    pub(super) fn read_command(&mut self, cursor: &mut Cursor<'_>, spot: Spot) {
        let path = self.path_of(spot);
        let mut is_first = true;
        while cursor.next_if(EventKind::ArrayClose).is_none() {
            let Some(event) = cursor.next_if(EventKind::Scalar) else {
                if cursor.peek().is_none() {
                    return;
                }
                self.refuse_value(cursor, spot, "a string");
                is_first = false;
                continue;
            };
            if let Some(scalar) = self.decode(event, path)
                && let Err(expected) = self.add_word(spot.key.kind, scalar, is_first)
            {
                self.refuse(event, path, expected);
            }
            is_first = false;
        }
        if is_first {
            let expected = spot.key.kind.expected();
            let at = spot.event.span().start();
            self.report.add(at, path, Reason::Unfit { expected });
        }
    }

    /// Reads the value of an environment entry, whose name is in the arena.
    pub(super) fn read_variable(&mut self, cursor: &mut Cursor<'_>, key: Event) {
        let name = self.raw(key);
        let path = self.path(Table::Environment, name);
        if !self.arena.text().is_some_and(value::is_variable) {
            let expected = "a name of letters, digits and \"_\", no digit first";
            self.refuse(key, path, expected);
            return self.skip_value(cursor);
        }
        self.arena.start_value();
        let entries = &self.draft.host.environment;
        let start = self.arena.whole();
        if entries
            .iter()
            .any(|entry| entry.to_bytes().starts_with(start))
        {
            self.report.add(key.span().start(), path, Reason::Duplicate);
            return self.skip_value(cursor);
        }
        let Some(event) = cursor.next_if(EventKind::Scalar) else {
            self.refuse_next(cursor, path, "a string");
            return self.skip_value(cursor);
        };
        let Some(scalar) = self.decode_value(event, path) else {
            return;
        };
        if scalar != Scalar::String {
            return self.refuse(event, path, "a string");
        }
        let Some(entry) = self.arena.keep() else {
            return self.refuse(event, path, NO_NUL);
        };
        if self.draft.host.environment.push(entry).is_err() {
            let expected = "at most 64 entries";
            let at = key.span().start();
            self.report.add(at, path, Reason::Unfit { expected });
        }
    }

    /// Decodes a value into the arena; none when it is not TOML, which was said.
    pub(super) fn decode(&mut self, event: Event, path: Path<'_>) -> Option<Scalar> {
        self.arena.start();
        self.decode_value(event, path)
    }

    fn decode_value(&mut self, event: Event, path: Path<'_>) -> Option<Scalar> {
        let raw = self.source.get(event)?;
        let Some(encoding) = event.encoding() else {
            let scalar = Scalar::unquoted(raw.as_str());
            if scalar.is_none() {
                self.report.add_syntax(path, &unquoted(event.span()));
            }
            return scalar;
        };
        // Quotes around it are known here, so that the parser's reading of
        // numbers and dates, five times this file, stays out of the program.
        let raw = Raw::new_unchecked(raw.as_str(), Some(encoding), event.span());
        let mut error: Option<ParseError> = None;
        let _ = raw.decode_scalar(&mut self.arena, &mut error);
        match error {
            Some(error) => {
                self.report.add_syntax(path, &error);
                None
            }
            None => Some(Scalar::String),
        }
    }

    /// Sets the field; else says what the key takes.
    fn set(&mut self, kind: Kind, scalar: Scalar) -> Result<(), &'static str> {
        let expected = kind.expected();
        let text = self.arena.text().ok_or(expected)?;
        let takes_string = !matches!(kind, Kind::Need | Kind::Id(_) | Kind::Limit);
        if takes_string && scalar != Scalar::String {
            return Err(expected);
        }
        match kind {
            Kind::Need => match scalar {
                Scalar::Boolean(true) => self.draft.entry.need = Need::Required,
                Scalar::Boolean(false) => self.draft.entry.need = Need::Optional,
                Scalar::String | Scalar::Integer(_) | Scalar::Other => return Err(expected),
            },
            Kind::Id(field) => match scalar {
                Scalar::Integer(number) => {
                    let id = value::id(number).ok_or(expected)?;
                    self.draft.set_id(field, id);
                }
                Scalar::String | Scalar::Boolean(_) | Scalar::Other => return Err(expected),
            },
            Kind::Limit => match scalar {
                Scalar::Integer(number @ 0..=1000) => {
                    self.draft.host.start_limit = u32::try_from(number).map_err(|_| expected)?;
                }
                Scalar::String | Scalar::Boolean(_) | Scalar::Integer(_) | Scalar::Other => {
                    return Err(expected);
                }
            },
            Kind::Hostname if value::is_hostname(text) => {
                self.draft.config.hostname = Some(self.arena.keep().ok_or(NO_NUL)?);
            }
            Kind::Text(field) => {
                let text = self.arena.keep().ok_or(NO_NUL)?;
                self.draft.set_text(field, text);
            }
            Kind::Name(field) if !text.is_empty() => {
                let text = self.arena.keep().ok_or(NO_NUL)?;
                self.draft.set_text(field, text);
            }
            Kind::Path(field) if value::is_path(text) => {
                let text = self.arena.keep().ok_or(NO_NUL)?;
                self.draft.set_text(field, text);
            }
            Kind::Entry(field) if value::is_path(text) && value::has_name(text) => {
                let text = self.arena.keep().ok_or(NO_NUL)?;
                self.draft.set_text(field, text);
            }
            Kind::Duration(field) => {
                let time = duration::parse(text).ok_or(expected)?;
                self.draft.set_time(field, time);
            }
            Kind::Timeout(field) => {
                let time = duration::parse(text).ok_or(expected)?;
                if time.is_zero() {
                    return Err(expected);
                }
                self.draft.set_time(field, time);
            }
            Kind::Mode => self.draft.entry.mode = value::mode(text).ok_or(expected)?,
            Kind::Level => self.draft.config.log_level = named(&LEVELS, text).ok_or(expected)?,
            Kind::OnHalt => self.draft.host.on_halt = named(&ON_HALT, text).ok_or(expected)?,
            Kind::Compat => named(&COMPAT, text).ok_or(expected)?,
            Kind::Ready => self.draft.host.ready = named(&READY, text).ok_or(expected)?,
            Kind::Output => self.draft.host.output = named(&OUTPUTS, text).ok_or(expected)?,
            Kind::Asked(field) => {
                let asked = named(&ASKED, text).ok_or(expected)?;
                self.draft.set_asked(field, asked);
            }
            Kind::StopSignal => {
                self.draft.host.stop_signal = Signal::parse(text)
                    .filter(|signal| *signal != Signal::STOP)
                    .ok_or(expected)?;
            }
            Kind::Hostname
            | Kind::Name(_)
            | Kind::Path(_)
            | Kind::Entry(_)
            | Kind::Command(_)
            | Kind::Table(_)
            | Kind::Tables(_) => return Err(expected),
        }
        Ok(())
    }

    fn add_word(&mut self, kind: Kind, scalar: Scalar, is_first: bool) -> Result<(), &'static str> {
        let text = self.arena.text().ok_or(NO_NUL)?;
        if scalar != Scalar::String {
            return Err("a string");
        }
        if is_first && !value::is_path(text) {
            return Err("the program by an absolute path without \"..\"");
        }
        let word = self.arena.keep().ok_or(NO_NUL)?;
        let host = &mut self.draft.host;
        let words = if kind == Kind::Command(Program::Rollback) {
            &mut host.rollback
        } else {
            &mut host.command
        };
        words.push(word).map_err(|_| "at most 64 words")
    }
}

/// What stands where a value must be and is none, in the words of the parser.
fn unquoted(span: Span) -> ParseError {
    ParseError::new("string values must be quoted").with_unexpected(span)
}
