//! A root directory of a test's own, and what it is filled with.
//!
//! Everything host-init touches is in it: `/etc/host-init.toml`, `/run`,
//! `/dev/console` (a FIFO). The machine's programs and libraries are mounted into
//! it in the namespace alone. The test sees all of it from outside, by path.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::host;
use crate::lines::{Lines, eventually};

/// Where a machine keeps programs and libraries.
const PROGRAMS: [&str; 7] = ["usr", "lib", "lib64", "bin", "sbin", "nix", "gnu"];

/// Device nodes that are the machine's.
const DEVICES: [&str; 4] = ["null", "zero", "full", "urandom"];

/// A root directory. It is gone when the value is.
pub(crate) struct Room {
    path: PathBuf,
    /// What hosts say.
    pub(crate) told: Lines,
    /// What reaches the console.
    pub(crate) console: Lines,
}

/// One mount of the namespace's own, in terms of `mount(2)`.
pub(crate) struct Mount {
    pub(crate) source: CString,
    pub(crate) target: CString,
    pub(crate) kind: CString,
    pub(crate) flags: libc::c_ulong,
}

impl Room {
    /// A root directory with this config in it.
    pub(crate) fn new(config: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // In memory, as a container's /run is.
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let path = base.join(format!("host-init-{}-{number}", std::process::id()));
        for directory in ["dev", "proc", "run", "etc", "tmp"] {
            fs::create_dir_all(path.join(directory)).unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        for name in PROGRAMS {
            let there = Path::new("/").join(name);
            if let Ok(target) = fs::read_link(&there) {
                symlink(target, path.join(name)).unwrap();
            } else if there.is_dir() {
                fs::create_dir(path.join(name)).unwrap();
            }
        }
        for device in DEVICES {
            fs::write(path.join("dev").join(device), "").unwrap();
        }
        for file in ["init", host::PATH.trim_start_matches('/')] {
            fs::write(path.join(file), "").unwrap();
        }
        let told = fifo("a host", &path.join(host::TOLD.trim_start_matches('/')));
        let console = fifo("the console", &path.join("dev/console"));
        let room = Self {
            path,
            told,
            console,
        };
        room.write("etc/host-init.toml", config);
        room
    }

    /// A room whose host is [`host`] in this role.
    pub(crate) fn with_host(words: &[&str], rest: &str) -> Self {
        Self::new(&config(words, rest))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a file into the room, at once.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let aside = self.path.join(format!("{name}.new"));
        fs::write(&aside, text).unwrap();
        fs::rename(aside, self.path.join(name)).unwrap();
    }

    /// A file of the room, when it is there: host-init writes after it acts.
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path.join(name);
        eventually(name, || path.exists());
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A file of the room, as JSON.
    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        let text = self.read(name);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
    }

    /// The mounts that make the room a root.
    pub(crate) fn mounts(&self) -> Vec<Mount> {
        let mut mounts = vec![self.bind(&self.path, "")];
        // SAFETY: has no arguments.
        if unsafe { libc::geteuid() } == 0 {
            // Some machines let nobody run what is in memory.
            mounts.push(Mount {
                flags: libc::MS_REMOUNT | libc::MS_BIND,
                ..self.bind(&self.path, "")
            });
        }
        for name in PROGRAMS {
            if self.path.join(name).is_dir() && !self.path.join(name).is_symlink() {
                mounts.push(self.bind(&Path::new("/").join(name), name));
            }
        }
        for device in DEVICES {
            let name = format!("dev/{device}");
            mounts.push(self.bind(&Path::new("/").join(&name), &name));
        }
        mounts.push(self.bind(Path::new(env!("CARGO_BIN_EXE_host-init")), "init"));
        mounts.push(self.bind(
            &std::env::current_exe().unwrap(),
            host::PATH.trim_start_matches('/'),
        ));
        mounts
    }

    fn bind(&self, source: &Path, name: &str) -> Mount {
        Mount {
            source: text(source),
            target: text(&self.path.join(name)),
            kind: CString::default(),
            flags: libc::MS_BIND | libc::MS_REC,
        }
    }

    /// The `proc` of the namespace.
    pub(crate) fn proc(&self) -> Mount {
        Mount {
            source: c"proc".to_owned(),
            target: text(&self.path.join("proc")),
            kind: c"proc".to_owned(),
            flags: libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
        }
    }

    /// Makes the room itself read-only, its `/run` with it.
    pub(crate) fn read_only(&self) -> Mount {
        Mount {
            flags: libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY,
            ..self.bind(&self.path, "")
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Nothing is mounted in it for this process: the namespace had mounts of
        // its own.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A config with a host of this role.
pub(crate) fn config(words: &[&str], rest: &str) -> String {
    let words: Vec<String> = [host::PATH]
        .iter()
        .chain(words)
        .map(|word| host::quoted(word))
        .collect();
    format!("[host]\ncommand = [{}]\n{rest}\n", words.join(", "))
}

/// A path as the kernel takes it.
pub(crate) fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn fifo(name: &'static str, path: &Path) -> Lines {
    let c_path = text(path);
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o666) }, 0);
    // Open for writing too, so that it never comes to an end.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .unwrap();
    Lines::new(name, OwnedFd::from(file))
}
