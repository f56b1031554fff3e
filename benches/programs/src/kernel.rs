//! System calls and the processor's clock, as safe functions; all the unsafe.
//!
//! Answers are the kernel's own: a value, or `-errno`.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

use host_init::sys::arch::{clone_into, syscall};
use linux_raw_sys::general as raw;

/// `AT_FDCWD`: paths from the working directory.
const HERE: usize = -100_isize as usize;

/// Makes a call whose pointers are valid for it.
fn call(number: u32, arguments: [usize; 6]) -> isize {
    // SAFETY: private to this file; each caller below passes numbers, and
    // addresses of things that live longer than the call.
    unsafe { syscall(number, arguments) }
}

/// The processor's own counter. In a guest that counts instructions it counts
/// them too: one each nanosecond since the machine was switched on.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor that Linux runs on in 64 bits has the counter.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value;
        // SAFETY: Linux lets programs read this register.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) value) };
        value
    }
}

/// `getpid(2)`.
pub fn pid() -> isize {
    call(raw::__NR_getpid, [0; 6])
}

/// `open(2)`, closed by an exec.
pub fn open(path: &CStr, flags: u32) -> isize {
    let flags = (flags | raw::O_CLOEXEC | raw::O_NOCTTY) as usize;
    call(
        raw::__NR_openat,
        [HERE, path.as_ptr().addr(), flags, 0o644, 0, 0],
    )
}

/// `read(2)`.
pub fn read(fd: isize, buffer: &mut [u8]) -> isize {
    let words = [
        fd as usize,
        buffer.as_mut_ptr().addr(),
        buffer.len(),
        0,
        0,
        0,
    ];
    call(raw::__NR_read, words)
}

/// `write(2)`.
pub fn write(fd: isize, bytes: &[u8]) -> isize {
    let words = [fd as usize, bytes.as_ptr().addr(), bytes.len(), 0, 0, 0];
    call(raw::__NR_write, words)
}

/// Makes another number stand for what a descriptor does; an exec does not close it.
pub fn duplicate(fd: isize, number: usize) -> isize {
    call(raw::__NR_dup3, [fd as usize, number, 0, 0, 0, 0])
}

/// `close(2)`.
pub fn close(fd: isize) -> isize {
    call(raw::__NR_close, [fd as usize, 0, 0, 0, 0, 0])
}

/// Two descriptors of a pipe: where to read, where to write.
pub fn pipe() -> (isize, isize) {
    let mut fds = [-1_i32; 2];
    let address = fds.as_mut_ptr().addr();
    call(raw::__NR_pipe2, [address, 0, 0, 0, 0, 0]);
    let [read, write] = fds;
    (read as isize, write as isize)
}

/// `mkdir(2)`.
pub fn mkdir(path: &CStr, mode: usize) -> isize {
    let words = [HERE, path.as_ptr().addr(), mode, 0, 0, 0];
    call(raw::__NR_mkdirat, words)
}

/// `symlink(2)`.
pub fn symlink(target: &CStr, path: &CStr) -> isize {
    let words = [target.as_ptr().addr(), HERE, path.as_ptr().addr(), 0, 0, 0];
    call(raw::__NR_symlinkat, words)
}

/// `rename(2)`.
pub fn rename(from: &CStr, to: &CStr) -> isize {
    let (from, to) = (from.as_ptr().addr(), to.as_ptr().addr());
    call(raw::__NR_renameat2, [HERE, from, HERE, to, 0, 0])
}

/// Looks whether something is at a path: `access(2)`.
pub fn look(path: &CStr) -> isize {
    let words = [HERE, path.as_ptr().addr(), 0, 0, 0, 0];
    call(raw::__NR_faccessat, words)
}

/// `mount(2)`.
pub fn mount(kind: &CStr, target: &CStr, flags: u32, options: &CStr) -> isize {
    let words = [
        kind.as_ptr().addr(),
        target.as_ptr().addr(),
        kind.as_ptr().addr(),
        flags as usize,
        options.as_ptr().addr(),
        0,
    ];
    call(raw::__NR_mount, words)
}

