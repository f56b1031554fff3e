//! An archive with a busybox and a script for an init.

use core::time::Duration;

use initramfs::{Archive, Compression, DeviceKind};
use qemu::{Boot, tools};

/// A boot takes two seconds; a machine that is busy with other things, longer.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// Boots a script, which has /dev, /proc, /sys and the applets of busybox.
// The test of the command boots archives only.
#[allow(dead_code)]
pub(crate) fn script(body: &str) -> Boot {
    Boot::new(archive(body))
}

/// The archive for it.
pub(crate) fn archive(body: &str) -> Vec<u8> {
    let init = format!(
        "#!/bin/busybox sh\n\
         export PATH=/bin\n\
         /bin/busybox --install -s /bin\n\
         mount -t devtmpfs dev /dev\n\
         mount -t proc proc /proc\n\
         mount -t sysfs sys /sys\n\
         exec </dev/console >/dev/console 2>&1\n\
         {body}\n"
    );
    let mut archive = Archive::new();
    let busybox = tools::busybox().expect("a busybox");
    for directory in ["/dev", "/proc", "/sys", "/mnt", "/tmp"] {
        archive.directory(directory, 0o755).unwrap();
    }
    archive
        .device("/dev/console", DeviceKind::Char, 5, 1, 0o600)
        .unwrap()
        .file_from("/bin/busybox", 0o755, busybox)
        .unwrap()
        .file("/init", 0o755, init)
        .unwrap();
    archive.write(Compression::None).unwrap()
}
