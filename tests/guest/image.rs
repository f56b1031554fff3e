//! Images: host-init as `/init`, a busybox, a config, and what a test adds.

use std::path::Path;

use initramfs::{Archive, Compression, DeviceKind, Entry};
use qemu::{Boot, Console, tools};

use crate::programs;

/// The host of most images: a shell that does what the test types.
///
/// It has no terminal of its own, so nothing typed is a signal, and nothing is
/// echoed.
pub(crate) const SHELL: &str = "\
#!/bin/sh
cd /
stty -echo </dev/console
echo 'host: up'
while read -r line; do eval \"$line\"; done </dev/console
";

/// What the image's shell can do: names of busybox.
const APPLETS: &str = "sh cat echo ls stat grep sed awk cut wc head tail sort tr od printf \
     dmesg mount umount mkdir mkswap swapon swapoff losetup insmod dd cp mv rm ln sync stty \
     ps kill sleep usleep touch chmod chown readlink hostname uname ip ping nc \
     reboot poweroff halt true false env id tty setsid test seq uniq time date";

/// An image in the making.
pub(crate) struct Image {
    archive: Archive,
    console: Entry,
}

impl Image {
    /// An image with this config, and a shell.
    pub(crate) fn new(config: &str) -> Self {
        Self::with_init(programs::host_init(), config)
    }

    /// The same with another build of host-init.
    pub(crate) fn with_init(init: &Path, config: &str) -> Self {
        let mut image = Self::bare(init);
        for applet in APPLETS.split_whitespace() {
            image
                .archive
                .symlink(format!("/bin/{applet}"), "busybox")
                .unwrap();
        }
        image.file("/etc/host-init.toml", config)
    }

    /// An image whose host is [`SHELL`], with these lines behind its command: keys
    /// of `[host]`, then other tables.
    pub(crate) fn with_shell(rest: &str) -> Self {
        Self::new(&format!("[host]\ncommand = [\"/host\"]\n{rest}\n")).program("/host", SHELL)
    }

    /// An image of this init and a busybox that nothing calls: without a config,
    /// and without a shell for a person.
    pub(crate) fn bare(init: &Path) -> Self {
        let mut archive = Archive::new();
        archive
            .file_from("/init", 0o755, init)
            .unwrap()
            .file_from("/bin/busybox", 0o755, tools::busybox().unwrap())
            .unwrap();
        let console = Entry::device(DeviceKind::Char, 5, 1);
        Self { archive, console }
    }

    /// Has a directory where the console's device is. The kernel's own archive has
    /// the device, so to leave it out of this one would change nothing.
    pub(crate) fn without_console(mut self) -> Self {
        self.console = Entry::directory();
        self
    }

    /// Adds a file.
    pub(crate) fn file(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.archive.file(path, 0o644, text).unwrap();
        self
    }

    /// Adds a program: a script.
    pub(crate) fn program(mut self, path: &str, script: impl Into<Vec<u8>>) -> Self {
        self.archive.file(path, 0o755, script).unwrap();
        self
    }

    /// Adds a program of the machine that tests.
    pub(crate) fn program_from(mut self, path: &str, source: &Path) -> Self {
        self.archive.file_from(path, 0o755, source).unwrap();
        self
    }

    /// Adds `/bin/probe`.
    pub(crate) fn probe(self) -> Self {
        self.program_from("/bin/probe", programs::probe())
    }

    /// The archive's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut archive = self.archive.clone();
        archive.add("/dev/console", self.console.clone()).unwrap();
        archive.write(Compression::None).unwrap()
    }

    /// A machine with the image, which says on its console all there is to say.
    pub(crate) fn boot(&self) -> Boot {
        Boot::new(self.bytes()).append("loglevel=7")
    }

    /// A machine with the image whose console says only what is bad: kernel
    /// messages take long where nobody reads them.
    pub(crate) fn boot_on(&self, console: Console) -> Boot {
        Boot::new(self.bytes()).console(console)
    }
}
