//! How a process ended: what the kernel says, without loss.

use crate::base::errno::Errno;
use crate::base::signal::Signal;

/// How a process ended. `exit(143)` and death by TERM are different values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It called `_exit(2)` with this code.
    Code(u8),
    /// This signal ended it; `dumped` when it left a core dump.
    Signal {
        /// The signal.
        signal: Signal,
        /// Whether the kernel wrote a core dump.
        dumped: bool,
    },
    /// It never became the program: this step between clone and exec failed.
    Unstarted(Failure),
    /// The kernel released it before anybody asked how it ended. Only possible
    /// when something else reaps host-init's children.
    Unknown,
}

/// What failed between the clone and the program's first instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The step that failed.
    pub step: Step,
    /// The kernel's reason.
    pub errno: Errno,
}

macro_rules! steps {
    ($($name:ident $number:literal $code:literal $word:literal $meaning:literal;)*) => {
        /// The steps of a child before its program, in the order they are taken.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Step {
            $(#[doc = $meaning] $name = $number,)*
        }

        impl Step {
            /// The step with this number, as the child wrote it.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// The number a child writes; never 0.
            pub const fn number(self) -> u8 {
                match self {
                    $(Self::$name => $number,)*
                }
            }

            /// The word of `systemd.exec(5)` for the step, in lower case.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// The exit code of `systemd.exec(5)` for the step.
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

steps! {
    Clone 1 219 "clone" "Making the process, in its control group.";
    Cgroup 2 219 "cgroup" "Moving it into its control group.";
    Session 3 220 "setsid" "A session of its own.";
    Stdin 4 208 "stdio" "Opening its standard descriptors.";
    Terminal 5 208 "terminal" "Making the console its controlling terminal.";
    Ready 12 202 "fds" "Its descriptor to be ready by.";
    Limits 6 205 "limits" "Its limit of open files.";
    Group 7 216 "group" "Its group and supplementary groups.";
    User 8 217 "user" "Its user.";
    Directory 9 200 "chdir" "Changing to its working directory.";
    SignalMask 10 207 "signal-mask" "Its signal mask and dispositions.";
    Exec 11 203 "exec" "Becoming the program.";
}

impl Exit {
    /// The number a shell would give: the code, or 128 and the signal's number;
    /// 127 for a program that is not there, 126 for one that can't be run.
    pub const fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal { signal, .. } => signal.number().saturating_add(128),
            Self::Unstarted(failure) => match failure.step {
                Step::Exec if failure.errno.is_not_found() => 127,
                Step::Exec => 126,
                Step::Clone
                | Step::Cgroup
                | Step::Session
                | Step::Stdin
                | Step::Terminal
                | Step::Ready
                | Step::Limits
                | Step::Group
                | Step::User
                | Step::Directory
                | Step::SignalMask => failure.step.code(),
            },
            Self::Unknown => 255,
        }
    }

    /// Whether the program ended because it was done: exit code 0.
    pub const fn is_clean(self) -> bool {
        matches!(self, Self::Code(0))
    }

    /// The exit behind a wait status as `wait4(2)` and `PIDFD_GET_INFO` give
    /// it; none for a status that says the process goes on.
    pub fn from_wait_status(status: u32) -> Option<Self> {
        let [low, high, _, _] = status.to_le_bytes();
        match low & 0x7f {
            0 => Some(Self::Code(high)),
            0x7f => None,
            number => Some(Self::Signal {
                signal: Signal::from_number(number)?,
                dumped: low & 0x80 != 0,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_status_is_read_as_the_c_library_reads_it() {
        for status in 0..=0xffff_u32 {
            let raw = i32::try_from(status).unwrap();

            let exit = Exit::from_wait_status(status);

            if libc::WIFEXITED(raw) {
                let code = u8::try_from(libc::WEXITSTATUS(raw)).unwrap();
                assert_eq!(exit, Some(Exit::Code(code)));
            } else if libc::WIFSIGNALED(raw) {
                let number = u8::try_from(libc::WTERMSIG(raw)).unwrap();
                let expected = Signal::from_number(number).map(|signal| Exit::Signal {
                    signal,
                    dumped: libc::WCOREDUMP(raw),
                });
                assert_eq!(exit, expected);
            } else {
                assert_eq!(exit, None, "{status:#x}");
            }
        }
    }

    #[test]
    fn an_exit_code_and_a_signal_stay_apart() {
        let code = Exit::Code(143);
        let signal = Exit::Signal {
            signal: Signal::TERM,
            dumped: false,
        };

        assert_ne!(code, signal);
        assert_eq!(code.shell_code(), signal.shell_code());
    }

    #[test]
    fn every_step_is_read_back_and_has_a_code_of_its_own_kind() {
        for number in 0..=u8::MAX {
            if let Some(step) = Step::from_number(number) {
                assert_eq!(step.number(), number);
                assert!((200..=245).contains(&step.code()), "{step:?}");
            }
        }
    }
}
