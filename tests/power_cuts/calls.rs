//! What a write asks of the kernel, seen from outside: its calls in their order.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host_init::base::slot::{BYTES, Slot};
use host_init::sys::store;

/// A call that a disk gets to feel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// The file is made, empty.
    Make,
    /// So many zeros are written at this place.
    Clear { at: usize, count: usize },
    /// The slot is written at this place, in one call.
    Write { at: usize },
    /// What is in the file becomes durable.
    SyncFile,
    /// The file's name does.
    SyncName,
}

/// What is written while it is watched.
const CONTENT: [u8; BYTES] = [0xa5; BYTES];

/// The calls of one write to a file of this length, or to none.
pub(crate) fn of_write(path: &Path, length: Option<usize>, slot: Slot) -> Vec<Call> {
    let _ = fs::remove_file(path);
    if let Some(length) = length {
        fs::write(path, vec![7; length]).unwrap();
    }
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the child makes system calls only, and touches nothing of others.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        trace(libc::PTRACE_TRACEME, 0, 0);
        // SAFETY: takes nothing.
        let own = unsafe { libc::getpid() };
        // SAFETY: takes numbers.
        unsafe { libc::kill(own, libc::SIGSTOP) };
        let is_written = store::write(&name, slot, &CONTENT).is_ok();
        // SAFETY: takes a number.
        unsafe { libc::_exit(i32::from(!is_written)) };
    }
    assert!(pid > 0);
    let mut watch = Watch {
        pid,
        directory: path.parent().unwrap(),
        files: Vec::new(),
        directories: Vec::new(),
        calls: Vec::new(),
    };
    watch.follow();
    watch.calls
}

/// A process that is watched.
struct Watch<'p> {
    pid: i32,
    /// The directory of the file.
    directory: &'p Path,
    /// Its descriptors of the file.
    files: Vec<u64>,
    /// Its descriptors of the directory.
    directories: Vec<u64>,
    calls: Vec<Call>,
}

impl Watch<'_> {
    /// Up to the end of the process, which must be a good one.
    fn follow(&mut self) {
        trace_options(self.wait(), self.pid);
        let mut begun = None;
        loop {
            trace(libc::PTRACE_SYSCALL, self.pid, 0);
            let status = self.wait();
            if libc::WIFEXITED(status) {
                assert_eq!(libc::WEXITSTATUS(status), 0, "the write failed");
                return;
            }
            assert_eq!(libc::WSTOPSIG(status), libc::SIGTRAP | 0x80);
            // `struct ptrace_syscall_info`: the kind first; at 24 the call's number
            // and behind it its arguments, or its answer.
            let mut info = [0_u64; 11];
            // SAFETY: the kernel writes at most as many bytes as it is told there are.
            unsafe {
                libc::ptrace(
                    libc::PTRACE_GET_SYSCALL_INFO,
                    self.pid,
                    size_of_val(&info),
                    info.as_mut_ptr(),
                )
            };
            match info[0].to_le_bytes()[0] {
                libc::PTRACE_SYSCALL_INFO_ENTRY => begun = Some(info),
                libc::PTRACE_SYSCALL_INFO_EXIT => {
                    if let Some(begun) = begun.take() {
                        let number = libc::c_long::try_from(begun[3]).unwrap();
                        let words = [begun[4], begun[5], begun[6], begun[7]];
                        self.ended(number, words, info[3].cast_signed());
                    }
                }
                kind => panic!("a stop of kind {kind}"),
            }
        }
    }

    fn ended(&mut self, number: libc::c_long, words: [u64; 4], answer: i64) {
        // The one processor that still has it.
        #[cfg(target_arch = "x86_64")]
        let (number, words) = match number {
            libc::SYS_open => (libc::SYS_openat, [0, words[0], words[1], words[2]]),
            _ => (number, words),
        };
        match number {
            libc::SYS_openat if answer >= 0 => self.opened(words, answer.cast_unsigned()),
            libc::SYS_pwrite64 => {
                let [fd, from, count, at] = words;
                assert!(self.files.contains(&fd) && answer.cast_unsigned() == count);
                let (count, at) = (usize::try_from(count), usize::try_from(at));
                let (count, at) = (count.unwrap(), at.unwrap());
                let bytes = self.memory(from, count);
                self.calls.push(if bytes == CONTENT {
                    Call::Write { at }
                } else {
                    assert!(bytes.iter().all(|byte| *byte == 0));
                    Call::Clear { at, count }
                });
            }
            libc::SYS_fsync | libc::SYS_fdatasync => {
                assert_eq!(answer, 0);
                if self.files.contains(&words[0]) {
                    self.calls.push(Call::SyncFile);
                } else {
                    assert!(self.directories.contains(&words[0]));
                    // Names are more than data.
                    assert_eq!(number, libc::SYS_fsync);
                    self.calls.push(Call::SyncName);
                }
            }
            libc::SYS_openat | libc::SYS_fstat | libc::SYS_newfstatat | libc::SYS_statx => {}
            libc::SYS_close => {}
            _ => panic!("a call that the model does not know: {number}"),
        }
    }

    fn opened(&mut self, words: [u64; 4], fd: u64) {
        let flags = i32::try_from(words[2] & 0x7fff_ffff).unwrap();
        for known in [&mut self.files, &mut self.directories] {
            known.retain(|other| *other != fd);
        }
        if flags & libc::O_DIRECTORY != 0 {
            let expected = self.directory.as_os_str().as_bytes();
            assert_eq!(self.memory(words[1], expected.len()), expected);
            self.directories.push(fd);
            return;
        }
        assert_eq!(flags & (libc::O_TRUNC | libc::O_APPEND), 0);
        self.files.push(fd);
        if flags & libc::O_CREAT != 0 {
            self.calls.push(Call::Make);
        }
    }

    /// So many bytes of its memory.
    fn memory(&self, from: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let local = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: count,
        };
        let remote = libc::iovec {
            iov_base: std::ptr::without_provenance_mut(usize::try_from(from).unwrap()),
            iov_len: count,
        };
        // SAFETY: the kernel writes `count` bytes, which `bytes` has.
        let read = unsafe { libc::process_vm_readv(self.pid, &local, 1, &remote, 1, 0) };
        assert_eq!(usize::try_from(read), Ok(count));
        bytes
    }

    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: a place for one status.
        let waited = unsafe { libc::waitpid(self.pid, &raw mut status, libc::__WALL) };
        assert_eq!(waited, self.pid);
        status
    }
}

/// At the first stop: calls are told from signals, and nothing outlives the test.
fn trace_options(status: i32, pid: i32) {
    assert!(libc::WIFSTOPPED(status), "can't be traced: {status:#x}");
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    let options = usize::try_from(options).unwrap();
    trace(libc::PTRACE_SETOPTIONS, pid, options);
}

fn trace(request: libc::c_uint, pid: i32, data: usize) {
    // SAFETY: requests of this file that take a number and touch no memory here.
    unsafe { libc::ptrace(request, pid, 0_usize, data) };
}
