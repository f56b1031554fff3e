//! Runtimes of the OCI: given a bundle, they run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::found;
use crate::session::Session;
use crate::tree::{Tree, done};

/// A runtime.
#[derive(Clone)]
pub(crate) struct Runtime {
    path: PathBuf,
    /// Whether it takes a machine with one version of control groups.
    takes_one_version: bool,
}

impl Runtime {
    /// runc, which podman and Docker start containers by.
    pub(crate) fn runc() -> Option<Self> {
        Some(Self {
            path: found("runc")?,
            takes_one_version: false,
        })
    }

    /// crun, which podman starts containers by as well.
    pub(crate) fn crun() -> Option<Self> {
        Some(Self {
            path: found("crun")?,
            takes_one_version: true,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn command(&self) -> Command {
        if self.takes_one_version {
            with_one_version(&self.path)
        } else {
            Command::new(&self.path)
        }
    }
}

/// A command for which a machine with both versions of control groups has but the
/// first: crun refuses both, and does not look further than the mounts.
pub(crate) fn with_one_version(program: &Path) -> Command {
    const BOTH: &str = "/sys/fs/cgroup/unified";
    if !Path::new(BOTH).exists() {
        return Command::new(program);
    }
    let script = format!("umount {BOTH} && exec \"$@\"");
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation", "private"])
        .args(["sh", "-c", &script, "sh"])
        .arg(program);
    command
}

/// A tree, and what a runtime is to do with it.
pub(crate) struct Bundle<'r> {
    runtime: &'r Runtime,
    path: PathBuf,
    name: String,
    has_terminal: bool,
}

impl<'r> Bundle<'r> {
    /// One that runs a command on a terminal or not, and else as the runtime
    /// would have it.
    pub(crate) fn new(
        runtime: &'r Runtime,
        tree: &Tree,
        has_terminal: bool,
        words: &[&str],
    ) -> Self {
        let path = tree.beside("bundle");
        fs::create_dir(&path).unwrap();
        done(runtime.command().arg("spec").current_dir(&path));
        let bundle = Self {
            runtime,
            path,
            name: tree.name(),
            has_terminal,
        };
        bundle.change(|spec| {
            spec["root"] = json!({ "path": tree.root(), "readonly": false });
            spec["process"]["terminal"] = json!(has_terminal);
            spec["process"]["args"] = json!(words);
        });
        bundle
    }

    /// Changes what the runtime is told.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Value)) {
        let path = self.path.join("config.json");
        let mut spec = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut spec);
        fs::write(path, spec.to_string()).unwrap();
    }

    /// Runs it.
    pub(crate) fn run(&self) -> Container<'_> {
        let mut command = self.command("run");
        command.current_dir(&self.path).arg(&self.name);
        let session = if self.has_terminal {
            Session::on_terminal(command)
        } else {
            Session::piped(command)
        };
        Container {
            bundle: self,
            session,
        }
    }

    /// A command of the runtime's, which knows of this bundle's containers alone.
    fn command(&self, verb: &str) -> Command {
        let mut command = self.runtime.command();
        command
            .arg("--root")
            .arg(self.path.with_file_name("state"))
            .arg(verb);
        command
    }
}

/// A running container, gone when it is dropped.
pub(crate) struct Container<'b> {
    bundle: &'b Bundle<'b>,
    /// What the runtime says for it.
    pub(crate) session: Session,
}

impl Container<'_> {
    /// Has the runtime send a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let mut command = self.bundle.command("kill");
        done(command.args([&self.bundle.name, signal]));
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        // It is gone already when all went well.
        let mut command = self.bundle.command("delete");
        let _ = command.args(["--force", &self.bundle.name]).output();
    }
}
