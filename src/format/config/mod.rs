//! The config: TOML, read without an allocation, every error of it in one run.
//!
//! | file | what it knows |
//! |---|---|
//! | [`keys`] | every key: its place, what it takes, what it means |
//! | [`error`] | what is wrong, where, and in which words |
//! | `statement` | a TOML text as statements, and those as events |
//! | `reader` | which table and key a statement is about, and whether it may be |
//! | `origin` | how a table came to be |
//! | `scalar` | a value becomes a field |
//! | `whole` | what only shows when a table is whole |
//! | `refusal` | how each kind of refusal is reported |
//! | `value` | which texts a key takes |
//! | `hint` | the key that was probably meant |
//! | `draft` | a config while it is being read |
//! | `arena` | the strings |
//! | [`variables`] | what fills a config that is compatible with a launcher script |

mod arena;
mod draft;
pub mod error;
mod hint;
pub mod keys;
mod origin;
mod reader;
mod refusal;
mod scalar;
mod statement;
mod value;
pub mod variables;
mod whole;

use toml_parser::Source;

use crate::base::limits;
use crate::policy::config::Config;
use error::{Error, Path, Reason, Report};
use reader::Reader;
use variables::Variables;

/// Reads a config. None when anything is wrong with it; `tell` has heard then
/// what, in the order of the statements, at most 64 things and how many more.
///
/// The strings of the config are in `arena`, which needs no more bytes than
/// `text` has. A byte order mark at the start is skipped.
pub fn parse<'t>(
    text: &[u8],
    arena: &'t mut [u8],
    tell: &mut dyn FnMut(&Error<'_>),
) -> Option<Config<'t>> {
    parse_with(text, arena, &Variables::default(), tell)
}

/// As [`parse`]; what a config leaves out that is compatible with a launcher script,
/// its variables fill.
pub fn parse_with<'t>(
    text: &[u8],
    arena: &'t mut [u8],
    variables: &Variables<'t>,
    tell: &mut dyn FnMut(&Error<'_>),
) -> Option<Config<'t>> {
    let mut report = Report::new(text, tell);
    if text.len() > limits::CONFIG_BYTES {
        let expected = "a file of at most 65536 bytes";
        report.add(limits::CONFIG_BYTES, Path::NONE, Reason::Unfit { expected });
        return None;
    }
    let Ok(text) = core::str::from_utf8(text) else {
        tell_encoding(text, report);
        return None;
    };
    let source = Source::new(text);
    let mut reader = Reader::new(source, arena, report);
    statement::each(source, &mut reader);
    reader.finish(variables)
}

/// Says every place that is not UTF-8. The text behind is not looked at: what
/// it means is a guess.
fn tell_encoding(text: &[u8], mut report: Report<'_>) {
    let mut at = 0_usize;
    for chunk in text.utf8_chunks() {
        at = at.saturating_add(chunk.valid().len());
        if !chunk.invalid().is_empty() {
            report.add(at, Path::NONE, Reason::Encoding);
        }
        at = at.saturating_add(chunk.invalid().len());
    }
    report.finish();
}
