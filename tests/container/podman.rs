//! podman, over either of its runtimes, with a store of the test's own.

use std::path::PathBuf;
use std::process::Command;

use crate::client::found;
use crate::image::{UP, made};
use crate::keys::{self, SIZE};
use crate::place::Place;
use crate::runtime::{Runtime, with_one_version};
use crate::scripts::{ADOPTED, HONEST};
use crate::session::Session;
use crate::tree::{HOST_INIT, Tree};

/// podman over a runtime, for one container of a tree.
struct Podman<'t> {
    path: PathBuf,
    runtime: Runtime,
    tree: &'t Tree,
    /// What it keeps.
    store: Place,
}

impl<'t> Podman<'t> {
    fn found(runtime: Option<Runtime>, tree: &'t Tree) -> Option<Self> {
        Some(Self {
            path: found("podman")?,
            runtime: runtime?,
            tree,
            store: Place::of(tree),
        })
    }

    fn command(&self, words: &[&str]) -> Command {
        let store = self.store.path();
        let mut command = with_one_version(&self.path);
        for (option, place) in [
            ("--root", "root"),
            ("--runroot", "run"),
            ("--tmpdir", "tmp"),
        ] {
            command.arg(option).arg(store.join(place));
        }
        command
            .args(["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"])
            .args(["--events-backend", "none", "--runtime"])
            .arg(self.runtime.path())
            .args(words);
        command
    }

    /// Runs a container of what these words say.
    fn run(&self, options: &[&str], start: impl FnOnce(Command) -> Session) -> Container<'_> {
        let name = self.tree.name();
        // Not all that podman asks for by itself is every machine's to give.
        let mut command = self.command(&["run", "--name", &name, "--network", "none"]);
        command
            .args([
                "--ulimit",
                "nofile=1024:1024",
                "--ulimit",
                "nproc=4096:4096",
            ])
            .args(options);
        Container {
            podman: self,
            session: start(command),
            name,
        }
    }

    /// Runs a script in a container of the tree.
    fn script(
        &self,
        options: &[&str],
        words: &[&str],
        start: impl FnOnce(Command) -> Session,
    ) -> Container<'_> {
        let root = self.tree.root();
        let all: Vec<&str> = options
            .iter()
            .copied()
            .chain(["--rootfs", root.to_str().unwrap()])
            .chain(words.iter().copied())
            .collect();
        self.run(&all, start)
    }
}

struct Container<'p> {
    podman: &'p Podman<'p>,
    session: Session,
    name: String,
}

impl Container<'_> {
    /// Has podman stop it, with far more patience than the test has.
    fn stop(&self) {
        Session::done(self.podman.command(&["stop", "--time", "600", &self.name]));
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        let _ = self
            .podman
            .command(&["rm", "--force", "--time", "0", &self.name])
            .output();
    }
}

fn runs_it_as_its_init(runtime: Option<Runtime>) {
    let tree = Tree::new();
    let Some(podman) = Podman::found(runtime, &tree) else {
        return;
    };
    let script = format!("tr '\\0' ' ' </proc/1/cmdline; {ADOPTED} {HONEST}");
    let options = ["--init", "--init-path", HOST_INIT];
    let mut container = podman.script(&options, &["sh", "-c", &script], Session::piped);
    container.session.says("/run/podman-init -- sh -c");
    container.session.says("adopted by 1.");
    container.session.says("up");

    container.stop();

    container.session.says("asked");
    container.session.ends_with(3);
}

#[test]
fn podman_over_crun_runs_it_as_its_init() {
    runs_it_as_its_init(Runtime::crun());
}

#[test]
fn podman_over_runc_runs_it_as_its_init() {
    runs_it_as_its_init(Runtime::runc());
}

#[test]
fn podman_gives_a_command_its_terminal() {
    let tree = Tree::new();
    let Some(podman) = Podman::found(Runtime::crun(), &tree) else {
        return;
    };
    let words = ["/host-init", "--", "sh", "-c", keys::SCRIPT];
    let options = ["--interactive", "--tty"];
    let mut container = podman.script(&options, &words, Session::on_terminal);

    keys::reach(&mut container.session, SIZE);
}

#[test]
fn podman_runs_an_image_from_its_folder() {
    let tree = Tree::new();
    let Some(podman) = Podman::found(Runtime::crun(), &tree) else {
        return;
    };
    let folder = made(&tree);
    // From beside it, as its users do: podman makes a name of the path, and takes no
    // capitals.
    let image = format!("oci:{}", folder.file_name().unwrap().display());
    let mut container = podman.run(&["--tty", &image], |mut command| {
        command.current_dir(folder.parent().unwrap());
        Session::piped(command)
    });
    container.session.says(UP);

    container.stop();

    container.session.says("host: asked to end");
    container.session.ends_with(0);
}
