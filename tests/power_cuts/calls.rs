//! What a write asks of the kernel, seen from outside: its calls in their order.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use host_init::base::slot::{BYTES, Slot};
use host_init::sys::store;

/// A call that a disk gets to feel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// What has the other name is removed.
    Remove,
    /// The file is made under the other name, empty.
    Make,
    /// Both slots are written, without a record.
    Fill,
    /// So many zeros are written at this place.
    Clear { at: usize, count: usize },
    /// The slot is written at this place, in one call.
    Write { at: usize },
    /// What is in the file becomes durable.
    SyncFile,
    /// The file that was made gets its own name, which nothing has.
    Rename,
    /// The file's name becomes durable.
    SyncName,
}

/// What is written while it is watched.
const CONTENT: [u8; BYTES] = [0xa5; BYTES];

/// What is there when a write begins, as far as its calls depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Scene {
    /// Bytes of the file, if there is one.
    pub(crate) length: Option<usize>,
    /// Whether no record was ever in it.
    pub(crate) is_unwritten: bool,
    /// Whether something has the other name.
    pub(crate) has_aside: bool,
}

/// A file that is made, without a record.
pub(crate) fn made() -> Vec<u8> {
    let mut slot = [0; BYTES];
    slot[..8].copy_from_slice(b"hostboot");
    [slot; 2].concat()
}

/// The other name of a file, until it is whole.
pub(crate) fn aside(path: &Path) -> PathBuf {
    path.with_added_extension("new")
}

/// The calls of one write in this scene.
pub(crate) fn of_write(path: &Path, scene: Scene, slot: Slot) -> Vec<Call> {
    let aside = aside(path);
    let _ = fs::remove_file(path);
    let _ = fs::remove_file(&aside);
    if let Some(length) = scene.length {
        let byte = if scene.is_unwritten { 0 } else { 7 };
        fs::write(path, vec![byte; length]).unwrap();
    }
    if scene.has_aside {
        fs::write(&aside, [7; 100]).unwrap();
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
        path,
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
    path: &'p Path,
    /// The directory of the file.
    directory: &'p Path,
    /// Its descriptors of the file, under either name, each with the bytes that were
    /// written one after the other.
    files: Vec<(u64, usize)>,
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
                        let words = [begun[4], begun[5], begun[6], begun[7], begun[8]];
                        self.ended(number, words, info[3].cast_signed());
                    }
                }
                kind => panic!("a stop of kind {kind}"),
            }
        }
    }

    fn ended(&mut self, number: libc::c_long, words: [u64; 5], answer: i64) {
        // The one processor that still has it.
        #[cfg(target_arch = "x86_64")]
        let (number, words) = match number {
            libc::SYS_open => (libc::SYS_openat, [0, words[0], words[1], words[2], 0]),
            _ => (number, words),
        };
        match number {
            libc::SYS_openat if answer >= 0 => self.opened(words, answer.cast_unsigned()),
            libc::SYS_pwrite64 | libc::SYS_write => {
                let [fd, from, count, at, _] = words;
                let file = self.files.iter_mut().find(|(file, _)| *file == fd);
                let (_, end) = file.unwrap();
                assert_eq!(answer.cast_unsigned(), count);
                let (count, at) = (usize::try_from(count), usize::try_from(at));
                let (count, mut at) = (count.unwrap(), at.unwrap());
                if number == libc::SYS_write {
                    at = *end;
                    *end += count;
                }
                let bytes = self.memory(from, count);
                self.calls.push(if bytes == CONTENT {
                    Call::Write { at }
                } else if bytes == made() {
                    assert_eq!(at, 0);
                    Call::Fill
                } else {
                    assert!(bytes.iter().all(|byte| *byte == 0));
                    Call::Clear { at, count }
                });
            }
            libc::SYS_unlinkat if answer == 0 => {
                assert!(self.names(words[0], words[1], &aside(self.path)));
                self.calls.push(Call::Remove);
            }
            libc::SYS_renameat2 if answer == 0 => {
                assert!(self.names(words[0], words[1], &aside(self.path)));
                assert!(self.names(words[2], words[3], self.path));
                assert_eq!(words[4], u64::from(libc::RENAME_NOREPLACE));
                self.calls.push(Call::Rename);
            }
            libc::SYS_fsync | libc::SYS_fdatasync => {
                assert_eq!(answer, 0);
                if self.files.iter().any(|(file, _)| *file == words[0]) {
                    self.calls.push(Call::SyncFile);
                } else {
                    assert!(self.directories.contains(&words[0]));
                    // Names are more than data.
                    assert_eq!(number, libc::SYS_fsync);
                    self.calls.push(Call::SyncName);
                }
            }
            libc::SYS_openat | libc::SYS_fstat | libc::SYS_newfstatat | libc::SYS_statx => {}
            libc::SYS_close | libc::SYS_pread64 => {}
            _ => panic!("a call that the model does not know: {number}"),
        }
    }

    fn opened(&mut self, words: [u64; 5], fd: u64) {
        let flags = i32::try_from(words[2] & 0x7fff_ffff).unwrap();
        self.files.retain(|(other, _)| *other != fd);
        self.directories.retain(|other| *other != fd);
        if flags & libc::O_DIRECTORY != 0 {
            assert!(self.has_text(words[1], self.directory.as_os_str().as_bytes()));
            self.directories.push(fd);
            return;
        }
        assert_eq!(flags & (libc::O_TRUNC | libc::O_APPEND), 0);
        if flags & libc::O_CREAT != 0 {
            assert!(self.names(words[0], words[1], &aside(self.path)));
            assert_ne!(flags & libc::O_EXCL, 0);
            self.calls.push(Call::Make);
        } else {
            assert!(self.has_text(words[1], self.path.as_os_str().as_bytes()));
        }
        self.files.push((fd, 0));
    }

    /// Whether a descriptor and a name mean this path.
    fn names(&self, directory: u64, name: u64, path: &Path) -> bool {
        self.directories.contains(&directory)
            && self.has_text(name, path.file_name().unwrap().as_bytes())
    }

    /// Whether there is this text in its memory, and no more of it.
    fn has_text(&self, from: u64, text: &[u8]) -> bool {
        let bytes = self.memory(from, text.len() + 1);
        bytes.split_last() == Some((&0, text))
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
