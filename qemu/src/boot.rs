//! What to boot and on which machine, before the power is switched on.

use core::time::Duration;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::Parts;
use crate::disk::Disk;
use crate::error::Error;
use crate::guest::{Guest, Machine};
use crate::process::Process;
use crate::pump::{Mirror, Pump};
use crate::scratch::Scratch;
use crate::slot::Slot;
use crate::{system, tools};

/// How long a guest may wait for others to end. Every one of them is bounded
/// too, so this only has to be longer than a whole test run.
const SLOT_BOUND: Duration = Duration::from_mins(15);

/// How long typed text may wait for a guest that takes none.
const TYPING_BOUND: Duration = Duration::from_secs(10);

/// A machine to be started: an archive, and what differs from the usual.
///
/// The usual is 128 MiB of memory, Debian's kernel, a console that is read, no
/// disks, and an end at the guest's first restart.
#[must_use = "nothing runs until `start`"]
pub struct Boot {
    image: Image,
    kernel: Option<PathBuf>,
    mebibytes: u32,
    words: Vec<String>,
    disks: Vec<PathBuf>,
    console: Console,
    will_reset: bool,
    extra: Vec<OsString>,
    mirror: Option<Mirror>,
}

/// An archive for the kernel to unpack and start the `/init` of.
#[derive(Debug, Clone)]
pub enum Image {
    /// One that was written to a file.
    File(PathBuf),
    /// One in memory.
    Bytes(Vec<u8>),
}

/// What is at the other end of the guest's serial port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// Somebody who reads everything.
    Read,
    /// Somebody who never reads. The port takes some 25 bytes and then no more,
    /// for ever: a write to the console blocks once the kernel's buffer is full.
    /// [`Guest::thaw_console`] starts the reading.
    Unread,
    /// There is no serial port.
    Absent,
}

impl Boot {
    /// Boots an archive: its bytes, or the path of a file that holds them.
    pub fn new(image: impl Into<Image>) -> Self {
        Self {
            image: image.into(),
            kernel: None,
            mebibytes: 128,
            words: Vec::new(),
            disks: Vec::new(),
            console: Console::Read,
            will_reset: false,
            extra: Vec::new(),
            mirror: None,
        }
    }

    /// Boots this kernel instead of the one of [`tools::kernel`].
    pub fn kernel(mut self, path: impl Into<PathBuf>) -> Self {
        self.kernel = Some(path.into());
        self
    }

    /// Gives the machine so much memory.
    pub const fn memory(mut self, mebibytes: u32) -> Self {
        self.mebibytes = mebibytes;
        self
    }

    /// Adds words to the kernel's command line, after our own.
    pub fn append(mut self, words: impl Into<String>) -> Self {
        self.words.push(words.into());
        self
    }

    /// Has the kernel start another program of the archive than `/init`.
    pub fn init(self, path: &str) -> Self {
        self.append(format!("rdinit={path}"))
    }

    /// Adds a disk: the first is `/dev/nvme0n1`, the next `/dev/nvme1n1`.
    ///
    /// The disk must outlive the guest.
    pub fn disk(mut self, disk: &Disk) -> Self {
        self.disks.push(disk.path().to_owned());
        self
    }

    /// Says what is at the other end of the serial port.
    pub const fn console(mut self, console: Console) -> Self {
        self.console = console;
        self
    }

    /// Goes on over restarts: each is an ending of its own, in turn.
    pub const fn through_restarts(mut self) -> Self {
        self.will_reset = true;
        self
    }

    /// Adds arguments of QEMU, after our own.
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.extra.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Ties the guest's time to its instructions, a nanosecond for each, skips
    /// over idle time, and takes all chance away: clock, random numbers, layout.
    ///
    /// Two boots then agree to the nanosecond, so a time is a number of
    /// instructions. Disks are still the host's, and bring its chance with them.
    pub fn counting_instructions(self) -> Self {
        self.append("nokaslr")
            .arguments(["-icount", "shift=0,sleep=off", "-seed", "1"])
            .arguments(["-rtc", "base=2026-01-01,clock=vm"])
    }

    /// Copies the console to a writer as it comes. While the writer blocks,
    /// nothing more of the guest is heard.
    pub fn mirror(mut self, writer: impl Write + Send + 'static) -> Self {
        self.mirror = Some(Box::new(writer));
        self
    }

    /// Waits until fewer guests run than may, then switches the power on.
    pub fn start(self) -> Result<Guest, Error> {
        let slot = Slot::take(SLOT_BOUND)?;
        let scratch = Scratch::new()?;
        let kernel = match self.kernel {
            Some(kernel) => kernel,
            None => tools::kernel()?.image,
        };
        let archive = self.image.place(scratch.path())?;

        let plugs = || -> io::Result<_> {
            let console = Plug::new()?;
            // Only then: through a small buffer the last words of a guest that
            // powers off are lost, since QEMU does not stay to write them.
            if self.console == Console::Unread {
                system::shrink_send_buffer(&console.theirs)?;
            }
            Ok((console, Plug::new()?))
        };
        let (console, monitor) =
            plugs().map_err(|error| Error::new("make", "the guest's sockets", error))?;
        let has_console = self.console != Console::Absent;
        let parts = Parts {
            kernel: &kernel,
            archive: &archive,
            mebibytes: self.mebibytes,
            console: has_console.then_some(console.theirs.as_raw_fd()),
            monitor: monitor.theirs.as_raw_fd(),
            disks: &self.disks,
            words: &self.words,
            will_reset: self.will_reset,
            extra: &self.extra,
        };
        let mut command = Command::new(tools::qemu()?);
        command.args(parts.arguments()).stdin(Stdio::null());

        let complaints = scratch.path().join("qemu.log");
        let running = || -> io::Result<_> {
            let log = File::create(&complaints)?;
            command.stdout(log.try_clone()?).stderr(log);
            let process = Process::start(command, &[console.theirs, monitor.theirs])?;
            let keyboard = console.ours.try_clone()?;
            keyboard.set_write_timeout(Some(TYPING_BOUND))?;
            let control = monitor.ours.try_clone()?;
            let pump = Pump::start(
                has_console.then_some(console.ours),
                monitor.ours,
                self.mirror,
                self.console == Console::Unread,
            )?;
            Ok((process, pump, keyboard, control))
        };
        let (process, pump, keyboard, control) =
            running().map_err(|error| Error::new("start", "QEMU", error))?;
        Guest::switch_on(Machine {
            process,
            pump,
            keyboard: has_console.then_some(keyboard),
            control,
            complaints,
            _scratch: scratch,
            _slot: slot,
        })
    }
}

/// Two ends of a socket: one for us, one for QEMU.
struct Plug {
    ours: UnixStream,
    theirs: OwnedFd,
}

impl Plug {
    fn new() -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok(Self {
            ours,
            theirs: theirs.into(),
        })
    }
}

impl Image {
    /// The archive as a file, in the directory if it is not in one yet.
    fn place(self, directory: &Path) -> Result<PathBuf, Error> {
        match self {
            Self::File(path) => match fs::metadata(&path) {
                Ok(_) => Ok(path),
                Err(error) => Err(Error::new("open", path.display(), error)),
            },
            Self::Bytes(bytes) => {
                let path = directory.join("archive");
                fs::write(&path, bytes)
                    .map_err(|error| Error::new("write", path.display(), error))?;
                Ok(path)
            }
        }
    }
}

impl From<PathBuf> for Image {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&Path> for Image {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<Vec<u8>> for Image {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&[u8]> for Image {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_owned())
    }
}
