//! The child between its `clone3(2)` and the exec of host-init.
//!
//! This process has other threads, so the child may not allocate: everything is
//! made before it is.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::room::{Mount, text};
use crate::start::{Refused, Signals, Start, null};

/// Everything the child needs.
pub(crate) struct Plan<'s> {
    mounts: &'s [Mount],
    root: CString,
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    stdio: [RawFd; 3],
    open: &'s [RawFd],
    null: OwnedFd,
    signals: Signals,
    refused: Refused,
    core_bytes: libc::rlim_t,
    has_zombie: bool,
    /// What to write into `uid_map` and `gid_map`, without the right to mount.
    pub(crate) user: Option<(CString, CString)>,
    complaints: RawFd,
}

impl<'s> Plan<'s> {
    pub(crate) fn new(start: &'s Start<'_>) -> Self {
        let pointers = |words: &'s [CString]| -> Vec<*const libc::c_char> {
            words
                .iter()
                .map(|word| word.as_ptr())
                .chain([std::ptr::null()])
                .collect()
        };
        // SAFETY: has no arguments.
        let uid = unsafe { libc::geteuid() };
        // SAFETY: has no arguments.
        let gid = unsafe { libc::getegid() };
        let map = |id: u32| CString::new(format!("0 {id} 1")).unwrap();
        Self {
            mounts: &start.mounts,
            root: text(start.room.path()),
            arguments: pointers(&start.arguments),
            environment: pointers(&start.environment),
            stdio: start
                .stdio
                .each_ref()
                .map(|fd| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
            open: &start.open,
            null: null(),
            signals: start.signals,
            refused: start.refused,
            core_bytes: start.core_bytes,
            has_zombie: start.has_zombie,
            user: (uid != 0).then(|| (map(uid), map(gid))),
            complaints: 2,
        }
    }

