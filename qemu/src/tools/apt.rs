//! Debian's packages: installed with root, unpacked without.
//!
//! It says what it does, a line each, on stderr, and asks nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::system;
use crate::tools::{base, find, run};

/// How long to wait for another program that installs, in seconds.
const LOCK_OPTION: &str = "DPkg::Lock::Timeout=300";

/// Installs a package, with root or a sudo that needs no password.
pub(super) fn install(package: &str) -> Result<(), Error> {
    let order = format!("apt-get install -y --no-install-recommends {package}");
    need("apt-get", "install", package)?;
    let mut command = match authority() {
        Authority::Root => Command::new("env"),
        Authority::Sudo => {
            let mut command = Command::new("sudo");
            command.args(["-n", "env"]);
            command
        }
        Authority::None => {
            let reason = format!("it takes root: run `sudo {order}`");
            return Err(Error::new("install", package, reason));
        }
    };
    command.args([
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-qq",
        "-o",
        LOCK_OPTION,
    ]);

    say(format_args!("{order}"));
    let mut again = repeated(&command);
    let mut update = repeated(&command);
    let words = ["install", "-y", "--no-install-recommends", package];
    if run(command.args(words), "install", package).is_ok() {
        return Ok(());
    }
    // The lists may be missing, as in a container's image, or too old.
    say(format_args!("apt-get update"));
    run(update.arg("update"), "update", "apt's lists")?;
    run(again.args(words), "install", package).map(drop)
}

/// Fetches a package and unpacks it to a directory. Takes no root.
pub(super) fn unpack(package: &str, directory: &Path) -> Result<(), Error> {
    need("apt-get", "fetch", package)?;
    need("dpkg-deb", "unpack", package)?;
    let parcel = directory.with_extension("deb");
    let _ = fs::remove_dir_all(&parcel);
    fs::create_dir_all(&parcel).map_err(|error| Error::new("make", parcel.display(), error))?;

    say(format_args!("fetch and unpack {package}"));
    with_lists(|lists| {
        let mut command = lists.command("apt-get");
        command
            .current_dir(&parcel)
            .args(["-qq", "download", package]);
        run(&mut command, "fetch", package)
    })?;
    let file = fs::read_dir(&parcel)
        .ok()
        .and_then(|mut entries| entries.next()?.ok())
        .ok_or_else(|| Error::new("fetch", package, "apt-get left no file"))?;
    let mut command = Command::new("dpkg-deb");
    command.arg("-x").arg(file.path()).arg(directory);
    run(&mut command, "unpack", package)?;
    // Only room is lost when it stays.
    let _ = fs::remove_dir_all(&parcel);
    Ok(())
}

/// The first package with this prefix that a package depends on.
pub(super) fn dependency(package: &str, prefix: &str) -> Result<String, Error> {
    need("apt-cache", "look up", package)?;
    with_lists(|lists| {
        let mut command = lists.command("apt-cache");
        let answer = run(command.args(["depends", package]), "look up", package)?;
        named(&answer, prefix)
            .map(str::to_owned)
            .ok_or_else(|| Error::new("look up", package, "apt names no such dependency"))
    })
}

fn named<'a>(answer: &'a str, prefix: &str) -> Option<&'a str> {
    answer
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with(prefix))
}

/// Whose lists of packages apt reads.
enum Lists {
    /// The system's.
    System,
    /// Our own, which we may update without root.
    Own(PathBuf),
}

impl Lists {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // Root may fetch as root: the user _apt cannot write to our directory,
        // and apt would warn of that each time.
        command.args(["-o", "APT::Sandbox::User=root"]);
        if let Self::Own(base) = self {
            for (name, place) in [("State::lists", "lists"), ("Cache", "cache")] {
                let option = format!("Dir::{name}={}", base.join(place).display());
                command.args(["-o", &option]);
            }
            // The guest is x86-64, whatever we are.
            command.args(["-o", "APT::Architecture=amd64"]);
        }
        command
    }
}

/// Tries the system's lists, and when those lack it or are too old, fresh ones.
fn with_lists<T>(work: impl Fn(&Lists) -> Result<T, Error>) -> Result<T, Error> {
    if let Ok(answer) = work(&Lists::System) {
        return Ok(answer);
    }
    let own = base().join("apt");
    for place in ["lists/partial", "cache/archives/partial"] {
        let path = own.join(place);
        fs::create_dir_all(&path).map_err(|error| Error::new("make", path.display(), error))?;
    }
    let lists = Lists::Own(own);
    say(format_args!("fetch fresh lists of packages"));
    let mut command = lists.command("apt-get");
    run(
        command.args(["-qq", "update"]),
        "fetch",
        "lists of packages",
    )?;
    work(&lists)
}

/// Without Debian's tools we can only say what is missing.
fn need(program: &str, verb: &'static str, package: &str) -> Result<(), Error> {
    match find(program) {
        Some(_) => Ok(()),
        None => {
            let reason = format!(
                "this is not Debian (no {program}): put qemu-system-x86_64, mkfs.ext4, runc and a \
                 static busybox into PATH, and set HOST_INIT_KERNEL to a kernel with serial \
                 console, devtmpfs, NVMe and ext4 built in"
            );
            Err(Error::new(verb, package, reason))
        }
    }
}

enum Authority {
    Root,
    Sudo,
    None,
}

fn authority() -> Authority {
    if system::is_root() {
        return Authority::Root;
    }
    let sudo = Command::new("sudo").args(["-n", "true"]).output();
    match sudo {
        Ok(output) if output.status.success() => Authority::Sudo,
        _ => Authority::None,
    }
}

fn repeated(command: &Command) -> Command {
    let mut other = Command::new(command.get_program());
    other.args(command.get_args());
    other
}

fn say(what: core::fmt::Arguments<'_>) {
    eprintln!("boot: {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_the_dependency_with_its_prefix() {
        let answer = "linux-image-cloud-amd64\n  Depends: other\n  Depends: linux-image-6.1.0-57\n";

        assert_eq!(named(answer, "linux-image-"), Some("linux-image-6.1.0-57"));
        assert_eq!(named("linux-image-cloud-amd64\n", "linux-image-"), None);
    }

    #[test]
    fn a_missing_tool_is_an_error_that_says_what_would_do() {
        let error = need("no-such-apt", "install", "qemu-system-x86").unwrap_err();

        assert!(
            error
                .to_string()
                .starts_with("boot: install qemu-system-x86: ")
        );
        assert!(error.to_string().contains("HOST_INIT_KERNEL"));
    }
}
