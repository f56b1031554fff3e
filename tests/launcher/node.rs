//! A node of the launcher's: its files, its variables, a host and a helper.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::host;
use crate::init::{End, Init};
use crate::lines::{BOUND, eventually};
use crate::room::Room;
use crate::start::{Signals, Start};

/// A config that leaves to the variables what they say.
pub(crate) const CONFIG: &str = "[host]\ncompat = \"launcher\"\nhealthy-after = \"1h\"\n";

/// A node. Its directory of files is `/state`.
pub(crate) struct Node {
    pub(crate) room: Room,
    variables: Vec<(String, String)>,
}

/// What there is of the launcher's files, each by its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Files {
    pub(crate) attempts: Option<String>,
    pub(crate) halted: Option<String>,
    pub(crate) taken_back: bool,
}

impl Node {
    /// A node whose host does this, a life each, and then stays. Its helper says that
    /// the host was taken back.
    pub(crate) fn new(plan: &[&str]) -> Self {
        let room = Room::new(CONFIG);
        for directory in ["state", "libexec"] {
            fs::create_dir(room.path().join(directory)).unwrap();
        }
        symlink(host::PATH, room.path().join(&host::HELPER[1..])).unwrap();
        let node = Self {
            room,
            variables: [
                ("MESH_HOST_STATE_DIR", "/state"),
                ("MESH_HOST_LIBEXEC", "/libexec"),
                ("MESH_HOST_BIN", host::PATH),
                ("MESH_HOST_BACKOFF", "0"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        };
        node.plan(plan);
        node.help("exit 0");
        node
    }

    /// With more in its config.
    pub(crate) fn config(self, rest: &str) -> Self {
        self.room
            .write("etc/host-init.toml", &format!("{CONFIG}{rest}\n"));
        self
    }

    /// With another variable, or another value of one.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What the host does from now on.
    pub(crate) fn plan(&self, lines: &[&str]) {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.room.write(&host::PLAN[1..], &lines);
    }

    /// What the helper does.
    pub(crate) fn help(&self, line: &str) {
        self.room.write(&host::HELP[1..], line);
    }

    /// A file of the launcher's.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.room.path().join("state").join(name)
    }

    /// Puts a file of the launcher's there.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn files(&self) -> Files {
        let read = |name| fs::read_to_string(self.path(name)).ok();
        Files {
            attempts: read("start-attempts"),
            halted: read("halted"),
            taken_back: self.path("rollback-attempted").exists(),
        }
    }

    /// Begins a life, which knows what was kept and nothing else.
    pub(crate) fn start(&self) -> Init {
        self.begin(Signals::Clean)
    }

    /// Begins a life that has a signal waiting for it.
    pub(crate) fn start_with(&self, number: i32) -> Init {
        let init = self.begin(Signals::Blocked);
        init.signal(number);
        init
    }

    fn begin(&self, signals: Signals) -> Init {
        let _ = fs::remove_dir_all(self.room.path().join("run/host-init"));
        let variables = self.variables.iter();
        let environment = [("container".to_owned(), "test".to_owned())]
            .iter()
            .chain(variables)
            .map(|(name, value)| CString::new(format!("{name}={value}")).unwrap())
            .collect();
        Start::new(&self.room)
            .environment(environment)
            .signals(signals)
            .spawn()
    }

    /// A number of `state.json`, when it is there.
    pub(crate) fn number(&self, pointer: &str) -> Option<u64> {
        let path = self.room.path().join("run/host-init/state.json");
        let text = fs::read_to_string(path).ok()?;
        let state: serde_json::Value = serde_json::from_str(&text).unwrap();
        state.pointer(pointer)?.as_u64()
    }

    /// How often the host was started.
    pub(crate) fn starts(&self) -> u64 {
        self.number("/host/starts").unwrap_or(0)
    }

    /// Waits until the files say this.
    pub(crate) fn will_have(&self, expected: &Files) {
        let until = Instant::now() + BOUND;
        loop {
            let files = self.files();
            if files == *expected {
                return;
            }
            assert!(
                Instant::now() < until,
                "waited for {expected:?}, there is {files:?}"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until the host is halted for this; it stays so.
    pub(crate) fn is_halted(&self, init: &mut Init, why: &str) {
        let line = init.says("host: halted: ");
        assert!(line.contains(why), "{line}");
        eventually("its state", || {
            let path = self.room.path().join("run/host-init/state.json");
            fs::read_to_string(path).is_ok_and(|text| text.contains("\"stage\":\"halted\""))
        });
    }
}

impl Files {
    /// These files.
    pub(crate) fn new(attempts: &str, halted: Option<&str>, taken_back: bool) -> Self {
        Self {
            attempts: Some(format!("{attempts}\n")),
            halted: halted.map(|reason| format!("{reason}\n")),
            taken_back,
        }
    }
}

/// Ends a life that goes on.
pub(crate) fn stop(mut init: Init) {
    assert_eq!(init.stop(), End::Code(0));
}
