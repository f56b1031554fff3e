//! The child between its `clone3(2)` and the exec of an init.
//!
//! This process has other threads, so the child may not allocate: everything is
//! made before it is.

use std::ffi::{CStr, CString, c_char, c_uint};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::start::{Role, Signals, Start, Terminal};
use crate::system::{block, clone, exit, lead, lead_group, null, pid, set_signal, stay, text};

/// Everything the child needs.
pub(crate) struct Plan<'s> {
    program: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    directory: CString,
    role: Role,
    signals: Signals,
    stdio: [RawFd; 3],
    open: &'s [RawFd],
    null: OwnedFd,
    leads: bool,
    terminal: Terminal,
    refused: Option<u32>,
    /// What to write into `uid_map` and `gid_map`, without the right to mount.
    pub(crate) user: Option<(CString, CString)>,
    /// Where the first process tells of the second.
    end: RawFd,
}

impl<'s> Plan<'s> {
    pub(crate) fn new(start: &'s Start, end: &OwnedFd) -> Self {
        let pointers = |words: &'s [CString]| -> Vec<*const c_char> {
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
            program: text(&start.program),
            arguments: pointers(&start.arguments),
            environment: pointers(&start.environment),
            directory: text(&start.directory),
            role: start.role,
            signals: start.signals,
            stdio: start
                .stdio
                .each_ref()
                .map(|fd| fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
            open: &start.open,
            null: null(),
            leads: start.leads,
            terminal: start.terminal,
            refused: start.refused,
            user: (uid != 0).then(|| (map(uid), map(gid))),
            end: end.as_raw_fd(),
        }
    }