/// `sethostname(2)`.
pub fn set_hostname(name: &[u8]) -> isize {
    let words = [name.as_ptr().addr(), name.len(), 0, 0, 0, 0];
    call(raw::__NR_sethostname, words)
}

/// An IPv4 datagram socket.
pub fn socket() -> isize {
    let words = [2, 2 | raw::O_CLOEXEC as usize, 0, 0, 0, 0];
    call(raw::__NR_socket, words)
}

/// Sets flags of a network interface: `SIOCSIFFLAGS` of `netdevice(7)`.
pub fn set_interface_flags(socket: isize, request: &[u8; 40]) -> isize {
    let number = linux_raw_sys::ioctl::SIOCSIFFLAGS as usize;
    let words = [socket as usize, number, request.as_ptr().addr(), 0, 0, 0];
    call(raw::__NR_ioctl, words)
}

/// `kill(2)`.
pub fn kill(pid: isize, signal: u32) -> isize {
    let words = [pid as usize, signal as usize, 0, 0, 0, 0];
    call(raw::__NR_kill, words)
}

/// Blocks or unblocks signals: bit n - 1 for signal n.
pub fn set_blocked(signals: u64) -> isize {
    let address = (&raw const signals).addr();
    let words = [raw::SIG_SETMASK as usize, address, 0, 8, 0, 0];
    call(raw::__NR_rt_sigprocmask, words)
}

/// `struct sigaction` as the kernel has it.
#[repr(C)]
#[derive(Debug)]
pub struct Action {
    /// The handler, `SIG_DFL` or `SIG_IGN`.
    pub handler: usize,
    /// `SA_…`.
    pub flags: usize,
    /// Where a handler returns to.
    pub restorer: usize,
    /// What is blocked while it runs.
    pub mask: u64,
}

/// `sigaction(2)`.
pub fn set_action(signal: u32, action: &Action) -> isize {
    let address = core::ptr::from_ref(action).addr();
    let words = [signal as usize, address, 0, 8, 0, 0];
    call(raw::__NR_rt_sigaction, words)
}

/// `signalfd(2)`.
pub fn signal_fd(signals: u64) -> isize {
    let address = (&raw const signals).addr();
    let flags = raw::O_CLOEXEC as usize;
    call(raw::__NR_signalfd4, [usize::MAX, address, 8, flags, 0, 0])
}

/// An epoll set that watches one descriptor.
pub fn poll_set(fd: isize) -> isize {
    let set = call(
        raw::__NR_epoll_create1,
        [raw::O_CLOEXEC as usize, 0, 0, 0, 0, 0],
    );
    // `struct epoll_event`: readable, and no data.
    let event = [1_u32, 0, 0, 0];
    let (fd, event) = (fd as usize, event.as_ptr().addr());
    call(raw::__NR_epoll_ctl, [set as usize, 1, fd, event, 0, 0]);
    set
}

/// Maps a new page, private or shared, and writes to it.
pub fn map_page(kind: u32) -> usize {
    let access = (raw::PROT_READ | raw::PROT_WRITE) as usize;
    let kind = (kind | raw::MAP_ANONYMOUS) as usize;
    let address = call(raw::__NR_mmap, [0, 4096, access, kind, usize::MAX, 0]);
    let Ok(address) = usize::try_from(address) else {
        return 0;
    };
    // SAFETY: the kernel just made the page, for us alone.
    unsafe { core::ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(1) };
    address
}

/// Unmaps a page of [`map_page`].
pub fn unmap_page(address: usize) -> isize {
    call(raw::__NR_munmap, [address, 4096, 0, 0, 0, 0])
}

/// Waits for one of the signals, which are blocked, so many nanoseconds.
pub fn wait_signal(signals: u64, nanos: i64) -> isize {
    let time = [nanos / 1_000_000_000, nanos % 1_000_000_000];
    let words = [
        (&raw const signals).addr(),
        0,
        time.as_ptr().addr(),
        8,
        0,
        0,
    ];
    call(raw::__NR_rt_sigtimedwait, words)
}

