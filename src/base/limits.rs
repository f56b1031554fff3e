//! Every fixed capacity and bound, with its unit and why it is that number.

use core::time::Duration;

/// Bytes of a config file. The longest that people write by hand for a machine
/// with 128 services is about 40 KiB.
pub const CONFIG_BYTES: usize = 64 * 1024;

/// Bytes of the path of a config, its terminating NUL included: it is kept for as
/// long as the machine runs.
pub const CONFIG_PATH_BYTES: usize = 256;

/// Words of one command, environment entries of one service.
pub const WORDS: usize = 64;

/// Environment entries of a program that is started without a copy of PID 1's
/// memory: the service's own, what a container's init was given, and the built-in.
pub const ENVIRONMENT: usize = 256;

/// `[[app]]` entries of a config: a supervision tree larger than that is a
/// distribution's, not an image's.
pub const APPS: usize = 128;

/// Bytes of an app's name: it is also that of files, a control group and a log.
pub const NAME_BYTES: usize = 32;

/// `[[mount]]` entries of a config.
pub const MOUNTS: usize = 32;

/// `[[directory]]` entries of a config.
pub const DIRECTORIES: usize = 32;

/// Bytes of the kernel command line: `COMMAND_LINE_SIZE` is 2,048 on x86-64
/// and aarch64; some vendor kernels double it.
pub const COMMAND_LINE_BYTES: usize = 4096;

/// Bytes of one line of the kernel log, without its end: the kernel refuses a
/// write of more than 976 bytes to `/dev/kmsg` (`LOG_LINE_MAX` less its prefix).
pub const LOG_LINE_BYTES: usize = 975;

/// Bytes of a path: `PATH_MAX`, the terminating NUL included.
pub const PATH_BYTES: usize = 4096;

/// The shortest time after a start that failed, whatever the config says: what can't
/// be started must not take a processor for itself.
pub const START_FLOOR: Duration = Duration::from_millis(10);

/// Ctrl-Alt-Del pressed more often than this within [`IMPATIENT_WINDOW`] ends
/// the machine at once (the convention of systemd).
pub const IMPATIENT_PRESSES: u8 = 7;

/// See [`IMPATIENT_PRESSES`].
pub const IMPATIENT_WINDOW: Duration = Duration::from_secs(2);

/// Supplementary groups of a command's user. The most that people are in by far;
/// the kernel's limit is 65,536.
pub const GROUPS: usize = 64;

/// Bytes of `/etc/passwd` and of `/etc/group`: some thousand users.
pub const USERS_BYTES: usize = 256 * 1024;
