//! The statements of a TOML text, one at a time: a table's header or a key with
//! its value, as events.
//!
//! The TOML parser wants its tokens in one piece, 24 bytes each. A whole file
//! would take a mebibyte and a half, so it is given a statement at a time. That
//! changes nothing that is valid: a statement ends at the first line end outside
//! of brackets, and the parser carries nothing over from one to the next. Where
//! brackets are wrong the parser sees the same tokens and refuses them.

use heapless::Vec;
use toml_parser::decoder::Encoding;
use toml_parser::lexer::{Lexer, Token, TokenKind};
use toml_parser::parser::{Event, EventKind, EventReceiver, parse_document};
use toml_parser::{ErrorSink, ParseError, Source, Span};

use crate::format::config::error::{Path, Reason, Report};

/// Tokens of one statement: an environment of 64 lines, each with a comment, in
/// one inline table has 700.
const TOKENS: usize = 1024;

/// Brackets inside brackets, which the parser follows by recursion. The same as
/// in the `toml` crate; no key needs more than three.
const NESTING: u32 = 80;

pub(super) struct Statements<'s> {
    source: Source<'s>,
    lexer: Lexer<'s>,
    tokens: Vec<Token, { TOKENS }>,
    events: Vec<Event, { TOKENS }>,
}

/// What was found of one statement.
pub(super) struct Statement<'v> {
    /// Without spaces, comments and separators.
    pub(super) events: &'v [Event],
    /// Whether it is TOML. If not, the events are the parser's guess.
    pub(super) is_sound: bool,
}

impl<'s> Statements<'s> {
    pub(super) fn new(source: Source<'s>) -> Self {
        Self {
            source,
            lexer: source.lex(),
            tokens: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The next statement; none at the end. Blank lines count as statements.
    pub(super) fn next(&mut self, report: &mut Report<'_>) -> Option<Statement<'_>> {
        let is_whole = self.fill();
        let start = self.tokens.first()?.span().start();
        self.events.clear();
        if !is_whole {
            let expected = "an end of this array or table, or a shorter one";
            report.add(start, Path::NONE, Reason::Unfit { expected });
            return Some(Statement {
                events: &[],
                is_sound: false,
            });
        }
        let mut error: Option<ParseError> = None;
        let mut kept = Kept {
            events: &mut self.events,
            source: self.source,
            depth: 0,
        };
        parse_document(&self.tokens, &mut kept, &mut error);
        if let Some(error) = &error {
            report.add_syntax(Path::NONE, error);
        }
        Some(Statement {
            events: &self.events,
            is_sound: error.is_none(),
        })
    }

    /// Takes the tokens of one statement; false when there are too many.
    fn fill(&mut self) -> bool {
        self.tokens.clear();
        let mut is_whole = true;
        let mut is_header = None;
        let mut depth = 0_usize;
        for token in self.lexer.by_ref() {
            is_whole &= self.tokens.push(token).is_ok();
            match token.kind() {
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                    depth = depth.saturating_add(1);
                }
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                    depth = depth.saturating_sub(1);
                }
                // A header never goes on in the next line, whatever it opens.
                TokenKind::Newline if depth == 0 || is_header == Some(true) => break,
                TokenKind::Newline
                | TokenKind::Dot
                | TokenKind::Equals
                | TokenKind::Comma
                | TokenKind::Whitespace
                | TokenKind::Comment
                | TokenKind::LiteralString
                | TokenKind::BasicString
                | TokenKind::MlLiteralString
                | TokenKind::MlBasicString
                | TokenKind::Atom
                | TokenKind::Eof => {}
            }
            if token.kind() != TokenKind::Whitespace {
                is_header.get_or_insert(token.kind() == TokenKind::LeftSquareBracket);
            }
        }
        is_whole
    }
}

/// Walks over the events of a statement.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'v> {
    events: &'v [Event],
}

impl<'v> Cursor<'v> {
    pub(super) const fn new(events: &'v [Event]) -> Self {
        Self { events }
    }

    pub(super) fn peek(&self) -> Option<Event> {
        self.events.first().copied()
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        let (first, rest) = self.events.split_first()?;
        self.events = rest;
        Some(*first)
    }

    pub(super) fn next_if(&mut self, kind: EventKind) -> Option<Event> {
        if self.peek()?.kind() == kind {
            self.next()
        } else {
            None
        }
    }
}

/// Keeps the events that mean something: no spaces, comments and separators,
/// which are only checked.
struct Kept<'v, 's> {
    events: &'v mut Vec<Event, TOKENS>,
    source: Source<'s>,
    depth: u32,
}

impl Kept<'_, '_> {
    #[inline(never)]
    fn keep(&mut self, kind: EventKind, encoding: Option<Encoding>, span: Span) {
        // There is never more than one for a token, but for the guesses behind
        // an error, which nobody needs whole.
        let event = Event::new_unchecked(kind, encoding, span);
        let _ = self.events.push(event);
    }

    /// Whether the parser may go into one more bracket.
    #[inline(never)]
    fn open(&mut self, kind: EventKind, span: Span, error: &mut dyn ErrorSink) -> bool {
        self.keep(kind, None, span);
        self.depth = self.depth.saturating_add(1);
        if self.depth > NESTING {
            error.report_error(ParseError::new("too many brackets").with_unexpected(span));
        }
        self.depth <= NESTING
    }

    fn close(&mut self, kind: EventKind, span: Span) {
        self.keep(kind, None, span);
        self.depth = self.depth.saturating_sub(1);
    }
}

impl EventReceiver for Kept<'_, '_> {
    fn std_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.keep(EventKind::StdTableOpen, None, span);
    }

    fn array_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.keep(EventKind::ArrayTableOpen, None, span);
    }

    fn inline_table_open(&mut self, span: Span, error: &mut dyn ErrorSink) -> bool {
        self.open(EventKind::InlineTableOpen, span, error)
    }

    fn inline_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.close(EventKind::InlineTableClose, span);
    }

    fn array_open(&mut self, span: Span, error: &mut dyn ErrorSink) -> bool {
        self.open(EventKind::ArrayOpen, span, error)
    }

    fn array_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.close(EventKind::ArrayClose, span);
    }

    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        self.keep(EventKind::SimpleKey, encoding, span);
    }

    fn key_val_sep(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.keep(EventKind::KeyValSep, None, span);
    }

    fn scalar(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        self.keep(EventKind::Scalar, encoding, span);
    }

    fn comment(&mut self, span: Span, error: &mut dyn ErrorSink) {
        if let Some(raw) = self.source.get(span) {
            raw.decode_comment(error);
        }
    }

    fn newline(&mut self, span: Span, error: &mut dyn ErrorSink) {
        if let Some(raw) = self.source.get(span) {
            raw.decode_newline(error);
        }
    }
}