    /// The child's whole life before the init's.
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
        self.mount();
        match self.role {
            Role::First => self.execute(),
            Role::Ordinary => self.watch(),
        }
    }

    /// The namespace's own `/proc`, by mounts that nobody else sees.
    fn mount(&self) {
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let quiet = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        for (kind, place, flags) in [(c"none", c"/", private), (c"proc", c"/proc", quiet)] {
            // SAFETY: all are C strings, and there is no data.
            let result = unsafe {
                libc::mount(
                    kind.as_ptr(),
                    place.as_ptr(),
                    kind.as_ptr(),
                    flags,
                    std::ptr::null(),
                )
            };
            if result != 0 {
                self.fail(place);
            }
        }
    }

    /// The life of a first process that is not the init: it starts the init,
    /// tells of its end, and stays for the sake of what is left.
    fn watch(&self) -> ! {
        lead();
        if matches!(
            self.terminal,
            Terminal::OfAnother | Terminal::OfAnotherBehind
        ) {
            self.take_terminal();
        }
        let mut pidfd = -1;
        // SAFETY: the child makes only system calls.
        let pid = unsafe { clone(libc::CLONE_VFORK, &mut pidfd) };
        if pid == 0 {
            self.execute();
        }
        if pid < 0 {
            self.fail(c"fork");
        }
        // The ends of pipes that it has are the test's, and of other tests too.
        // SAFETY: takes numbers.
        unsafe { libc::close_range(0, number(self.end - 1), 0) };
        // SAFETY: takes numbers.
        unsafe { libc::close_range(number(self.end + 1), c_uint::MAX, 0) };
        self.tell([0, 0]);
        // SAFETY: zeros are a value of this plain struct.
        let mut ended: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // The process stays, so that its pid is nobody else's while a test has it.
        // SAFETY: the kernel writes one siginfo.
        let result = unsafe {
            libc::waitid(
                libc::P_PID,
                number(pid),
                &raw mut ended,
                libc::WEXITED | libc::WNOWAIT,
            )
        };
        if result == 0 {
            // SAFETY: the kernel filled it in as for a child that has ended.
            let status = unsafe { ended.si_status() };
            self.tell([ended.si_code, status]);
        }
        stay();
    }

    fn tell(&self, words: [i32; 2]) {
        // SAFETY: the array has that many bytes.
        unsafe { libc::write(self.end, words.as_ptr().cast(), size_of_val(&words)) };
    }

    fn execute(&self) -> ! {
        if self.leads {
            lead();
        }
        match self.terminal {
            Terminal::None => {}
            Terminal::Own => self.take_terminal(),
            Terminal::OfAnother => {
                lead_group(0);
                self.bring_forward(pid());
            }
            Terminal::OfAnotherBehind => lead_group(0),
            Terminal::Behind => {
                self.take_terminal();
                self.bring_forward(self.start_another());
            }
        }
        // SAFETY: the path is a C string.
        if unsafe { libc::chdir(self.directory.as_ptr()) } != 0 {
            self.fail(&self.directory);
        }
        let limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the kernel reads one limit.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) };
        self.set_signals();
        self.set_descriptors();
        if let Some(call) = self.refused {
            self.refuse(call);
        }
        // SAFETY: both arrays end with a null pointer.
        unsafe {
            libc::execve(
                self.program.as_ptr(),
                self.arguments.as_ptr(),
                self.environment.as_ptr(),
            )
        };
        self.fail(&self.program)
    }

    fn take_terminal(&self) {
        // SAFETY: takes numbers.
        if unsafe { libc::ioctl(self.stdio[0], libc::TIOCSCTTY, 0) } != 0 {
            self.fail(c"take the terminal");
        }
    }

    fn bring_forward(&self, group: i32) {
        // SAFETY: takes numbers.
        if unsafe { libc::tcsetpgrp(self.stdio[0], group) } != 0 {
            self.fail(c"bring a group forward");
        }
    }

    /// A child that the init does not know, in a group of its own.
    fn start_another(&self) -> i32 {
        let mut pidfd = -1;
        // SAFETY: the child makes only system calls.
        let pid = unsafe { clone(0, &mut pidfd) };
        if pid == 0 {
            block(0);
            stay();
        }
        lead_group(pid);
        pid
    }

    fn set_signals(&self) {
        for signal in 1..=libc::SIGRTMAX() {
            let is_ignored = self.signals.ignored >> (signal - 1) & 1 == 1;
            let action = if is_ignored {
                libc::SIG_IGN
            } else {
                libc::SIG_DFL
            };
            set_signal(signal, action);
        }
        block(self.signals.blocked);
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
        // What the test has from its own parent is no business of the init's.
        let close_on_exec = number(libc::CLOSE_RANGE_CLOEXEC.cast_signed());
        // SAFETY: takes numbers.
        unsafe { libc::close_range(3, c_uint::MAX, close_on_exec.cast_signed()) };
        for number in self.open {
            // SAFETY: takes numbers.
            unsafe { libc::dup2(self.null.as_raw_fd(), *number) };
        }
    }

    /// Has the kernel answer `EPERM` to a system call from now on.
    fn refuse(&self, call: u32) {
        let step = |code: u32, k: u32, jt: u8| libc::sock_filter {
            code: u16::try_from(code).unwrap_or(0),
            jt,
            jf: 0,
            k,
        };
        let mut steps = [
            // The call's number is the first of what a filter sees.
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call, 1),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
            step(
                libc::BPF_RET | libc::BPF_K,
                libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(),
                0,
            ),
        ];
        let program = libc::sock_fprog {
            len: 4,
            filter: steps.as_mut_ptr(),
        };
        let filter = libc::SECCOMP_MODE_FILTER;
        // SAFETY: takes numbers.
        let is_bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
        // SAFETY: the kernel reads a program of four steps.
        let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, filter, &raw const program) };
        if !is_bound || result != 0 {
            self.fail(c"filter calls");
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

    /// Says what could not be done, on whatever standard error is now.
    fn fail(&self, what: &CStr) -> ! {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let digits = [
            b'0' + u8::try_from(errno / 100 % 10).unwrap_or(0),
            b'0' + u8::try_from(errno / 10 % 10).unwrap_or(0),
            b'0' + u8::try_from(errno % 10).unwrap_or(0),
        ];
        for part in [
            b"start: ".as_slice(),
            what.to_bytes(),
            b": errno ",
            &digits,
            b"\n",
        ] {
            // SAFETY: the part has that many bytes.
            unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
        }
        exit(99)
    }
}

fn number(value: i32) -> c_uint {
    c_uint::try_from(value).unwrap_or(0)
}
