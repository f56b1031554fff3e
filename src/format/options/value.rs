//! The values that options take.

use core::time::Duration;

use crate::base::job::Job;
use crate::base::signal::Signal;
use crate::format::duration;
use crate::format::options::persona::Voice;
use crate::policy::entrypoint::{Codes, Rewrites};

/// A signal by its name or number.
pub(super) fn signal(text: &[u8]) -> Option<Signal> {
    Signal::parse(core::str::from_utf8(text).ok()?)
}

/// A signal for when the parent ends: tini knows the classic names, all but four.
pub(super) fn parent_death(dialect: Voice, text: &[u8]) -> Option<Signal> {
    let signal = signal(text)?;
    let is_known = dialect != Voice::Tini
        || text.starts_with(b"SIG")
            && signal.name().is_some()
            && !matches!(signal, Signal::STKFLT | Signal::IO | Signal::PWR);
    is_known.then_some(signal)
}

/// A signal by its name or number; none within for 0, which is no signal.
fn signal_or_none(text: &[u8]) -> Option<Option<Signal>> {
    if text == b"0" {
        return Some(None);
    }
    signal(text).map(Some)
}

/// A time as in a config; a number alone is seconds, as for `timeout(1)`.
pub(super) fn time(text: &[u8]) -> Option<Duration> {
    let text = core::str::from_utf8(text).ok()?;
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let time = Duration::from_secs(text.parse().ok()?);
        return (time <= duration::LONGEST).then_some(time);
    }
    duration::parse(text)
}

/// What a command gets of its own.
pub(super) fn job(text: &[u8]) -> Option<Job> {
    match text {
        b"session" => Some(Job::Session),
        b"group" => Some(Job::Group),
        b"none" => Some(Job::Shared),
        _ => None,
    }
}

/// Pairs of signals with commas between them: `15:3`, `TERM:QUIT`, `HUP:0`.
/// dumb-init knows one pair of numbers up to 31, and reads no further.
pub(super) fn rewrites(dialect: Voice, text: &[u8], rewrites: &mut Rewrites) -> bool {
    let mut take = |from: Option<Signal>, to: Option<Option<Signal>>| match (from, to) {
        (Some(from), Some(to)) => {
            rewrites.set(from, to);
            true
        }
        _ => false,
    };
    if dialect == Voice::DumbInit {
        let classic = |number: i64| u8::try_from(number).ok().filter(|number| *number <= 31);
        let pair = c_number(text).and_then(|(from, rest)| {
            let (to, _) = c_number(rest.strip_prefix(b":")?)?;
            Some((classic(from)?, classic(to)?))
        });
        let (from, to) = pair.unzip();
        return take(
            from.and_then(Signal::from_number),
            to.map(Signal::from_number),
        );
    }
    text.split(|byte| *byte == b',').all(|pair| {
        let (from, to) = halves(pair);
        take(signal(from), to.and_then(signal_or_none))
    })
}

/// Exit codes with commas between them, each alone for 0 or with what it becomes:
/// `143`, `3:0`, `1:42`. tini knows one code, and nothing at all is 0.
pub(super) fn codes(dialect: Voice, text: &[u8], codes: &mut Codes) -> bool {
    if dialect == Voice::Tini {
        let code = match text {
            b"" => Some(0),
            text => c_number(text)
                .filter(|(_, rest)| rest.is_empty())
                .and_then(|(number, _)| u8::try_from(number).ok()),
        };
        return code.is_some_and(|code| codes.set(code, 0));
    }
    text.split(|byte| *byte == b',').all(|pair| {
        let (from, to) = halves(pair);
        let from = code_of(from);
        let to = to.map_or(Some(0), code_of);
        match (from, to) {
            (Some(from), Some(to)) => codes.set(from, to),
            _ => false,
        }
    })
}

/// What is before the first colon, and what is behind it if there is one.
fn halves(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut halves = text.splitn(2, |byte| *byte == b':');
    (halves.next().unwrap_or_default(), halves.next())
}

fn code_of(text: &[u8]) -> Option<u8> {
    // A sign is no digit.
    text.iter().all(u8::is_ascii_digit).then_some(())?;
    core::str::from_utf8(text).ok()?.parse().ok()
}

/// A number as `strtol(3)` reads it in base 10, and what is behind it: space, a sign
/// and digits, of which there must be one.
fn c_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let text = text.trim_ascii_start();
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (digits, rest) = digits.split_at_checked(count).filter(|_| count > 0)?;
    let number = digits.iter().fold(0_i64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(i64::from(digit.saturating_sub(b'0')))
    });
    let number = if is_negative {
        number.saturating_neg()
    } else {
        number
    };
    Some((number, rest))
}

/// A number as `atoi(3)` reads it: what is none is 0.
pub(super) fn number(text: &[u8]) -> u8 {
    let number = c_number(text).map_or(0, |(number, _)| number.clamp(0, 255));
    u8::try_from(number).unwrap_or(u8::MAX)
}
