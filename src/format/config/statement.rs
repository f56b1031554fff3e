//! The statements of a TOML text, one at a time: a table's header or a key with
//! its value, as events.
//!
//! The TOML parser wants its tokens in one piece, 24 bytes each. A whole file
//! would take a mebibyte and a half, so it is given a statement at a time. That
//! changes nothing that is valid: a statement ends at the first line end outside
//! of brackets, and the parser carries nothing over from one to the next. Where
//! brackets are wrong the parser sees the same tokens and refuses them.

use heapless::{Vec, VecView};
use toml_parser::decoder::Encoding;
use toml_parser::lexer::{Lexer, Token, TokenKind};
use toml_parser::parser::{Event, EventKind, EventReceiver, parse_document};
use toml_parser::{ErrorSink, ParseError, Source, Span};

use crate::format::config::error::{Path, Reason};
use crate::format::config::reader::Reader;

/// Tokens of one statement: an environment of 64 lines, each with a comment, in
/// one inline table has 700.
const TOKENS: usize = 1024;

/// Tokens of most statements. What is on the stack costs PID 1 whether it is used
/// or not, so that a longer one gets its room only when it comes.
const FEW_TOKENS: usize = 64;

/// Brackets inside brackets, which the parser follows by recursion. The same as
/// in the `toml` crate; no key needs more than three.
const NESTING: u32 = 80;

/// What was found of one statement.
pub(super) struct Statement<'v> {
    /// Without spaces, comments and separators.
    pub(super) events: &'v [Event],
    /// Whether it is TOML. If not, the events are the parser's guess.
    pub(super) is_sound: bool,
}

/// Hands every statement of a source to a reader.
pub(super) fn each(source: Source<'_>, reader: &mut Reader<'_, '_, '_>) {
    let mut lexer = source.lex();
    let mut tokens = Vec::<Token, FEW_TOKENS>::new();
    let mut events = Vec::<Event, FEW_TOKENS>::new();
    loop {
        tokens.clear();
        let mut ends = Ends::default();
        match fill(&mut lexer, &mut tokens, &mut ends) {
            Filled::Nothing => return,
            Filled::Whole => read(source, &tokens, &mut events, reader),
            Filled::Full(next) => read_long(source, &mut lexer, ends, &tokens, next, reader),
        }
    }
}

/// Reads the statement that these tokens are.
fn read(
    source: Source<'_>,
    tokens: &[Token],
    events: &mut VecView<Event>,
    reader: &mut Reader<'_, '_, '_>,
) {
    let mut error: Option<ParseError> = None;
    events.clear();
    let mut kept = Kept {
        events,
        source,
        depth: 0,
    };
    parse_document(tokens, &mut kept, &mut error);
    if let Some(error) = &error {
        reader.report().add_syntax(Path::NONE, error);
    }
    reader.read(&Statement {
        events,
        is_sound: error.is_none(),
    });
}

/// Goes on with a statement that has more than a few tokens.
#[inline(never)]
fn read_long(
    source: Source<'_>,
    lexer: &mut Lexer<'_>,
    mut ends: Ends,
    first: &[Token],
    next: Token,
    reader: &mut Reader<'_, '_, '_>,
) {
    let mut tokens = Vec::<Token, TOKENS>::new();
    let mut events = Vec::<Event, TOKENS>::new();
    for token in first {
        let _ = tokens.push(*token);
    }
    let _ = tokens.push(next);
    let start = next.span().start();
    // The token that did not fit may be the last one.
    let filled = if ends.is_end {
        Filled::Whole
    } else {
        fill(lexer, &mut tokens, &mut ends)
    };
    if let Filled::Full(_) = filled {
        while !ends.is_end
            && let Some(token) = lexer.next()
        {
            ends.see(token.kind());
        }
        let start = tokens.first().map_or(start, |token| token.span().start());
        let expected = "an end of this array or table, or a shorter one";
        let reason = Reason::Unfit { expected };
        reader.report().add(start, Path::NONE, reason);
        return;
    }
    read(source, &tokens, &mut events, reader);
}

/// What a look for the end of a statement came to.
enum Filled {
    /// The text is at its end.
    Nothing,
    /// The statement is whole.
    Whole,
    /// There is no room for this token of it.
    Full(Token),
}

/// Takes tokens up to the end of a statement, or of the room for them.
fn fill(lexer: &mut Lexer<'_>, tokens: &mut VecView<Token>, ends: &mut Ends) -> Filled {
    for token in lexer.by_ref() {
        ends.see(token.kind());
        if let Err(token) = tokens.push(token) {
            return Filled::Full(token);
        }
        if ends.is_end {
            return Filled::Whole;
        }
    }
    if tokens.is_empty() {
        Filled::Nothing
    } else {
        Filled::Whole
    }
}

/// Finds the end of a statement.
#[derive(Clone, Copy, Default)]
struct Ends {
    depth: usize,
    /// Whether it is a header, once that is known.
    is_header: Option<bool>,
    is_end: bool,
}

impl Ends {
    fn see(&mut self, kind: TokenKind) {
        match kind {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                self.depth = self.depth.saturating_add(1);
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                self.depth = self.depth.saturating_sub(1);
            }
            // A header never goes on in the next line, whatever it opens.
            TokenKind::Newline => {
                self.is_end = self.depth == 0 || self.is_header == Some(true);
            }
            TokenKind::Dot
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
        if kind != TokenKind::Whitespace {
            self.is_header
                .get_or_insert(kind == TokenKind::LeftSquareBracket);
        }
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
    events: &'v mut VecView<Event>,
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
