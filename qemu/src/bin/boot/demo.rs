//! The demonstration image: host-init, busybox, and a page over loopback.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use initramfs::{Archive, Compression, DeviceKind};
use qemu::{Error, Value, tools};

use crate::options::Build;

/// The word on the kernel's command line that has the demonstration ask for
/// each command, and power off when there are no more.
pub(crate) const SCRIPTED: &str = "demo.scripted";

/// What the demonstration asks with, then.
pub(crate) const PROMPT: &str = "demo# ";

/// What it says when a person may press Enter.
pub(crate) const INVITATION: &str = "demo: press Enter for a shell";

/// The first line of its page.
pub(crate) const PAGE: &str = "<h1>It is served by host-init's host</h1>";

const CONFIG: &str = include_str!("demo/host-init.toml");
const HOST: &str = include_str!("demo/host.sh");
const CONSOLE: &str = include_str!("demo/console.sh");
const SHELL: &str = include_str!("demo/shell.sh");

/// Where `cargo build` puts the program that the image is about.
const PROGRAM: &str = "release/host-init";

/// Makes the image with a program as its `/init`.
pub(crate) fn image(init: &Path) -> Result<Vec<u8>, Error> {
    let busybox = tools::busybox()?;
    let applets = applets(&busybox)?;
    archive(init, &busybox, &applets)
        .and_then(|archive| archive.write(Compression::Gzip))
        .map_err(|error| Error::new("make", "the demonstration image", error))
}

fn archive(init: &Path, busybox: &Path, applets: &str) -> Result<Archive, initramfs::Error> {
    let mut archive = Archive::new();
    for directory in ["/dev", "/proc", "/sys", "/run", "/tmp", "/root", "/var/lib"] {
        archive.directory(directory, 0o755)?;
    }
    // The kernel opens it for the first process, before anything is mounted.
    archive.device("/dev/console", DeviceKind::Char, 5, 1, 0o600)?;
    archive.file_from("/init", 0o755, init)?;
    archive.file_from("/bin/busybox", 0o755, busybox)?;
    // `init` and `linuxrc` would be a second first process.
    let names = applets
        .lines()
        .filter(|name| !matches!(*name, "busybox" | "init" | "linuxrc"));
    for name in names {
        archive.symlink(format!("/bin/{name}"), "busybox")?;
    }
    archive.file("/etc/host-init.toml", 0o644, CONFIG)?;
    archive.file("/etc/passwd", 0o644, "root:x:0:0:root:/root:/bin/sh\n")?;
    archive.file("/usr/bin/demo-host", 0o755, HOST)?;
    archive.file("/usr/bin/demo-console", 0o755, CONSOLE)?;
    archive.file("/usr/bin/demo-shell", 0o755, SHELL)?;
    archive.file("/srv/www/index.html", 0o644, format!("{PAGE}\n"))?;
    Ok(archive)
}

/// Builds host-init, or finds it as it is.
pub(crate) fn host_init(build: Build) -> Result<PathBuf, Error> {
    if build == Build::AsItIs {
        let path = tools::target().join(PROGRAM);
        return match path.exists() {
            true => Ok(path),
            false => Err(Error::new("find", path.display(), "it has not been built")),
        };
    }
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "build",
            "--release",
            "--package",
            "host-init",
            "--bin",
            "host-init",
        ])
        .args(["--quiet", "--message-format", "json-render-diagnostics"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        // What the compiler has to say goes to the person.
        .stderr(Stdio::inherit());
    let wrong = |reason: String| Error::new("build", "host-init", reason);
    let output = command.output().map_err(|error| wrong(error.to_string()))?;
    if !output.status.success() {
        return Err(wrong(format!("cargo: {}", output.status)));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(executable)
        .ok_or_else(|| wrong("cargo names no program".into()))
}

/// The program that a message of cargo is about.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = line.parse().ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

fn applets(busybox: &Path) -> Result<String, Error> {
    let output = Command::new(busybox).arg("--list").output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .map_err(|error| Error::new("run", busybox.display(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_read_from_what_cargo_says() {
        let line = r#"{"reason":"compiler-artifact","executable":"/t/release/host-init"}"#;

        assert_eq!(executable(line), Some("/t/release/host-init".into()));
        assert_eq!(executable(r#"{"reason":"x","executable":null}"#), None);
        assert_eq!(executable("warning"), None);
    }

    #[test]
    fn the_scripts_say_what_the_command_waits_for() {
        assert!(SHELL.contains(SCRIPTED));
        assert!(SHELL.contains(PROMPT));
        assert!(SHELL.contains(INVITATION));
    }

    #[test]
    fn the_image_is_made_without_root_from_any_init() {
        let image = image(Path::new("/bin/sh")).unwrap();

        // gzip's magic number.
        assert!(image.starts_with(&[0x1f, 0x8b]));
    }
}
