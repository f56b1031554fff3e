//! What a value is, and whether a text is what a key takes.

use core::ffi::CStr;

use crate::base::limits;

/// What a value in TOML is; the text of a string is in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    String,
    Boolean(bool),
    Integer(i64),
    /// A float, a date or time, or a number that is none: no key takes it.
    Other,
}

impl Scalar {
    /// What a value without quotes is; none when it could only be a string that
    /// lacks them.
    pub(super) fn unquoted(text: &str) -> Option<Self> {
        match text {
            "true" => Some(Self::Boolean(true)),
            "false" => Some(Self::Boolean(false)),
            "inf" | "nan" => Some(Self::Other),
            _ if text.starts_with(['+', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
                Some(integer(text).map_or(Self::Other, Self::Integer))
            }
            _ => None,
        }
    }
}

/// The number of TOML's `integer`.
fn integer(text: &str) -> Option<i64> {
    let radixes = [("0x", 16), ("0o", 8), ("0b", 2)];
    for (prefix, radix) in radixes {
        if let Some(digits) = text.strip_prefix(prefix) {
            return digits_of(digits, radix);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.starts_with('0') && unsigned != "0" {
        return None;
    }
    let number = digits_of(unsigned, 10)?;
    if text.starts_with('-') {
        number.checked_neg()
    } else {
        Some(number)
    }
}

/// The number of digits with single underscores between them.
fn digits_of(text: &str, radix: u32) -> Option<i64> {
    let mut number = 0_i64;
    let mut was_digit = false;
    for character in text.chars() {
        if character == '_' && was_digit {
            was_digit = false;
            continue;
        }
        let digit = i64::from(character.to_digit(radix)?);
        number = number.checked_mul(i64::from(radix))?.checked_add(digit)?;
        was_digit = true;
    }
    was_digit.then_some(number)
}

/// A name by which the machine can be found in a network (RFC 1123), and not
/// longer than `sethostname(2)` takes.
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= 64 && text.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// A path that means the same whatever the working directory is. `..` is
/// refused: behind a symbolic link it leads elsewhere than it reads.
pub(super) fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && text.len() < limits::PATH_BYTES
        && text.split('/').all(|component| component != "..")
}

/// Whether a path ends with a name: `/` and `/a/` are a directory's, `/a/.` as well.
pub(super) fn has_name(path: &str) -> bool {
    !matches!(path.rsplit('/').next(), None | Some("" | "."))
}

/// A name of an environment entry that every shell can read.
pub(super) fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Permission bits in octal, as `chmod(1)` takes them: 3 or 4 digits, with or
/// without a zero before them.
pub(super) fn mode(text: &str) -> Option<u16> {
    let is_octal = text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if !is_octal || !(3..=5).contains(&text.len()) {
        return None;
    }
    u16::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o7777)
}

/// The number of a user or group. The highest means "no change" to `chown(2)`.
pub(super) fn id(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|id| *id != u32::MAX)
}

/// Whether two paths lead to one place: `/a//b/.` is `/a/b`.
pub(super) fn is_same_path(one: &CStr, other: &CStr) -> bool {
    parts(one).eq(parts(other))
}

