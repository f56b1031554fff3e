//! The command line that QEMU is started with.

use core::fmt::Display;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// What a guest's kernel is always told: the console, a restart as soon as it
/// panics, and no boot messages between the lines that tests wait for. Where the
/// machine that emulates is busy with other things, the kernel's own look at its
/// timer gives up, with a panic, and its look at a processor that stalls writes into
/// what others say: it looks at neither.
const KERNEL_WORDS: &str = "panic=-1 quiet no_timer_check rcupdate.rcu_cpu_stall_suppress=1";

/// The parts of a machine, as QEMU wants to hear of them.
pub(crate) struct Parts<'a> {
    pub(crate) kernel: &'a Path,
    pub(crate) archive: &'a Path,
    pub(crate) mebibytes: u32,
    /// QEMU's end of the console; none for a machine without a serial port.
    pub(crate) console: Option<RawFd>,
    /// QEMU's end of the monitor.
    pub(crate) monitor: RawFd,
    pub(crate) disks: &'a [PathBuf],
    pub(crate) words: &'a [String],
    pub(crate) will_reset: bool,
    pub(crate) extra: &'a [OsString],
}

impl Parts<'_> {
    /// All arguments, in order.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        // q35 and emulation only: microvm hangs now and then, and KVM cannot be
        // counted on where tests run. No `-nographic`: it has the firmware write
        // to the serial port, and hang there when nobody reads.
        let mut list = List::default();
        list.words("-M q35 -accel tcg -cpu max -display none -nodefaults");
        list.pair("-m", format!("{}M", self.mebibytes));
        // Not running until we listen: no event may be missed.
        list.words("-S");
        if !self.will_reset {
            list.words("-no-reboot");
        }
        list.pair("-chardev", format!("socket,id=monitor,fd={}", self.monitor));
        list.pair("-mon", "chardev=monitor,mode=control");
        if let Some(console) = self.console {
            list.pair("-chardev", format!("socket,id=console,fd={console}"));
            list.pair("-serial", "chardev:console");
        }
        if !self.disks.is_empty() {
            // One processor, and room for another: for a machine that can have only one
            // QEMU before 8.1 leaves out the memory barriers, though its disks run beside
            // the processor. Then a disk misses that it was asked for something, once in
            // some hundred boots, and hangs.
            list.pair("-smp", "1,maxcpus=2");
        }
        for (number, path) in self.disks.iter().enumerate() {
            let file = escape(path);
            let mut drive = OsString::from(format!("if=none,id=disk{number},format=raw,file="));
            drive.push(file);
            list.pair("-drive", drive);
            list.pair(
                "-device",
                format!("nvme,drive=disk{number},serial=disk{number}"),
            );
        }
        list.pair("-kernel", self.kernel);
        list.pair("-initrd", self.archive);
        list.pair("-append", self.kernel_words());
        list.0.extend_from_slice(self.extra);
        list.0
    }

    fn kernel_words(&self) -> String {
        let console = self.console.map(|_| "console=ttyS0");
        console
            .into_iter()
            .chain([KERNEL_WORDS])
            .chain(self.words.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

#[derive(Default)]
struct List(Vec<OsString>);

impl List {
    fn words(&mut self, words: impl Display) {
        self.0
            .extend(words.to_string().split(' ').map(OsString::from));
    }

    fn pair(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.extend([name.into(), value.into()]);
    }
}

/// A path as part of an option, where a comma would end it.
fn escape(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let bytes = path.as_os_str().as_bytes();
    let doubled = bytes
        .iter()
        .flat_map(|&byte| core::iter::repeat_n(byte, if byte == b',' { 2 } else { 1 }));
    OsString::from_vec(doubled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments<'a>(change: impl FnOnce(&mut Parts<'a>)) -> String {
        let mut parts = Parts {
            kernel: Path::new("/kernel"),
            archive: Path::new("/archive"),
            mebibytes: 128,
            console: Some(7),
            monitor: 8,
            disks: &[],
            words: &[],
            will_reset: false,
            extra: &[],
        };
        change(&mut parts);
        let arguments = parts.arguments();
        let words: Vec<_> = arguments
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    #[test]
    fn the_machine_is_q35_emulated_and_without_extras() {
        let line = arguments(|_| {});

        assert!(line.starts_with("-M q35 -accel tcg -cpu max -display none -nodefaults -m 128M"));
        assert!(line.contains("-no-reboot"));
        assert!(line.ends_with(&format!("-append console=ttyS0 {KERNEL_WORDS}")));
    }

    #[test]
    fn a_machine_without_a_serial_port_has_no_console() {
        let line = arguments(|parts| parts.console = None);

        assert!(!line.contains("-serial"));
        assert!(!line.contains("console="));
    }

    #[test]
    fn the_words_of_the_caller_come_last_so_that_they_win() {
        let words = ["loglevel=7".to_owned()];

        let line = arguments(|parts| parts.words = &words);

        assert!(line.ends_with(&format!("{KERNEL_WORDS} loglevel=7")));
    }

    #[test]
    fn where_there_is_a_disk_barriers_are_kept() {
        let disks = [PathBuf::from("/disk")];

        assert!(arguments(|parts| parts.disks = &disks).contains("-smp 1,maxcpus=2"));
        assert!(!arguments(|_| {}).contains("-smp"));
    }

    #[test]
    fn a_comma_in_a_path_is_doubled() {
        let disks = [PathBuf::from("/a,b")];

        let line = arguments(|parts| parts.disks = &disks);

        assert!(line.contains("file=/a,,b -device nvme,drive=disk0,serial=disk0"));
    }
}
