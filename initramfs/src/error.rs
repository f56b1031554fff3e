//! What went wrong: a verb, an object and a reason.

use std::fmt;
use std::io;
use std::path::Path;

/// Why an image could not be made.
///
/// Its text is `<verb> <object>: <reason>`, one line, in lower case; the command
/// puts `image: ` before it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    verb: &'static str,
    object: String,
    reason: String,
}

impl Error {
    pub(crate) fn new(
        verb: &'static str,
        object: impl fmt::Display,
        reason: impl fmt::Display,
    ) -> Self {
        Self {
            verb,
            object: object.to_string(),
            reason: reason.to_string(),
        }
    }

    /// Why, without what.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }

    pub(crate) fn io(verb: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::new(verb, shown(path), reason(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.verb, self.object, self.reason)
    }
}

impl std::error::Error for Error {}

/// The kernel's words without the number that std appends, in lower case.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}

/// A path as one line of text: bytes that would break the line, or that are not
/// UTF-8, are escaped.
pub(crate) fn shown(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => path
            .as_os_str()
            .as_encoded_bytes()
            .escape_ascii()
            .to_string(),
    }
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed<T: AsRef<str>>(words: &[T]) -> String {
    match words {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_error_reads_as_a_reason() {
        let error = Error::io("read", Path::new("a"), &io::Error::from_raw_os_error(2));

        assert_eq!(error.to_string(), "read a: no such file or directory");
    }

    #[test]
    fn a_name_never_breaks_the_line() {
        assert_eq!(shown(Path::new("two words")), "two words");
        assert_eq!(shown(Path::new("a\nb")), r"a\nb");
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
