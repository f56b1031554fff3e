//! The images that the guests boot: the same for every init but for its files.

use std::error::Error;

use initramfs::{Archive, Compression, DeviceKind};

use crate::contestants::Contestant;
use crate::programs::Programs;

/// Directories that the boot job mounts on.
const DIRECTORIES: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/tmp"];

/// An image with this init, and a host in this mode.
pub(crate) fn with(
    contestant: &Contestant,
    programs: &Programs,
    mode: &str,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = furnished(programs, mode)?;
    for (path, mode, content) in &contestant.files {
        archive.file(path, *mode, content.bytes()?)?;
    }
    Ok(archive.write(Compression::None)?)
}

/// An image in which one of our own programs is the first process.
pub(crate) fn with_program(programs: &Programs, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = furnished(programs, "none")?;
    archive.file_from("/init", 0o755, programs.path(name))?;
    Ok(archive.write(Compression::None)?)
}

fn furnished(programs: &Programs, mode: &str) -> Result<Archive, Box<dyn Error>> {
    let mut archive = Archive::new();
    for directory in DIRECTORIES {
        archive.ensure(directory)?;
    }
    archive.device("/dev/console", DeviceKind::Char, 5, 1, 0o600)?;
    archive.file("/mode", 0o644, mode)?;
    archive.file_from("/host", 0o755, programs.path("host"))?;
    Ok(archive)
}
