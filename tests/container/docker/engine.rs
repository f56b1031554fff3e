//! An engine, and an image in it.

use core::sync::atomic::{AtomicU32, Ordering};
use std::process::Command;

use crate::client::works;
use crate::docker::container::Container;
use crate::session::Session;
use crate::tree::{Tree, done};

/// An engine that answers.
pub(crate) struct Engine {
    /// Where it listens, if it is not the one that the client knows.
    address: Option<String>,
}

impl Engine {
    /// The one that the client knows; none after it was said that there is none.
    pub(crate) fn found() -> Option<Self> {
        let engine = Self { address: None };
        works(&mut engine.command(&["version", "--format", "{{.Server.Os}}"])).then_some(engine)
    }

    /// The one at this address.
    pub(crate) fn at(address: String) -> Self {
        Self {
            address: Some(address),
        }
    }

    /// A command of the client.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("docker");
        if let Some(address) = &self.address {
            command
                .env_remove("DOCKER_CONTEXT")
                .args(["--host", address]);
        }
        command.args(words);
        command
    }

    /// A new image of a tree, whose entrypoint is host-init.
    pub(crate) fn image(&self, tree: &Tree) -> Image<'_> {
        let name = tree.name();
        let entrypoint = r#"ENTRYPOINT ["/host-init", "--"]"#;
        let mut command = self.command(&["import", "--change", entrypoint]);
        done(command.arg(tree.packed()).arg(&name));
        Image {
            engine: self,
            name,
            count: AtomicU32::new(0),
        }
    }
}

/// An image, gone when it is dropped.
pub(crate) struct Image<'e> {
    engine: &'e Engine,
    name: String,
    /// Containers that it had.
    count: AtomicU32,
}

impl Image<'_> {
    /// Runs a command in a new container.
    pub(crate) fn run(&self, options: &[&str], words: &[&str]) -> Container<'_> {
        self.start(options, words, Session::piped)
    }

    /// Runs a script in a new container on a terminal.
    pub(crate) fn run_on_terminal(&self, script: &str) -> Container<'_> {
        let options = ["--interactive", "--tty"];
        self.start(&options, &["sh", "-c", script], Session::on_terminal)
    }

    fn start(
        &self,
        options: &[&str],
        words: &[&str],
        session: impl FnOnce(Command) -> Session,
    ) -> Container<'_> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{count}", self.name);
        // No test needs a network, and a machine need not have one for containers.
        let mut command = self
            .engine
            .command(&["run", "--network", "none", "--name", &name]);
        command.args(options).arg(&self.name).args(words);
        Container::new(self.engine, name, session(command))
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        let _ = self
            .engine
            .command(&["image", "rm", "--force", &self.name])
            .output();
    }
}
