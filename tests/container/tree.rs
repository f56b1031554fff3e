//! The tree of a container: host-init, a busybox, and what a test puts in.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use qemu::{Scratch, tools};

/// Busybox's applets that the scripts use.
const APPLETS: [&str; 9] = [
    "cat", "grep", "id", "kill", "sh", "sleep", "stty", "tail", "tr",
];

/// A directory that is the root of a container.
pub(crate) struct Tree {
    scratch: Scratch,
}

impl Tree {
    /// A new one, with `/host-init` and what a client finds missing else.
    pub(crate) fn new() -> Self {
        let tree = Self {
            scratch: Scratch::new().unwrap(),
        };
        let root = tree.root();
        for directory in ["bin", "dev", "etc", "proc", "run", "sys", "tmp", "usr/lib"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        // Only with its mode it can be run by a user that is not root.
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        let copies = [
            (Path::new(HOST_INIT), "host-init"),
            (&tools::busybox().unwrap(), "bin/busybox"),
        ];
        for (from, to) in copies {
            fs::copy(from, root.join(to)).unwrap();
            fs::set_permissions(root.join(to), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for applet in APPLETS {
            symlink("busybox", root.join("bin").join(applet)).unwrap();
        }
        // Without it systemd-nspawn takes the directory for something else.
        tree.write("usr/lib/os-release", "ID=host-init\n");
        tree
    }

    /// Where it is.
    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    /// A place beside it, for what a client keeps.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A name that no other tree has.
    pub(crate) fn name(&self) -> String {
        let folder = self.scratch.path().file_name().unwrap();
        format!("host-init-test-{}", folder.display())
    }

    /// Writes a file that is not executable.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// Has host-init supervise a host, and be the one that boots.
    pub(crate) fn supervise(&self) {
        let root = self.root();
        self.write("host", HOST);
        fs::set_permissions(root.join("host"), fs::Permissions::from_mode(0o755)).unwrap();
        self.write("etc/host-init.toml", "[host]\ncommand = [\"/host\"]\n");
        fs::create_dir(root.join("sbin")).unwrap();
        symlink("/host-init", root.join("sbin/init")).unwrap();
    }

    /// The tree in one file.
    pub(crate) fn packed(&self) -> PathBuf {
        let archive = self.beside("root.tar");
        done(
            Command::new("tar")
                .arg("-C")
                .arg(self.root())
                .arg("-cf")
                .arg(&archive)
                .arg("."),
        );
        archive
    }
}

/// Stays until it is asked to end.
const HOST: &str = "\
#!/bin/sh
trap 'echo host: asked; exit 0' TERM
echo host: up
sleep 1000 &
wait
";

/// The program.
pub(crate) const HOST_INIT: &str = env!("CARGO_BIN_EXE_host-init");

/// Runs a command that ends well; what it printed.
pub(crate) fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