fn parts(path: &CStr) -> impl Iterator<Item = &[u8]> {
    path.to_bytes()
        .split(|byte| *byte == b'/')
        .filter(|part| !matches!(*part, b"" | b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostname_is_one_that_a_network_takes() {
        let longest = "a".repeat(64);
        for text in ["a", "edge-7", "edge.example.org", "7", "A-B", &longest] {
            assert!(is_hostname(text), "{text}");
        }
        let longer = "a".repeat(65);
        for text in [
            "", "-a", "a-", "a..b", ".a", "a.", "a_b", "a b", "é", &longer,
        ] {
            assert!(!is_hostname(text), "{text}");
        }
    }

    #[test]
    fn a_path_means_the_same_everywhere() {
        for text in ["/", "/a", "/a/", "/a..b/.x/...", "/a b/é"] {
            assert!(is_path(text), "{text}");
        }
        let longest = format!("/{}", "x".repeat(limits::PATH_BYTES - 2));
        assert!(is_path(&longest));
        let longer = format!("{longest}x");
        for text in ["", "a", "./a", "/..", "/a/../b", "/a/..", "~/a", &longer] {
            assert!(!is_path(text), "{text}");
        }
    }

    #[test]
    fn a_name_is_at_the_end_of_a_path_or_not() {
        for text in ["/a", "/a/b", "//a", "/./a.", "/..."] {
            assert!(has_name(text), "{text}");
        }
        for text in ["", "/", "//", "/a/", "/a/.", "/."] {
            assert!(!has_name(text), "{text}");
        }
    }

    #[test]
    fn a_variable_is_one_that_a_shell_reads() {
        for text in ["A", "_", "PATH", "a1_B"] {
            assert!(is_variable(text), "{text}");
        }
        for text in ["", "1A", "A-B", "A B", "A=B", "A.B", "É", "A\0"] {
            assert!(!is_variable(text), "{text}");
        }
    }

    #[test]
    fn a_mode_is_octal_and_has_no_more_than_the_bits_there_are() {
        for (text, expected) in [
            ("755", 0o755),
            ("0755", 0o755),
            ("01777", 0o1777),
            ("7777", 0o7777),
            ("000", 0),
        ] {
            assert_eq!(mode(text), Some(expected), "{text}");
        }
        for text in [
            "", "0", "75", "0o755", "789", "17777", "+755", "-755", "000755", " 755",
        ] {
            assert_eq!(mode(text), None, "{text}");
        }
    }

    #[test]
    fn an_id_is_not_the_one_that_means_none() {
        assert_eq!(id(0), Some(0));
        assert_eq!(id(4_294_967_294), Some(u32::MAX - 1));
        for number in [4_294_967_295, -1, i64::MAX, i64::MIN] {
            assert_eq!(id(number), None, "{number}");
        }
    }

    #[test]
    fn a_value_without_quotes_is_what_the_oracle_says() {
        let texts = [
            "0",
            "-0",
            "+5",
            "1_000",
            "0xFf",
            "0o17",
            "0b1_0",
            "00",
            "01",
            "1_",
            "_1",
            "1__0",
            "0x",
            "0x_1",
            "-0x1",
            "0X1",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775807",
            "1.5",
            "1e3",
            "inf",
            "-inf",
            "nan",
            "+nan",
            "1979-05-27",
            "07:32:00",
            "true",
            "false",
            "True",
            "tru",
            "edge",
            "-",
            "+",
            "0x1.5",
            "1 2",
            ".5",
            "1979-05-27 07:32:00",
            "é",
            "١",
            "true false",
            "infinity",
            "0b2",
            "0o8",
            "1a",
        ];
        for text in texts {
            let theirs = format!("a = {text}").parse::<toml::Table>();

            let ours = Scalar::unquoted(text);

            let expected = match theirs.as_ref().map(|table| &table["a"]) {
                Ok(toml::Value::Boolean(value)) => Some(Scalar::Boolean(*value)),
                Ok(toml::Value::Integer(value)) => Some(Scalar::Integer(*value)),
                Ok(_) => Some(Scalar::Other),
                Err(_) => ours.filter(|ours| *ours == Scalar::Other),
            };
            assert_eq!(ours, expected, "{text}: {theirs:?}");
        }
        assert_eq!(Scalar::unquoted("edge"), None);
        assert_eq!(Scalar::unquoted(""), None);
    }

    #[test]
    fn a_path_is_the_same_however_its_slashes_are() {
        assert!(is_same_path(c"/a//b/.", c"/a/b/"));
        assert!(is_same_path(c"/", c"//"));
        assert!(!is_same_path(c"/a", c"/a/b"));
        assert!(!is_same_path(c"/ab", c"/a/b"));
    }
}