    /// The child's whole life before host-init's.
    pub(crate) fn run(&self) -> ! {
        if let Some((uid, gid)) = &self.user {
            self.write(c"/proc/self/setgroups", c"deny");
            self.write(c"/proc/self/uid_map", uid);
            self.write(c"/proc/self/gid_map", gid);
        }
        // A test that is killed leaves nothing behind.
        // SAFETY: takes numbers.
        if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
            self.fail(c"die with the test");
        }
        self.enter();
        self.set_signals();
        self.set_limits();
        if self.has_zombie {
            self.make_zombie();
        }
        self.refuse();
        self.set_descriptors();
        // SAFETY: both arrays end with a null pointer.
        unsafe {
            libc::execve(
                c"/init".as_ptr(),
                self.arguments.as_ptr(),
                self.environment.as_ptr(),
            )
        };
        self.fail(c"exec /init")
    }

    /// Makes the room the root, by mounts that nobody else sees.
    fn enter(&self) {
        // First of all: from here on no mount leaves this namespace.
        mount(c"none", c"/", c"", libc::MS_REC | libc::MS_PRIVATE)
            .unwrap_or_else(|()| self.fail(c"make / private"));
        for entry in self.mounts {
            mount(&entry.source, &entry.target, &entry.kind, entry.flags)
                .unwrap_or_else(|()| self.fail(&entry.target));
        }
        // SAFETY: the path is a C string.
        if unsafe { libc::chroot(self.root.as_ptr()) } != 0 {
            self.fail(&self.root);
        }
        // SAFETY: as above.
        if unsafe { libc::chdir(c"/tmp".as_ptr()) } != 0 {
            self.fail(c"/tmp");
        }
    }

    fn set_signals(&self) {
        for number in 1..=libc::SIGRTMAX() {
            let action = match self.signals {
                Signals::Clean | Signals::Blocked => libc::SIG_DFL,
                Signals::Hostile => libc::SIG_IGN,
            };
            // SAFETY: neither action is code. KILL and STOP refuse.
            unsafe { libc::signal(number, action) };
        }
        let blocked = match self.signals {
            Signals::Clean => 0,
            Signals::Blocked | Signals::Hostile => u64::MAX,
        };
        block(blocked);
        // SAFETY: takes numbers.
        unsafe { libc::umask(0o077) };
    }

    fn set_limits(&self) {
        let limit = libc::rlimit {
            rlim_cur: self.core_bytes,
            rlim_max: self.core_bytes,
        };
        // SAFETY: the kernel reads one limit.
        if unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) } != 0 {
            self.fail(c"limit core dumps");
        }
    }

    fn make_zombie(&self) {
        // Not by the C library: its fork waits for locks that a thread of the test may
        // have held when this process was made.
        // SAFETY: the child has a copy of everything, and ends at once.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        if pid == 0 {
            // SAFETY: ends this process.
            unsafe { libc::_exit(0) };
        }
        let (Ok(pid), flags) = (libc::id_t::try_from(pid), libc::WEXITED | libc::WNOWAIT) else {
            self.fail(c"fork");
        };
        // It has ended, and stays.
        // SAFETY: takes numbers and a null pointer.
        if unsafe { libc::waitid(libc::P_PID, pid, std::ptr::null_mut(), flags) } != 0 {
            self.fail(c"wait");
        }
    }

    /// Filters system calls: see seccomp(2).
    fn refuse(&self) {
        /// `ioctl(2)` 11 of type 0xff: of process descriptors.
        const GET_INFO: u32 = 0xff << 8 | 11;
        let (call, argument, errno) = match self.refused {
            Refused::Nothing => return,
            Refused::Ends => (libc::SYS_ioctl, Some(GET_INFO), libc::ENOTTY),
            Refused::Processes => (libc::SYS_clone3, None, libc::EAGAIN),
            Refused::Reboot => (libc::SYS_reboot, None, libc::EPERM),
        };
        let code = |code: u32| u16::try_from(code).unwrap_or(0);
        let load = code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS);
        let jump = code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
        let and = code(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K);
        let give = code(libc::BPF_RET | libc::BPF_K);
        let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
        let call = u32::try_from(call).unwrap_or(0);
        let refuse = libc::SECCOMP_RET_ERRNO | u32::try_from(errno).unwrap_or(0);
        // Where any argument will do, none of its bits are looked at.
        let mask = argument.map_or(0, |_| 0xffff);
        let mut filter = [
            // The call's number; then the lower half of its second argument.
            step(load, 0, 0, 0),
            step(jump, call, 0, 4),
            step(load, 24, 0, 0),
            step(and, mask, 0, 0),
            step(jump, argument.unwrap_or(0), 0, 1),
            step(give, refuse, 0, 0),
            step(give, libc::SECCOMP_RET_ALLOW, 0, 0),
        ];
        let program = libc::sock_fprog {
            len: 7,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: takes numbers.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            self.fail(c"no new privileges");
        }
        // SAFETY: the kernel reads the program, which is seven steps long.
        let set = unsafe {
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            )
        };
        if set != 0 {
            self.fail(c"filter system calls");
        }
    }

    fn set_descriptors(&self) {
        // Out of the way first: one may be where another is to be.
        let mut aside = [-1; 3];
        for (place, fd) in aside.iter_mut().zip(self.stdio) {
            if fd >= 0 {
                // SAFETY: takes numbers.
                *place = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 100) };
            }
        }
        for (number, fd) in (0..).zip(aside) {
            // SAFETY: takes numbers.
            unsafe { libc::close(number) };
            if fd >= 0 {
                // SAFETY: takes numbers.
                unsafe { libc::dup2(fd, number) };
            }
        }
        for number in self.open {
            // SAFETY: takes numbers.
            unsafe { libc::dup2(self.null.as_raw_fd(), *number) };
        }
    }

    fn write(&self, path: &CStr, content: &CStr) {
        // SAFETY: the path is a C string.
        let fd = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
        // SAFETY: the content has that many bytes.
        let count = unsafe { libc::write(fd, content.as_ptr().cast(), content.count_bytes()) };
        if usize::try_from(count) != Ok(content.count_bytes()) {
            self.fail(path);
        }
    }

    /// Says what could not be done, on the test's own standard error.
    fn fail(&self, what: &CStr) -> ! {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let digits = [
            b'0' + u8::try_from(errno / 100 % 10).unwrap_or(0),
            b'0' + u8::try_from(errno / 10 % 10).unwrap_or(0),
            b'0' + u8::try_from(errno % 10).unwrap_or(0),
        ];
        for part in [
            b"namespace: ".as_slice(),
            what.to_bytes(),
            b": errno ",
            &digits,
            b"\n",
        ] {
            // SAFETY: the part has that many bytes.
            unsafe { libc::write(self.complaints, part.as_ptr().cast(), part.len()) };
        }
        // SAFETY: ends this process.
        unsafe { libc::_exit(99) }
    }
}

fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: libc::c_ulong) -> Result<(), ()> {
    // SAFETY: all are C strings, and there is no data.
    let result = unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags,
            std::ptr::null(),
        )
    };
    if result == 0 { Ok(()) } else { Err(()) }
}

/// Blocks these signals and no others, of this thread; those it blocked before.
pub(crate) fn block(signals: u64) -> u64 {
    let mut before = 0_u64;
    // The C library would leave out the two that it keeps for itself.
    // SAFETY: the kernel reads eight bytes and writes eight.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const signals,
            &raw mut before,
            size_of::<u64>(),
        )
    };
    before
}
