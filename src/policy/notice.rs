//! What a service says of itself (`sd_notify(3)`), as facts; the words are
//! `format`'s.

use core::time::Duration;

/// What a service has said, in one message or in several that came together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Notice {
    /// It has started.
    pub is_ready: bool,
    /// It ends by itself.
    pub is_stopping: bool,
    /// It is alive.
    pub is_alive: bool,
    /// It can't go on, and is to be treated as one that is not heard of any more.
    pub is_lost: bool,
    /// How often it is heard of from now on; zero for as rarely as it likes.
    pub interval: Option<Duration>,
    /// How much longer its start may take from now on.
    pub extension: Option<Duration>,
}

/// Whose messages count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// The main process's.
    #[default]
    Main,
    /// Those of all of its processes.
    All,
}

/// Who has sent a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sender {
    /// The service's main process.
    Main,
    /// Another process of the service.
    Other,
    /// Somebody else.
    Stranger,
}

impl Notice {
    /// Both of them, of which the other came later.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            is_ready: self.is_ready || later.is_ready,
            is_stopping: self.is_stopping || later.is_stopping,
            is_alive: self.is_alive || later.is_alive,
            is_lost: self.is_lost || later.is_lost,
            interval: later.interval.or(self.interval),
            extension: later.extension.or(self.extension),
        }
    }
}

impl Access {
    /// Whether a message of this sender counts.
    pub const fn lets(self, sender: Sender) -> bool {
        match (self, sender) {
            (Self::Main | Self::All, Sender::Main) | (Self::All, Sender::Other) => true,
            (Self::Main, Sender::Other) | (Self::Main | Self::All, Sender::Stranger) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_messages_nothing_is_lost_and_the_later_number_counts() {
        let one = Notice {
            is_ready: true,
            interval: Some(Duration::from_secs(1)),
            extension: Some(Duration::from_secs(2)),
            ..Notice::default()
        };
        let other = Notice {
            is_alive: true,
            interval: Some(Duration::from_secs(3)),
            ..Notice::default()
        };

        assert_eq!(
            one.and(other),
            Notice {
                is_ready: true,
                is_alive: true,
                interval: Some(Duration::from_secs(3)),
                extension: Some(Duration::from_secs(2)),
                ..Notice::default()
            }
        );
        assert_eq!(one.and(Notice::default()), one);
        assert_eq!(Notice::default().and(one), one);
    }

    #[test]
    fn a_stranger_is_never_heard() {
        for access in [Access::Main, Access::All] {
            assert!(access.lets(Sender::Main));
            assert!(!access.lets(Sender::Stranger));
        }
        assert!(Access::All.lets(Sender::Other));
        assert!(!Access::Main.lets(Sender::Other));
    }
}
