//! Programs that run containers: found, brought, or said to be missing.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use qemu::tools;

/// Where a client is, for a test that takes root; none after it was said why the
/// test is skipped.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    if !may(program) {
        return None;
    }
    match tools::program(program) {
        Ok(path) => Some(path),
        Err(error) => {
            skipped(&error.to_string());
            None
        }
    }
}

/// Whether this is root, which a client takes; otherwise it was said.
pub(crate) fn may(program: &str) -> bool {
    // SAFETY: geteuid(2) takes nothing and always succeeds.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        skipped(&format!("{program} takes root"));
    }
    is_root
}

/// Whether a command ends well; otherwise it was said that it does not.
pub(crate) fn works(command: &mut Command) -> bool {
    let reason = match command.output() {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    skipped(&format!("{}: {reason}", command.get_program().display()));
    false
}

/// Says that the running test is skipped, and why.
pub(crate) fn skipped(reason: &str) {
    let name = thread::current().name().unwrap_or_default().to_owned();
    // Not by a macro, whose words nobody sees when the test passes.
    let _ = writeln!(std::io::stderr(), "{name}: skipped: {reason}");
}