/// Waits until the descriptor can be read, so many nanoseconds; without a bound
/// when there is none.
pub fn wait_readable(fd: isize, nanos: Option<i64>) -> isize {
    let mut polled = [fd as u32, 1];
    let time = nanos.map(|nanos| [nanos / 1_000_000_000, nanos % 1_000_000_000]);
    let time = time.as_ref().map_or(0, |time| time.as_ptr().addr());
    let words = [polled.as_mut_ptr().addr(), 1, time, 0, 8, 0];
    call(raw::__NR_ppoll, words)
}

/// Waits for a child, or looks whether one ended (`WNOHANG`).
pub fn wait(pid: isize, options: u32) -> isize {
    let words = [pid as usize, 0, options as usize, 0, 0, 0];
    call(raw::__NR_wait4, words)
}

/// `fork(2)`.
pub fn fork() -> isize {
    call(raw::__NR_clone, [raw::SIGCHLD as usize, 0, 0, 0, 0, 0])
}

/// Starts a program as `vfork(2)` and `execve(2)` do; its pid. `flags` adds to
/// those of the clone, and `pidfd` is where the kernel puts a descriptor if they
/// ask for one.
#[inline(always)]
pub fn spawn(path: &'static CStr, flags: u32, pidfd: &mut i32) -> isize {
    vfork(flags, pidfd, become_program, path.as_ptr().cast())
}

#[inline(always)]
fn vfork(
    flags: u32,
    pidfd: &mut i32,
    child: unsafe extern "C" fn(*const u8) -> !,
    argument: *const u8,
) -> isize {
    let arguments = raw::clone_args {
        flags: u64::from(raw::CLONE_VM | raw::CLONE_VFORK | flags),
        pidfd: core::ptr::from_mut(pidfd).addr() as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: u64::from(raw::SIGCHLD),
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: 0,
    };
    let size = size_of::<raw::clone_args>();
    let words = [core::ptr::from_ref(&arguments).addr(), size, 0, 0, 0];
    // SAFETY: without a stack of its own the child goes on below ours, and we do
    // not run until it has let go of it (`CLONE_VFORK`).
    unsafe { clone_into(raw::__NR_clone3, words, child, argument) }
}

unsafe extern "C" fn become_program(path: *const u8) -> ! {
    let arguments = [path.addr(), 0];
    let environment = [0_usize];
    let words = [
        path.addr(),
        arguments.as_ptr().addr(),
        environment.as_ptr().addr(),
        0,
        0,
        0,
    ];
    call(raw::__NR_execve, words);
    exit(127)
}

/// What the kernel gave this program: `argc`, `argv`, 0, `envp`, 0.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    first: *const *const u8,
    count: usize,
}

impl Words {
    /// Reads the initial stack.
    ///
    /// # Safety
    ///
    /// `stack` is the stack pointer at the program's first instruction.
    #[inline(always)]
    pub unsafe fn new(stack: *const usize) -> Self {
        Self {
            // SAFETY: the pointers follow the count.
            first: unsafe { stack.add(1) }.cast(),
            // SAFETY: the kernel puts the count there (`execve(2)`).
            count: unsafe { stack.read() },
        }
    }

    /// One of the arguments; the first is the program's own name.
    pub fn get(&self, number: usize) -> Option<&'static CStr> {
        if number >= self.count {
            return None;
        }
        // SAFETY: there are that many pointers.
        let place = unsafe { self.first.add(number) };
        // SAFETY: as above.
        let word = unsafe { place.read() };
        // SAFETY: each is a C string that stays.
        Some(unsafe { CStr::from_ptr(word.cast()) })
    }
}

/// Starts the program that the arguments behind `--` name, as [`spawn`] does, with
/// all of them and the environment as it is.
#[inline(always)]
pub fn spawn_rest(words: &Words, flags: u32, pidfd: &mut i32) -> isize {
    let words = core::ptr::from_ref(words).cast();
    vfork(flags, pidfd, become_rest, words)
}

