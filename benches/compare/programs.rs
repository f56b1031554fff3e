//! Builds what is measured, as a user's release build has it.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

/// Where the built programs are.
pub(crate) struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds the program itself and those that it is measured with.
    pub(crate) fn build() -> Result<Self, Box<dyn Error>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = qemu::tools::target();
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--release"])
            .args(["--package", "host-init", "--bin", "host-init"])
            .args(["--package", "bench-programs", "--bins"])
            .arg("--target-dir")
            .arg(&target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env_remove("CARGO_BUILD_TARGET")
            .status()?;
        if !status.success() {
            return Err(format!("build the measured programs: cargo ended with {status}").into());
        }
        Ok(Self {
            directory: target.join("release"),
        })
    }

    /// The file of a program.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}
