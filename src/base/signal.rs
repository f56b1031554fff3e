//! Signals by number and name: the one table, and the names people write.
//!
//! Numbers are those of x86-64 and aarch64, which agree (`signal(7)`). The
//! first real-time signal is 34 for every sender that matters (glibc, Docker);
//! musl says 35 and the kernel 32, so the number is written down here.

/// A signal that can be sent: 1 to 31, or 34 to 64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Signal(u8);

/// The number of `RTMIN`.
pub const RTMIN: u8 = 34;

/// The number of `RTMAX`.
pub const RTMAX: u8 = 64;

macro_rules! signals {
    ($($name:ident $number:literal $meaning:literal;)*) => {
        impl Signal {
            $(#[doc = $meaning] pub const $name: Self = Self($number);)*
        }

        /// Each classic signal with its name, without the `SIG`.
        pub const NAMES: [(&str, Signal); 31] = [$((stringify!($name), Signal::$name)),*];
    };
}

signals! {
    HUP 1 "The terminal is gone; by convention: read the config again.";
    INT 2 "A person pressed Ctrl-C, or Ctrl-Alt-Del on the machine.";
    QUIT 3 "A person pressed Ctrl-\\: end with a core dump.";
    ILL 4 "An illegal instruction.";
    TRAP 5 "A breakpoint.";
    ABRT 6 "The program gave up by `abort(3)`.";
    BUS 7 "An address that no memory stands behind.";
    FPE 8 "A division by zero.";
    KILL 9 "End at once; can't be caught.";
    USR1 10 "Whatever the program says; to an init: halt.";
    SEGV 11 "An address that is not the program's.";
    USR2 12 "Whatever the program says; to an init: power off.";
    PIPE 13 "A write to a pipe that nobody reads.";
    ALRM 14 "A timer of `alarm(2)`.";
    TERM 15 "Please end.";
    STKFLT 16 "Unused.";
    CHLD 17 "A child ended, stopped or went on.";
    CONT 18 "Go on after a stop.";
    STOP 19 "Stop; can't be caught.";
    TSTP 20 "A person pressed Ctrl-Z.";
    TTIN 21 "A read from the terminal by a job in the background.";
    TTOU 22 "A write to the terminal by a job in the background.";
    URG 23 "Urgent data on a socket.";
    XCPU 24 "The limit of processor time is reached.";
    XFSZ 25 "The limit of file size is reached.";
    VTALRM 26 "A timer of processor time.";
    PROF 27 "A timer for profiling.";
    WINCH 28 "The terminal has a new size.";
    IO 29 "A descriptor is ready.";
    PWR 30 "The power fails; to a container's init: stop.";
    SYS 31 "A system call that a filter forbids.";
}

/// Names that are other words for a signal of [`NAMES`].
const ALIASES: [(&str, Signal); 3] = [
    ("IOT", Signal::ABRT),
    ("CLD", Signal::CHLD),
    ("POLL", Signal::IO),
];

impl Signal {
    /// The signal with this number, if there is one that can be sent.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1..=31 | RTMIN..=RTMAX => Some(Self(number)),
            _ => None,
        }
    }

    /// `RTMIN+n`, for n up to 30.
    pub const fn realtime(n: u8) -> Option<Self> {
        Self::from_number(RTMIN.saturating_add(n))
    }

    /// The signal's number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The classic name without `SIG`; none for a real-time signal, which is
    /// called `RTMIN+n`.
    pub fn name(self) -> Option<&'static str> {
        NAMES
            .iter()
            .find(|(_, signal)| *signal == self)
            .map(|(name, _)| *name)
    }

    /// The signal that a person means: `TERM`, `SIGTERM`, `RTMIN+3`,
    /// `SIGRTMAX-1`, `37`. Case matters, as in `kill(1)` of a shell.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            return Self::from_number(text.parse().ok()?);
        }
        let name = text.strip_prefix("SIG").unwrap_or(text);
        if let Some(rest) = name.strip_prefix("RTMIN") {
            return Self::from_number(RTMIN.checked_add(offset(rest, '+')?)?).filter(is_realtime);
        }
        if let Some(rest) = name.strip_prefix("RTMAX") {
            return Self::from_number(RTMAX.checked_sub(offset(rest, '-')?)?).filter(is_realtime);
        }
        NAMES
            .iter()
            .chain(&ALIASES)
            .find(|(known, _)| *known == name)
            .map(|(_, signal)| *signal)
    }
}

/// The number behind `RTMIN` or `RTMAX`: nothing, or the sign and digits.
fn offset(rest: &str, sign: char) -> Option<u8> {
    if rest.is_empty() {
        return Some(0);
    }
    let digits = rest.strip_prefix(sign)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn is_realtime(signal: &Signal) -> bool {
    signal.0 >= RTMIN
}

impl core::fmt::Display for Signal {
    /// `TERM`, `RTMIN+3`: the name that [`Signal::parse`] reads back.
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.name() {
            Some(name) => out.write_str(name),
            None => write!(out, "RTMIN+{}", self.0.saturating_sub(RTMIN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_numbers() {
        for (index, (_, signal)) in NAMES.iter().enumerate() {
            assert_eq!(usize::from(signal.number()), index.saturating_add(1));
        }
    }

    #[test]
    fn every_name_is_read_back() {
        for number in 0..=u8::MAX {
            let Some(signal) = Signal::from_number(number) else {
                assert!(matches!(number, 0 | 32 | 33 | 65..), "{number}");
                continue;
            };

            let name = signal.to_string();

            assert_eq!(Signal::parse(&name), Some(signal), "{name}");
            assert_eq!(Signal::parse(&format!("SIG{name}")), Some(signal), "{name}");
            assert_eq!(Signal::parse(&number.to_string()), Some(signal), "{number}");
        }
    }

    #[test]
    fn the_real_time_names_count_from_34() {
        assert_eq!(Signal::parse("RTMIN+3").map(Signal::number), Some(37));
        assert_eq!(Signal::parse("SIGRTMAX-14").map(Signal::number), Some(50));
        assert_eq!(Signal::parse("RTMAX").map(Signal::number), Some(64));
    }

    #[test]
    fn what_is_not_a_signal_is_refused() {
        for text in [
            "", "SIG", "0", "32", "33", "65", "300", "term", "TERM ", "RTMIN-1", "RTMIN+31",
            "RTMIN+", "RTMAX-31", "RTMIN++1", "+15", "-15",
        ] {
            assert_eq!(Signal::parse(text), None, "{text:?}");
        }
    }
}