unsafe extern "C" fn become_rest(words: *const u8) -> ! {
    // SAFETY: `spawn_rest` passes the words.
    let words = unsafe { &*words.cast::<Words>() };
    let path = words.get(2).unwrap_or_default();
    let arguments = words.first.wrapping_add(2);
    let environment = words.first.wrapping_add(words.count + 1);
    let words = [
        path.as_ptr().addr(),
        arguments.addr(),
        environment.addr(),
        0,
        0,
        0,
    ];
    call(raw::__NR_execve, words);
    exit(127)
}

/// Starts a program with these arguments as the first process of a pid namespace, as
/// [`spawn`] does; its pid. Notes when it began to become it.
pub fn spawn_apart(words: &[&CStr], began: &AtomicU64, pidfd: &mut i32) -> isize {
    let start = Start { words, began };
    let start = core::ptr::from_ref(&start).cast();
    vfork(
        raw::CLONE_NEWPID | raw::CLONE_PIDFD,
        pidfd,
        become_first,
        start,
    )
}

struct Start<'a> {
    words: &'a [&'a CStr],
    began: &'a AtomicU64,
}

/// What a container is given.
const ENVIRONMENT: [&CStr; 3] = [
    c"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    c"HOSTNAME=bench",
    c"HOME=/root",
];

unsafe extern "C" fn become_first(start: *const u8) -> ! {
    // SAFETY: `spawn_apart` passes one, and does not go on before the exec.
    let start = unsafe { &*start.cast::<Start<'_>>() };
    let mut arguments = [0; 16];
    for (place, word) in arguments.iter_mut().take(15).zip(start.words) {
        *place = word.as_ptr().addr();
    }
    let environment = [ENVIRONMENT.map(|entry| entry.as_ptr().addr()), [0; 3]];
    let words = [
        arguments[0],
        arguments.as_ptr().addr(),
        environment.as_ptr().addr(),
        0,
        0,
        0,
    ];
    start.began.store(ticks(), Ordering::Relaxed);
    call(raw::__NR_execve, words);
    exit(127)
}

/// How a process that was released ended (`PIDFD_GET_INFO`, Linux 6.15): its wait
/// status; none on older kernels.
pub fn status_of(pidfd: isize) -> Option<i32> {
    /// `_IOWR(0xff, 11, struct pidfd_info)`, and its flag for the status.
    const REQUEST: usize = 0xc040_ff0b;
    const EXIT: u64 = 1 << 3;
    // `struct pidfd_info`: the mask first, the status last.
    let mut info = [EXIT, 0, 0, 0, 0, 0, 0, 0];
    let words = [pidfd as usize, REQUEST, info.as_mut_ptr().addr(), 0, 0, 0];
    let answer = call(raw::__NR_ioctl, words);
    let is_told = answer == 0 && info[0] & EXIT != 0;
    is_told.then_some((info[7] >> 32) as i32)
}

/// Waits for a child; its pid and its wait status.
pub fn wait_status(pid: isize) -> (isize, i32) {
    let mut status = 0_i32;
    let address = (&raw mut status).addr();
    let pid = call(raw::__NR_wait4, [pid as usize, address, 0, 0, 0, 0]);
    (pid, status)
}

/// Sleeps.
pub fn sleep(nanos: i64) {
    let time = [nanos / 1_000_000_000, nanos % 1_000_000_000];
    let words = [time.as_ptr().addr(), 0, 0, 0, 0, 0];
    call(raw::__NR_nanosleep, words);
}

/// `sync(2)`.
pub fn sync() {
    call(raw::__NR_sync, [0; 6]);
}

/// Powers the machine off; in a pid namespace, ends that.
pub fn power_off() {
    let words = [0xfee1_dead, 0x2812_1969, 0x4321_fedc, 0, 0, 0];
    call(raw::__NR_reboot, words);
}

/// Ends this process.
pub fn exit(code: u8) -> ! {
    loop {
        call(raw::__NR_exit_group, [usize::from(code), 0, 0, 0, 0, 0]);
    }
}
