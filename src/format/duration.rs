//! A span of time as a person writes it: `5s`, `250ms`, `1min 30s`.
//!
//! The units are those of `systemd.time(7)` that can't be mistaken; a number
//! without one is refused, since some programs would take it for seconds and
//! others for milliseconds. So is `m`, which is minutes to some and months to
//! others.

use core::time::Duration;

/// What [`parse`] takes, for a message.
pub const EXPECTED: &str = "a duration such as \"5s\", \"250ms\" or \"1min 30s\", at most \"365d\"";

/// The longest that anything may wait. More is a mistake in the number.
pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Each unit, and how many milliseconds it is.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("min", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// The sum of the parts, each a number and a unit; spaces may part them.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.trim_matches(' ');
    let mut sum = Duration::ZERO;
    loop {
        let (number, after) = split(rest, |byte| byte.is_ascii_digit())?;
        let (unit, after) = split(after.trim_start_matches(' '), |byte| {
            byte.is_ascii_alphabetic()
        })?;
        let number: u64 = number.parse().ok()?;
        let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(Duration::from_millis(number.checked_mul(*millis)?))?;
        rest = after.trim_start_matches(' ');
        if rest.is_empty() {
            return (sum <= LONGEST).then_some(sum);
        }
    }
}

/// The bytes at the start that `belongs` holds for, which must not be none.
fn split(text: &str, belongs: fn(&u8) -> bool) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(belongs).count();
    text.split_at_checked(length)
        .filter(|(head, _)| !head.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_the_sum_of_its_parts() {
        for (text, millis) in [
            ("0s", 0),
            ("250ms", 250),
            ("5s", 5_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
            ("1min30s", 90_000),
            ("1min 30s", 90_000),
            (" 1 min  30 s ", 90_000),
            ("1d 2h 3min 4s 5ms", 93_784_005),
            ("1s 1s", 2_000),
            ("007s", 7_000),
            ("365d", 31_536_000_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text:?}");
        }
    }

    #[test]
    fn what_could_be_mistaken_is_refused() {
        for text in [
            "",
            " ",
            "5",
            "s",
            "5 ",
            "-5s",
            "+5s",
            "1.5s",
            "5S",
            "5m",
            "5sec",
            "5s,",
            "5s\t",
            "5s 5",
            "1e3s",
            "é",
            "5é",
            "٣s",
            "infinity",
            "366d",
            "365d 1ms",
            "18446744073709551616ms",
            "18446744073709551615d",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
