//! How much a message matters: the levels of `syslog(3)` that host-init uses.

/// From what a person must see to what only a developer wants.
///
/// The number is the kernel log's (`/dev/kmsg`, `syslog(3)`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Level {
    /// Something that was to work does not.
    Error = 3,
    /// Something is not as it should be, and host-init goes on.
    Warning = 4,
    /// What an operator wants to find later: endings, restarts.
    Notice = 5,
    /// Each step of the ordinary course.
    Info = 6,
    /// Each decision.
    Debug = 7,
}

/// Every level with its name in the config.
pub const LEVELS: [(&str, Level); 5] = [
    ("error", Level::Error),
    ("warning", Level::Warning),
    ("notice", Level::Notice),
    ("info", Level::Info),
    ("debug", Level::Debug),
];
