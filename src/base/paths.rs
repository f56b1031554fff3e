//! Every path that host-init knows by itself.

use core::ffi::CStr;

/// The config, unless `host_init.config=` or `--config` names another.
pub const CONFIG: &CStr = c"/etc/host-init.toml";

/// The kernel's log, written a line at a time.
pub const KMSG: &CStr = c"/dev/kmsg";

/// The kernel's choice of console.
pub const CONSOLE: &CStr = c"/dev/console";

/// Where what host-init knows is told to others.
pub const STATE: &CStr = c"/run/host-init";

/// Where the host says how it is (`sd_notify(3)`).
pub const NOTIFY: &CStr = c"/run/host-init/notify";

/// The root of the unified cgroup hierarchy (`cgroups(7)`).
pub const CGROUP: &CStr = c"/sys/fs/cgroup";

/// The name of PID 1 (`proc(5)`).
pub const INIT_NAME: &CStr = c"/proc/1/comm";

/// Where each service's last end is written down.
pub const STATUS: &CStr = c"/run/host-init/status";
