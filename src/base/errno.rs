//! The kernel's reasons, in the words of `errno(3)`.

/// A reason that the kernel gave, by its number (`errno(3)`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(u16);

macro_rules! errnos {
    ($($name:ident $number:literal $words:literal;)*) => {
        impl Errno {
            $(#[doc = $words] pub const $name: Self = Self($number);)*
        }

        /// Every reason that has words here: number, name of `errno(3)`, words.
        const TABLE: [(u16, &str, &str); [$($number),*].len()] =
            [$(($number, stringify!($name), $words)),*];
    };
}

errnos! {
    EPERM 1 "operation not permitted";
    ENOENT 2 "no such file or directory";
    ESRCH 3 "no such process";
    EINTR 4 "interrupted";
    EIO 5 "input/output error";
    ENXIO 6 "no such device or address";
    E2BIG 7 "argument list too long";
    ENOEXEC 8 "not a program this kernel can run";
    EBADF 9 "bad file descriptor";
    ECHILD 10 "no child processes";
    EAGAIN 11 "resource temporarily unavailable";
    ENOMEM 12 "out of memory";
    EACCES 13 "permission denied";
    EFAULT 14 "bad address";
    ENOTBLK 15 "not a block device";
    EBUSY 16 "device busy";
    EEXIST 17 "already there";
    EXDEV 18 "on another filesystem";
    ENODEV 19 "no such device or filesystem type";
    ENOTDIR 20 "not a directory";
    EISDIR 21 "is a directory";
    EINVAL 22 "invalid argument";
    ENFILE 23 "too many open files in the system";
    EMFILE 24 "too many open files";
    ENOTTY 25 "not a terminal";
    ETXTBSY 26 "program file is being written";
    EFBIG 27 "file too large";
    ENOSPC 28 "no space left on device";
    ESPIPE 29 "not seekable";
    EROFS 30 "read-only filesystem";
    EMLINK 31 "too many links";
    EPIPE 32 "nobody reads";
    ERANGE 34 "out of range";
    ENAMETOOLONG 36 "name too long";
    ENOSYS 38 "not in this kernel";
    ENOTEMPTY 39 "directory not empty";
    ELOOP 40 "too many symbolic links";
    EOVERFLOW 75 "value too large";
    EILSEQ 84 "not UTF-8";
    EUSERS 87 "too many users";
    EOPNOTSUPP 95 "not supported";
    EADDRINUSE 98 "address in use";
    ENETDOWN 100 "network is down";
    ECONNREFUSED 111 "connection refused";
    ETIMEDOUT 110 "timed out";
    EALREADY 114 "already under way";
    ESTALE 116 "stale file handle";
    EUCLEAN 117 "the filesystem needs repair";
    ENOMEDIUM 123 "no medium";
    EMEDIUMTYPE 124 "something else is there";
    ENOKEY 126 "no key";
}

impl Errno {
    /// The reason with this number, as a system call returns it (positive).
    pub const fn from_number(number: u16) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// What a person reads; none for a number that is not in the table.
    pub fn words(self) -> Option<&'static str> {
        self.entry().map(|(_, _, words)| *words)
    }

    /// The name of `errno(3)`; none for a number that is not in the table.
    pub fn name(self) -> Option<&'static str> {
        self.entry().map(|(_, name, _)| *name)
    }

    fn entry(self) -> Option<&'static (u16, &'static str, &'static str)> {
        TABLE.iter().find(|(number, _, _)| *number == self.0)
    }

    /// Whether it says that a path leads nowhere.
    pub const fn is_not_found(self) -> bool {
        matches!(self, Self::ENOENT | Self::ENOTDIR)
    }
}

impl core::fmt::Display for Errno {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.words() {
            Some(words) => out.write_str(words),
            None => write!(out, "errno {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_c_librarys() {
        for (errno, number) in [
            (Errno::ENOENT, libc::ENOENT),
            (Errno::EBUSY, libc::EBUSY),
            (Errno::ENAMETOOLONG, libc::ENAMETOOLONG),
            (Errno::EOPNOTSUPP, libc::EOPNOTSUPP),
            (Errno::ETIMEDOUT, libc::ETIMEDOUT),
            (Errno::EUCLEAN, libc::EUCLEAN),
            (Errno::ENOMEDIUM, libc::ENOMEDIUM),
            (Errno::EMEDIUMTYPE, libc::EMEDIUMTYPE),
            (Errno::EADDRINUSE, libc::EADDRINUSE),
        ] {
            assert_eq!(i32::from(errno.number()), number, "{errno}");
        }
    }

    #[test]
    fn an_unknown_number_is_still_said() {
        assert_eq!(Errno::from_number(4_000).to_string(), "errno 4000");
    }
}
