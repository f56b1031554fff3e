//! What is wrong in a config, and where: for a person to find and mend.
//!
//! Written, an error is `12:8: host.stop-grace: expected a duration such as
//! "5s", found 5`; whoever prints it puts the file's name before it.

use core::fmt::{Display, Formatter, Result, Write};

use toml_parser::{Expected, ParseError};

use crate::format::config::keys::{Key, Table};

/// Errors that are told one by one; the rest is counted. A person mends no more
/// of them before the next try.
const ERRORS: usize = 64;

/// One thing that is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Error<'a> {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The key it is about, if it is about one.
    pub key: Path<'a>,
    /// What is wrong with it.
    pub reason: Reason<'a>,
}

/// A key by its whole path: `host.stop-grace`, `mount[2].target`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path<'a> {
    /// The table it is in.
    pub table: Table,
    /// Which entry of an array of tables, from 0.
    pub index: Option<usize>,
    /// The key in the table, as it is written; empty for the table itself.
    pub name: &'a str,
}

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub enum Reason<'a> {
    /// It is not TOML.
    Syntax {
        /// In the words of the TOML parser.
        problem: &'a str,
        /// What TOML allows there.
        expected: &'static [Expected],
    },
    /// A byte that is not UTF-8.
    Encoding,
    /// A key or table that is there already.
    Duplicate,
    /// A key that host-init does not know.
    Unknown {
        /// The key that was probably meant.
        nearest: Option<&'static Key>,
    },
    /// A key that must be there.
    Missing {
        /// What it takes.
        expected: &'static str,
    },
    /// A value that the key does not take.
    Unexpected {
        /// What it takes.
        expected: &'static str,
        /// The value as it is written; its start, when it is long.
        found: &'a str,
    },
    /// Something that is right by itself, and not with the rest of the config.
    Unfit {
        /// What would fit.
        expected: &'static str,
    },
    /// So many more things are wrong.
    More(usize),
}

/// Counts what is wrong, and finds line and column of it.
pub(super) struct Report<'e> {
    text: &'e [u8],
    sink: &'e mut dyn FnMut(&Error<'_>),
    count: usize,
    is_muted: bool,
}

impl<'e> Report<'e> {
    pub(super) fn new(text: &'e [u8], sink: &'e mut dyn FnMut(&Error<'_>)) -> Self {
        Self {
            text,
            sink,
            count: 0,
            is_muted: false,
        }
    }

    /// Leaves out what is wrong while a statement is read whose syntax is
    /// wrong already: the parser's guesses would be blamed on the person.
    pub(super) const fn mute(&mut self, is_muted: bool) {
        self.is_muted = is_muted;
    }

    #[inline(never)]
    pub(super) fn add(&mut self, at: usize, key: Path<'_>, reason: Reason<'_>) {
        if self.is_muted {
            return;
        }
        self.count = self.count.saturating_add(1);
        if self.count <= ERRORS {
            self.tell(at, key, reason);
        }
    }

    #[inline(never)]
    pub(super) fn add_syntax(&mut self, key: Path<'_>, error: &ParseError) {
        let at = error.unexpected().or(error.context());
        let is_nothing = at.is_some_and(|span| span.is_empty());
        let expected = error.expected().unwrap_or_default();
        let (problem, expected) = match error.description() {
            // The parser's words for a value or key that is not there at all.
            "string values must be quoted" if is_nothing => ("missing value", &[][..]),
            "unquoted keys cannot be empty" => ("missing key", &[][..]),
            // Of all strings it would have a literal one.
            "string values must be quoted" => ("a string must be in quotes", &[][..]),
            other => (other, expected),
        };
        let reason = Reason::Syntax { problem, expected };
        self.add(at.map_or(0, |span| span.start()), key, reason);
    }

    /// Whether nothing was wrong. Says how much more there was.
    pub(super) fn finish(mut self) -> bool {
        if let Some(more @ 1..) = self.count.checked_sub(ERRORS) {
            self.tell(self.text.len(), Path::NONE, Reason::More(more));
        }
        self.count == 0
    }

    fn tell(&mut self, at: usize, key: Path<'_>, reason: Reason<'_>) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before);
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline.saturating_add(1));
        // A character is a byte that does not continue another.
        let is_start = |byte: &&u8| **byte & 0xc0 != 0x80;
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let column = before.iter().skip(line_start).filter(is_start).count();
        (self.sink)(&Error {
            line: line.saturating_add(1),
            column: column.saturating_add(1),
            key,
            reason,
        });
    }
}

impl Path<'_> {
    /// The path of what is about no key.
    pub const NONE: Self = Self {
        table: Table::Root,
        index: None,
        name: "",
    };
}

impl Display for Error<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{}:{}: ", self.line, self.column)?;
        if self.key != Path::NONE {
            self.key.fmt(out)?;
            out.write_str(": ")?;
        }
        self.reason.fmt(out)
    }
}

impl Display for Path<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let table = self.table.name();
        out.write_str(table)?;
        if let Some(index) = self.index {
            write!(out, "[{index}]")?;
        }
        if !table.is_empty() && !self.name.is_empty() {
            out.write_char('.')?;
        }
        out.write_str(self.name)
    }
}

impl Display for Reason<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Syntax { problem, expected } => {
                out.write_str(problem)?;
                let Some((last, others)) = expected.split_last() else {
                    return Ok(());
                };
                let mut separator = ", expected ";
                for one in others {
                    out.write_str(separator)?;
                    write_expected(out, one)?;
                    separator = ", ";
                }
                out.write_str(if others.is_empty() { separator } else { " or " })?;
                write_expected(out, last)
            }
            Self::Encoding => out.write_str("expected UTF-8"),
            Self::Duplicate => out.write_str("duplicate key or table"),
            Self::Unknown { nearest } => {
                out.write_str("unknown key")?;
                if let Some(key) = nearest {
                    out.write_str("; did you mean ")?;
                    key.path().fmt(out)?;
                }
                Ok(())
            }
            Self::Missing { expected } => {
                out.write_str("missing; expected ")?;
                out.write_str(expected)
            }
            Self::Unexpected { expected, found } => {
                out.write_str("expected ")?;
                out.write_str(expected)?;
                out.write_str(", found ")?;
                write_excerpt(out, found)
            }
            Self::Unfit { expected } => {
                out.write_str("expected ")?;
                out.write_str(expected)
            }
            Self::More(count) => write!(out, "{count} more errors"),
        }
    }
}

fn write_expected(out: &mut Formatter<'_>, expected: &Expected) -> Result {
    // The type is open: what a later parser adds is left out.
    if let Expected::Literal(text) = *expected {
        match text {
            "\n" => out.write_str("a line end"),
            text => {
                out.write_char('`')?;
                out.write_str(text)?;
                out.write_char('`')
            }
        }
    } else if let Expected::Description(text) = *expected {
        out.write_str(text)
    } else {
        Ok(())
    }
}

/// The first line of a value, cut where it gets long.
fn write_excerpt(out: &mut Formatter<'_>, value: &str) -> Result {
    /// Characters that are enough to know the value again.
    const LENGTH: usize = 40;
    let mut characters = value.chars();
    for character in characters.by_ref().take(LENGTH) {
        if matches!(character, '\r' | '\n') {
            return out.write_char('…');
        }
        out.write_char(character)?;
    }
    match characters.next() {
        Some(_) => out.write_char('…'),
        None => Ok(()),
    }
}
