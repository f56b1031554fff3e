//! A container of the engine's.

use core::ops::{Deref, DerefMut};

use crate::docker::engine::Engine;
use crate::session::Session;
use crate::tree::done;

/// A container and the client that is attached to it; gone when it is dropped.
pub(crate) struct Container<'e> {
    engine: &'e Engine,
    name: String,
    session: Session,
}

impl<'e> Container<'e> {
    /// The one of this name, which a client starts.
    pub(crate) const fn new(engine: &'e Engine, name: String, session: Session) -> Self {
        Self {
            engine,
            name,
            session,
        }
    }

    /// Has the engine stop it, with far more patience than the test has.
    pub(crate) fn stop(&self) {
        Session::done(self.engine.command(&["stop", "--time", "600", &self.name]));
    }

    /// Has the engine stop it, with the patience that the container names.
    pub(crate) fn stop_as_configured(&self) {
        Session::done(self.engine.command(&["stop", &self.name]));
    }

    /// Has the engine send a signal.
    pub(crate) fn signal(&self, signal: &str) {
        done(
            &mut self
                .engine
                .command(&["kill", "--signal", signal, &self.name]),
        );
    }

    /// Runs a script in it, beside the command; what it printed.
    pub(crate) fn execute(&self, script: &str) -> String {
        let words = ["exec", &self.name, "sh", "-c", script];
        done(&mut self.engine.command(&words))
    }

    /// Runs a script in it, beside the command, that may take its time.
    pub(crate) fn beside(&self, script: &str) -> Session {
        let words = ["exec", &self.name, "sh", "-c", script];
        Session::piped(self.engine.command(&words))
    }

    /// What its first process says, from the start.
    pub(crate) fn follow(&self) -> Session {
        Session::piped(self.engine.command(&["logs", "--follow", &self.name]))
    }

    /// Tells of each time that it has started and ended, and will.
    pub(crate) fn events(&self) -> Session {
        let name = format!("container={}", self.name);
        let format = "{{.Action}} {{.Actor.Attributes.exitCode}}";
        let mut command = self.engine.command(&["events", "--since", "0"]);
        command.args(["--filter", &name, "--format", format]).args([
            "--filter",
            "event=start",
            "--filter",
            "event=die",
        ]);
        Session::piped(command)
    }

    /// What the engine knows of it.
    pub(crate) fn inspect(&self, what: &str) -> String {
        let words = ["inspect", "--format", what, &self.name];
        done(&mut self.engine.command(&words))
    }
}

impl Deref for Container<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Container<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        let _ = self
            .engine
            .command(&["rm", "--force", "--volumes", &self.name])
            .output();
    }
}
