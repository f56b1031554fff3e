//! What went wrong, and the console that shows why.
//!
//! `Debug` prints the same text as `Display`, so that a test that unwraps an
//! error shows the guest's console as it was.

use core::fmt::{self, Debug, Display, Formatter};

/// A failure to do something with a guest, or to get ready for one.
pub struct Error {
    verb: &'static str,
    object: String,
    reason: String,
    console: Option<String>,
}

impl Error {
    /// Says what was being done, to what, and why it did not come about.
    pub fn new(verb: &'static str, object: impl Display, reason: impl Display) -> Self {
        Self {
            verb,
            object: object.to_string(),
            reason: reason.to_string(),
            console: None,
        }
    }

    /// Adds the whole console, which is printed below the message.
    pub(crate) fn with_console(mut self, console: String) -> Self {
        self.console = Some(console);
        self
    }

    /// The reason alone, to be made part of another message.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "boot: {} {}: {}", self.verb, self.object, self.reason)?;
        match &self.console {
            None => Ok(()),
            Some(console) if console.is_empty() => write!(f, "\n--- the console is empty ---"),
            Some(console) => write!(
                f,
                "\n--- the whole console ---\n{}\n--- end of the console ---",
                console.trim_end()
            ),
        }
    }
}

impl Debug for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_verb_object_and_reason() {
        let error = Error::new("read", "/boot/vmlinuz", "no such file");

        assert_eq!(error.to_string(), "boot: read /boot/vmlinuz: no such file");
    }

    #[test]
    fn an_unwrapped_error_shows_the_console() {
        let error = Error::new("wait for", "line", "1s passed").with_console("hello\n".into());

        assert!(format!("{error:?}").contains("\nhello\n"));
    }
}
