//! An engine of a test's own, since only a daemon's start says what its init is.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::client::{may, works};
use crate::docker::engine::Engine;
use crate::place::Place;
use crate::session::Session;
use crate::tree::Tree;

/// A daemon with a containerd of its own; gone when it is dropped.
pub(crate) struct Daemon {
    session: Session,
    /// What it keeps.
    _place: Place,
    engine: Engine,
}

impl Daemon {
    /// One whose `--init` is this program; none after it was said that there can
    /// be none.
    pub(crate) fn start(tree: &Tree, init: &Path) -> Option<Self> {
        Engine::found()?;
        if !may("dockerd") || !works(Command::new("dockerd").arg("--version")) {
            return None;
        }
        let place = Place::of(tree);
        let in_it = |name: &str| place.path().join(name);
        let config = in_it("config.json");
        fs::write(&config, "{}").unwrap();
        let address = format!("unix://{}", in_it("socket").display());
        let mut command = Command::new("dockerd");
        command
            .arg("--config-file")
            .arg(config)
            .arg("--data-root")
            .arg(in_it("data"))
            .arg("--exec-root")
            .arg(in_it("exec"))
            .arg("--pidfile")
            .arg(in_it("pid"))
            .args(["--host", &address, "--storage-driver", "vfs"])
            // The machine's network stays as it is.
            .args(["--bridge", "none", "--iptables=false"])
            .args(["--ip-forward=false", "--ip-masq=false"])
            .arg("--init-path")
            .arg(init);
        let session = Session::piped(command);
        let mut daemon = Self {
            session,
            _place: place,
            engine: Engine::at(address),
        };
        daemon.session.says("API listen on");
        Some(daemon)
    }

    /// What it is spoken to by.
    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It ends its containerd, which a kill would leave.
        self.session.signals(libc::SIGTERM);
        self.session.is_over();
    }
}
