//! lxc, which asks the first process to power off.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::client::found;
use crate::session::Session;
use crate::tree::Tree;

/// A container of lxc's, from a tree; gone when it is dropped.
struct Container<'t> {
    /// lxc-start; its companions are beside it.
    path: PathBuf,
    tree: &'t Tree,
}

impl<'t> Container<'t> {
    /// One that is configured by these lines as well.
    fn found(tree: &'t Tree, lines: &str) -> Option<Self> {
        let path = found("lxc-start")?;
        let place = tree.beside("lxc").join(tree.name());
        fs::create_dir_all(&place).unwrap();
        let config = format!(
            "lxc.rootfs.path = dir:{}\n\
             lxc.uts.name = host-init\n\
             lxc.net.0.type = empty\n\
             lxc.apparmor.profile = unconfined\n\
             lxc.mount.auto = proc:rw sys:ro\n\
             {lines}\n",
            tree.root().display()
        );
        fs::write(place.join("config"), config).unwrap();
        Some(Self { path, tree })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.path.with_file_name(program));
        command
            .arg("--lxcpath")
            .arg(self.tree.beside("lxc"))
            .args(["--name", &self.tree.name()]);
        command
    }

    /// Runs it on a terminal: lxc has no place for its output else.
    fn start(&self) -> Session {
        let mut command = self.command("lxc-start");
        command
            .args(["--foreground", "--logpriority", "INFO", "--logfile"])
            .arg(self.tree.beside("log"));
        Session::on_terminal(command)
    }

    /// Has lxc stop it, with far more patience than the test has.
    fn stop(&self) {
        self.ask(&["--timeout", "600"]);
    }

    fn ask(&self, options: &[&str]) {
        let mut command = self.command("lxc-stop");
        command.args(options);
        Session::done(command);
    }

    /// What lxc says of its end: its own code says nothing.
    fn log(&self) -> String {
        fs::read_to_string(self.tree.beside("log")).unwrap()
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        // It is gone already when all went well.
        let _ = self.command("lxc-stop").arg("--kill").output();
    }
}

/// What lxc asks for an end by, one of these, which the command says.
fn stopped(lines: &str, numbers: &[u32]) {
    let tree = Tree::new();
    let traps = numbers
        .iter()
        .map(|number| format!("trap 'exit {number}' {number}; "));
    let script = format!("{}echo up; sleep 1000 & wait", traps.collect::<String>());
    // lxc's command is words without quotes.
    tree.write("script", &script);
    let lines = format!("lxc.init.cmd = /host-init -- /bin/sh /script\n{lines}");
    let Some(container) = Container::found(&tree, &lines) else {
        return;
    };
    let mut session = container.start();
    session.says("up");

    container.stop();

    session.ends_with(0);
    let log = container.log();
    let ends = |number| log.contains(&format!("ended on error ({number})"));
    assert!(numbers.iter().any(ends), "{log}");
}

#[test]
fn lxc_stops_a_command() {
    // A first process that blocks RTMIN+3 is taken for one that means it. Who waits for
    // signals as most entrypoints do seems to block none, until the first orphan comes.
    stopped("", &[30, 37]);
}

#[test]
fn lxc_stops_a_command_with_the_signal_that_the_container_names() {
    stopped("lxc.signal.halt = SIGPWR", &[30]);
}

#[test]
fn lxc_restarts_a_host_and_stops_it() {
    let tree = Tree::new();
    tree.supervise();
    let Some(container) = Container::found(&tree, "lxc.init.cmd = /host-init") else {
        return;
    };
    let mut session = container.start();
    session.says("host: up");

    // lxc sends INT, and starts what ends by a reboot again.
    container.ask(&["--reboot", "--timeout", "600"]);

    session.says("host: up");
    container.stop();
    session.ends_with(0);
}
