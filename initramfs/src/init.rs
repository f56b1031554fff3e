//! The first process, built from this workspace when nobody brings one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, reason, shown};

const NAME: &str = "host-init";

/// The workspace that this program was built in.
pub(crate) fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Builds the first process and says where it is. Takes as long as cargo does.
pub(crate) fn build() -> Result<PathBuf, Error> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = target();
    let status = Command::new(&cargo)
        .args(["build", "--release", "--package", NAME, "--bin", NAME])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(workspace())
        // Either would put the program into another directory than the one
        // looked in below, or build it for another machine.
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("CARGO_BUILD_TARGET_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| {
            let cargo = shown(Path::new(&cargo));
            let reason = reason(&error);
            Error::new("build", NAME, format_args!("cannot run {cargo}: {reason}"))
        })?;
    if !status.success() {
        let reason = format_args!("cargo ended with {status}; --init PATH brings another");
        return Err(Error::new("build", NAME, reason));
    }
    Ok(target.join("release").join(NAME))
}

/// Where cargo builds, and images go, unless told otherwise.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        // A relative one starts where the command does, not in the workspace.
        Some(folder) if !folder.is_empty() => {
            std::path::absolute(&folder).unwrap_or_else(|_| folder.into())
        }
        _ => workspace().join("target"),
    }
}
