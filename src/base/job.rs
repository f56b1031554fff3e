//! The session and process group that a program starts in (`credentials(7)`), and whose
//! a terminal is.

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

/// Whose a terminal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// This process's session, which it leads.
    Own,
    /// This process's session, which another leads.
    Shared,
    /// Another session's, or nobody's.
    Other,
}
