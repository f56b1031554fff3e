//! The programs and files that booting and its tests need: found, or brought.
//!
//! What is in `PATH` is used. A kernel, a static busybox and programs that others are
//! measured against are otherwise unpacked from Debian's packages below the target
//! directory, which takes no root; QEMU, mkfs.ext4 and what runs containers have
//! libraries and are installed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

mod apt;
mod elf;
mod kernel;

pub use kernel::{Kernel, kernel};

/// QEMU for x86-64, installed if it is not there.
pub fn qemu() -> Result<PathBuf, Error> {
    installed("qemu-system-x86_64", "qemu-system-x86")
}

/// mkfs.ext4, installed if it is not there.
pub fn mkfs_ext4() -> Result<PathBuf, Error> {
    installed("mkfs.ext4", "e2fsprogs")
}

/// A program that runs containers, installed if it is not there.
pub fn program(name: &str) -> Result<PathBuf, Error> {
    match CONTAINERS.iter().find(|(program, _)| *program == name) {
        Some((program, package)) => installed(program, package),
        None => Err(Error::new("find", name, "no package is known for it")),
    }
}

/// Programs that run containers, and the packages that they are in.
const CONTAINERS: [(&str, &str); 7] = [
    ("bwrap", "bubblewrap"),
    ("crun", "crun"),
    ("lxc-start", "lxc"),
    ("podman", "podman"),
    ("runc", "runc"),
    ("systemd-nspawn", "systemd-container"),
    ("unshare", "util-linux"),
];

/// A busybox that needs no libraries, so that it runs in any image.
pub fn busybox() -> Result<PathBuf, Error> {
    if let Some(path) = find("busybox")
        && elf::is_static(&path)
    {
        return Ok(path);
    }
    let root = unpacked("busybox", || Ok("busybox-static".to_owned()))?;
    program_below(&root, "busybox", "busybox-static")
}

/// A program of a package, which is unpacked if the program is not there. The
/// libraries that it may need are the machine's.
pub fn unpacked_program(name: &str, package: &str) -> Result<PathBuf, Error> {
    if let Some(path) = find(name) {
        return Ok(path);
    }
    let root = unpacked(package, || Ok(package.to_owned()))?;
    program_below(&root, name, package)
}

/// Cargo's target directory, where all that we keep is kept.
///
/// It is the one that the running program was built in; a program elsewhere
/// uses `CARGO_TARGET_DIR` or the system's directory for temporary files.
pub fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").exists())
        .map(Path::to_owned)
        .or_else(|| std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from))
        .unwrap_or_else(std::env::temp_dir)
}

/// A program of a package, looked for and then installed.
fn installed(program: &str, package: &str) -> Result<PathBuf, Error> {
    if let Some(path) = find(program) {
        return Ok(path);
    }
    let _lock = lock()?;
    // Another test may have installed it while we waited.
    if let Some(path) = find(program) {
        return Ok(path);
    }
    apt::install(package)?;
    find(program).ok_or_else(|| {
        let reason = format!("it is not in PATH after {package} was installed");
        Error::new("find", program, reason)
    })
}

/// The directory that a package was unpacked to, now or earlier.
///
/// Its name appears when it is whole; later runs need no network.
fn unpacked(name: &str, package: impl FnOnce() -> Result<String, Error>) -> Result<PathBuf, Error> {
    let root = base().join(name);
    if root.exists() {
        return Ok(root);
    }
    let _lock = lock()?;
    if root.exists() {
        return Ok(root);
    }
    let unfinished = base().join(format!("{name}.new"));
    // Left by a run that was killed; the lock says that it is nobody's now.
    let _ = fs::remove_dir_all(&unfinished);
    apt::unpack(&package()?, &unfinished)?;
    fs::rename(&unfinished, &root).map_err(|error| Error::new("make", root.display(), error))?;
    Ok(root)
}

/// A program in the tree of a package.
fn program_below(root: &Path, name: &str, package: &str) -> Result<PathBuf, Error> {
    ["bin", "usr/bin", "sbin", "usr/sbin"]
        .map(|place| root.join(place).join(name))
        .into_iter()
        .find(|path| path.exists())
        .ok_or_else(|| Error::new("find", name, format!("it is not in Debian's {package}")))
}

/// One at a time fetches or installs, over all tests and processes.
fn lock() -> Result<File, Error> {
    let path = base().join("lock");
    fs::create_dir_all(base())
        .and_then(|()| File::create(&path))
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| Error::new("lock", path.display(), error))
}

fn base() -> PathBuf {
    target().join("tools")
}

/// A program in `PATH`, or where the system keeps those for its administrator.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

/// Runs a command to its end. Its error is the last of what it complained of.
pub(crate) fn run(
    command: &mut Command,
    verb: &'static str,
    object: impl core::fmt::Display,
) -> Result<String, Error> {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            let program = command.get_program().display();
            return Err(Error::new(verb, object, format!("{program}: {error}")));
        }
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaints = String::from_utf8_lossy(&output.stderr);
    let last = complaints.lines().rfind(|line| !line.trim().is_empty());
    let program = command.get_program().display();
    Err(match last {
        Some(line) => Error::new(verb, object, line.trim()),
        None => Error::new(verb, object, format!("{program}: {}", output.status)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_complaint_of_a_command_is_the_reason() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one >&2; echo two >&2; exit 3"]);

        let error = run(&mut command, "try", "it").unwrap_err();

        assert_eq!(error.to_string(), "boot: try it: two");
    }

    #[test]
    fn a_program_that_is_nowhere_is_not_found() {
        assert_eq!(find("no-such-program"), None);
        assert!(find("sh").is_some());
    }

    #[test]
    fn a_program_without_a_package_is_said_to_have_none() {
        let error = program("no-such-program").unwrap_err();

        assert_eq!(
            error.to_string(),
            "boot: find no-such-program: no package is known for it"
        );
    }

    #[test]
    fn the_busybox_needs_no_libraries() {
        assert!(elf::is_static(&busybox().unwrap()));
    }
}
