//! Disks with versions of a host, and the link to the one that runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use qemu::{Disk, Scratch};

/// The program of the version that is current, where the disk is at `/data`.
pub(crate) const HOST: &str = "/data/app/current/run";

/// A disk with these versions, each a script, of which the first is current.
pub(crate) fn disk(versions: &[(&str, &str)]) -> Disk {
    let scratch = Scratch::new().unwrap();
    let app = scratch.path().join("app");
    for (version, script) in versions {
        let directory = app.join("versions").join(version);
        fs::create_dir_all(&directory).unwrap();
        let program = directory.join("run");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (first, _) = versions[0];
    symlink(format!("versions/{first}"), app.join("current")).unwrap();
    Disk::ext4_with(16, &["-d", scratch.path().to_str().unwrap()]).unwrap()
}

/// What an updater does in the directory of the link: there is always one, and it
/// leads to what was there or to this version.
pub(crate) fn choose(version: &str) -> String {
    format!("rm -f new; ln -s versions/{version} new; mv -T new current; sync")
}
