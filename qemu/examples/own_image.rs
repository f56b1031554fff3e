//! Tests an image of one's own: makes it, boots it, talks to it, ends it.

use core::error::Error;
use core::time::Duration;

use initramfs::{Archive, Compression, DeviceKind};
use qemu::{Boot, Ending, tools};

/// Generous: a boot takes two seconds where nothing else runs.
const BOUND: Duration = Duration::from_secs(60);

/// The first process of the image. Yours is a program, or host-init.
const INIT: &str = "#!/bin/busybox sh
echo 'ready'
read name
echo \"hello, $name\"
/bin/busybox poweroff -f
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut archive = Archive::new();
    archive
        .device("/dev/console", DeviceKind::Char, 5, 1, 0o600)?
        .file_from("/bin/busybox", 0o755, tools::busybox()?)?
        .file("/init", 0o755, INIT)?;

    let mut guest = Boot::new(archive.write(Compression::None)?).start()?;
    guest.wait_line("ready", BOUND)?;
    guest.type_line("world")?;
    let line = guest.wait_line("hello", BOUND)?;
    guest.expect_end(&Ending::PoweredOff, BOUND)?;

    println!("the guest said {line:?} and powered off");
    Ok(())
}
