//! What each step of a boot costs, the kernel's part and ours: one table.
//!
//! Run as the first process, so that every step meets the kernel as an init does.

use core::ffi::CStr;
use core::hint::black_box;

use linux_raw_sys::general as raw;
use linux_raw_sys::general::{MS_NODEV, MS_NOEXEC, MS_NOSUID, O_CREAT, O_RDONLY, O_RDWR, O_WRONLY};

use crate::{boot, kernel, text};

const SAFE: u32 = MS_NOSUID | MS_NODEV | MS_NOEXEC;

/// The name of a step, and the step.
type Step = (&'static str, fn() -> isize);

/// All of them, in the order of a boot: each finds what those before it made.
const STEPS: [Step; 52] = [
    ("nothing", || 0),
    ("getpid", || kernel::pid()),
    ("block signals", || kernel::set_blocked(!0)),
    ("sigaction", || kernel::set_action(1, &DEFAULT)),
    ("touch 4 kB of stack", touch_stack::<4>),
    ("touch 64 kB of stack", touch_stack::<64>),
    ("map, touch and unmap a page", || map(raw::MAP_PRIVATE)),
    ("the same, shared", || map(raw::MAP_SHARED)),
    ("signalfd, epoll, watch, close both", watch),
    ("mount proc", || mount(c"proc", c"/proc", c"")),
    ("mount sysfs", || mount(c"sysfs", c"/sys", c"")),
    ("mount devtmpfs", || {
        kernel::mount(c"devtmpfs", c"/dev", MS_NOSUID, c"")
    }),
    ("look for a directory that is not there", || {
        kernel::look(c"/dev/pts")
    }),
    ("mount on a directory that is not there", || {
        mount(c"devpts", c"/dev/pts", boot::PTS)
    }),
    ("mkdir /dev/pts", || make(c"/dev/pts")),
    ("mount devpts", || mount(c"devpts", c"/dev/pts", boot::PTS)),
    ("mkdir /dev/shm", || make(c"/dev/shm")),
    ("mount /dev/shm", || {
        mount(c"tmpfs", c"/dev/shm", c"mode=1777")
    }),
    ("look at a directory", || kernel::look(c"/run")),
    ("mount /run", || mount(c"tmpfs", c"/run", c"mode=0755")),
    ("mount /tmp", || mount(c"tmpfs", c"/tmp", c"mode=1777")),
    ("mount cgroup2", || mount(c"cgroup2", GROUPS, boot::GROUPS)),
    ("mount securityfs", || {
        mount(c"securityfs", c"/sys/kernel/security", c"")
    }),
    ("mount debugfs", || {
        mount(c"debugfs", c"/sys/kernel/debug", c"")
    }),
    ("mount tracefs", || {
        mount(c"tracefs", c"/sys/kernel/tracing", c"")
    }),
    ("mount configfs", || {
        mount(c"configfs", c"/sys/kernel/config", c"")
    }),
    ("mount bpf", || mount(c"bpf", c"/sys/fs/bpf", c"")),
    ("mount pstore", || mount(c"pstore", c"/sys/fs/pstore", c"")),
    ("mkdir /dev/mqueue", || make(c"/dev/mqueue")),
    ("mount mqueue", || mount(c"mqueue", c"/dev/mqueue", c"")),
    ("symlink /dev/fd", || {
        kernel::symlink(c"/proc/self/fd", c"/dev/fd")
    }),
    ("read /proc/filesystems", || read(c"/proc/filesystems")),
    ("read /proc/cmdline", || read(c"/proc/cmdline")),
    ("read a small file", || read(c"/mode")),
    ("write printk_devkmsg", || {
        write(c"/proc/sys/kernel/printk_devkmsg", b"on\n", O_WRONLY)
    }),
    ("write oom_score_adj", || {
        write(c"/proc/self/oom_score_adj", b"-1000", O_WRONLY)
    }),
    ("open and close /dev/kmsg", || {
        write(c"/dev/kmsg", b"", O_WRONLY)
    }),
    ("and with a record", || {
        write(
            c"/dev/kmsg",
            b"<6>bench: steps: a record of some length",
            O_WRONLY,
        )
    }),
    ("hostname", || kernel::set_hostname(b"bench")),
    ("socket and its close", || kernel::close(kernel::socket())),
    ("loopback up, with a socket", || {
        let socket = kernel::socket();
        kernel::set_interface_flags(socket, &boot::LOOPBACK_UP);
        kernel::close(socket)
    }),
    ("make a control group", || make(c"/sys/fs/cgroup/a")),
    ("open one of its files", || {
        write(c"/sys/fs/cgroup/a/cgroup.procs", b"", O_WRONLY)
    }),
    ("write a new file in /run", || {
        write(c"/run/new", b"0123456789", O_WRONLY | O_CREAT)
    }),
    ("rename it", || kernel::rename(c"/run/new", c"/run/old")),
    ("open /dev/null, close", || write(c"/dev/null", b"", O_RDWR)),
    ("open /dev/console, close", || {
        write(c"/dev/console", b"", O_RDWR)
    }),
    ("fork, exit, wait", || {
        let child = kernel::fork();
        if child == 0 {
            kernel::exit(0);
        }
        kernel::wait(child, 0)
    }),
    ("vfork, exit, wait", || {
        let child = kernel::spawn(c"/nowhere", 0, &mut -1);
        kernel::wait(child, 0)
    }),
    ("vfork, exec, exit, wait", || {
        let child = kernel::spawn(c"/init", 0, &mut -1);
        kernel::wait(child, 0)
    }),
    ("sync", || {
        kernel::sync();
        0
    }),
    ("move PID 1 to a control group", || {
        write(c"/sys/fs/cgroup/a/cgroup.procs", b"0", O_WRONLY)
    }),
];

const GROUPS: &CStr = c"/sys/fs/cgroup";

const DEFAULT: kernel::Action = kernel::Action {
    handler: 0,
    flags: 0,
    restorer: 0,
    mask: 0,
};

/// Takes every step once, tells what each took, and powers off.
pub fn run() -> ! {
    if kernel::pid() != 1 {
        kernel::exit(0);
    }
    let mut took = [0; STEPS.len()];
    for ((_, step), took) in STEPS.iter().zip(&mut took) {
        let before = kernel::ticks();
        step();
        *took = kernel::ticks() - before;
    }
    for ((name, _), took) in STEPS.iter().zip(took) {
        text::tell(name, took.cast_signed());
    }
    kernel::power_off();
    kernel::exit(0)
}

#[inline(never)]
fn touch_stack<const KILOBYTES: usize>() -> isize {
    // Deeper than anything before it: the pages are new.
    let mut room = [[0_u8; 1024]; KILOBYTES];
    black_box(&mut room);
    0
}

fn map(kind: u32) -> isize {
    let address = kernel::map_page(kind);
    kernel::unmap_page(address)
}

fn watch() -> isize {
    let signals = kernel::signal_fd(1);
    let poll = kernel::poll_set(signals);
    kernel::close(poll);
    kernel::close(signals)
}

fn mount(kind: &CStr, target: &CStr, options: &CStr) -> isize {
    kernel::mount(kind, target, SAFE, options)
}

fn make(path: &CStr) -> isize {
    kernel::mkdir(path, 0o755)
}

fn read(path: &CStr) -> isize {
    let mut buffer = [0; 1024];
    let file = kernel::open(path, O_RDONLY);
    kernel::read(file, &mut buffer);
    kernel::close(file)
}

fn write(path: &CStr, bytes: &[u8], flags: u32) -> isize {
    let file = kernel::open(path, flags);
    if !bytes.is_empty() {
        kernel::write(file, bytes);
    }
    kernel::close(file)
}
