//! The session and process group that a program starts in (`credentials(7)`).

/// What a program gets of its own, for job control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Job {
    /// A session, which can have a terminal of its own.
    Session,
    /// A process group in the session of whoever starts it, in the foreground of
    /// its terminal.
    Group,
    /// Neither.
    Shared,
}
