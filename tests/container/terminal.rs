//! A pseudoterminal: a client has its one end, and the test types at the other.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The end that a person would sit at.
pub(crate) struct Terminal(File);

impl Terminal {
    /// A new one, whose other end is a command's standard input, output and error,
    /// and its controlling terminal.
    pub(crate) fn of(command: &mut Command) -> Self {
        let (mut master, mut slave) = (-1, -1);
        // SAFETY: the kernel writes two descriptors.
        let made = unsafe {
            libc::openpty(
                &raw mut master,
                &raw mut slave,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        assert_eq!(made, 0);
        // SAFETY: it was just made for this process.
        let master = unsafe { File::from_raw_fd(master) };
        // SAFETY: as above.
        let slave = unsafe { OwnedFd::from_raw_fd(slave) };
        // Another test's client would keep this one's terminal open.
        for end in [master.as_raw_fd(), slave.as_raw_fd()] {
            // SAFETY: takes numbers.
            let set = unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
            assert_eq!(set, 0);
        }
        command
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave);
        // SAFETY: both calls are async-signal-safe.
        unsafe { command.pre_exec(lead) };
        Self(master)
    }

    /// Types.
    pub(crate) fn types(&self, keys: &str) {
        (&self.0).write_all(keys.as_bytes()).unwrap();
    }

    /// Gives it another size, of which its foreground is told.
    pub(crate) fn resizes(&self, rows: u16, columns: u16) {
        let size = libc::winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: the kernel reads the structure.
        let set = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
        assert_eq!(set, 0);
    }

    /// What the other end writes, and an error when nobody has it.
    pub(crate) fn reader(&self) -> File {
        self.0.try_clone().unwrap()
    }
}

/// Makes a session whose terminal is standard input.
fn lead() -> io::Result<()> {
    // SAFETY: takes nothing.
    if unsafe { libc::setsid() } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: takes numbers.
    if unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
