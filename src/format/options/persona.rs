//! The names that host-init answers to, and what differs between them: one table.
//!
//! The peers' contracts are tini 0.19, dumb-init 1.2.5 and catatonit 0.1.7: flags,
//! streams, exit codes, whom signals are for. Where a peer loses a signal or hurts
//! itself, host-init does not.

use super::own::{FLAGS, HELP as OWN_HELP, PREFIX};
use super::{Flag, Options, Subreaper, Wish, flag, valued};
use crate::base::errno::Errno;
use crate::base::exit::{Failure, Step};
use crate::base::job::Job;
use crate::base::signal::Signal;
use crate::policy::entrypoint::{Others, Target};

/// One name's contract.
#[derive(Debug)]
pub struct Persona {
    /// How it speaks.
    pub voice: Voice,
    /// What the program is called for it.
    names: &'static [&'static str],
    flags: &'static [Flag],
    /// Whether a long name may be cut short.
    has_abbreviations: bool,
    /// Whether `--version` counts only alone.
    pub prints_version_alone: bool,
    /// Variables that are options too, and stronger.
    pub variables: &'static [Variable],
    /// What `--version` prints.
    pub version: &'static str,
    /// What the help says.
    pub help: &'static str,
    /// Where the version and the help go.
    pub prints_to: Streams,
    /// What is said of a bad command line, behind what is wrong.
    pub usage: &'static str,
    /// The exit codes of what went wrong.
    pub codes: Failures,
    /// The session and process group of the command; none to find out.
    pub job: Option<Job>,
    /// How much is said when nobody asks for more.
    pub verbosity: u8,
    /// Whether orphans are adopted.
    pub subreaper: Subreaper,
    /// Signals that are taken and not forwarded.
    dropped: &'static [Signal],
}

/// How messages look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Voice {
    /// `host-init: …`, on standard error.
    Own,
    /// `[WARN  tini (7)] …`; what is not a warning on standard output.
    Tini,
    /// `[dumb-init] …`, on standard error.
    DumbInit,
    /// `ERROR (catatonit:7): …`, on standard error.
    Catatonit,
}

/// A variable of the environment.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub when: When,
    /// What it asks for.
    pub wish: Wish,
}

/// When a variable counts.
#[derive(Debug)]
pub enum When {
    /// When it is set, to nothing even.
    Set,
    /// When it is exactly this.
    Is(&'static str),
}

/// Standard output or error, 1 or 2.
#[derive(Debug)]
pub struct Streams {
    /// For the version and the licence.
    pub version: i32,
    /// For the help.
    pub help: i32,
}

/// Exit codes of what went wrong before there was a command.
#[derive(Debug)]
pub struct Failures {
    /// The command is not there.
    pub not_found: u8,
    /// It was looked for, and the last place to look was no directory.
    pub no_directory: u8,
    /// It is there, and may not be run.
    pub refused: u8,
    /// It can't be run for another reason.
    pub other: u8,
    /// Everything else.
    pub own: u8,
}

const fn letter(short: char, wish: Wish) -> Flag {
    flag(Some(short), None, wish)
}

const fn valued_letter(short: char, wish: Wish) -> Flag {
    valued(Some(short), None, wish)
}

const fn variable(name: &'static str, when: When, wish: Wish) -> Variable {
    Variable { name, when, wish }
}

/// host-init by any name that is no other's.
pub static OWN: Persona = Persona {
    voice: Voice::Own,
    names: &[],
    flags: &FLAGS,
    has_abbreviations: false,
    prints_version_alone: false,
    variables: &[],
    version: concat!("host-init ", env!("CARGO_PKG_VERSION")),
    help: OWN_HELP,
    prints_to: Streams {
        version: 1,
        help: 1,
    },
    usage: "; host-init --help lists the options",
    codes: Failures {
        not_found: 127,
        no_directory: 127,
        refused: 126,
        other: 126,
        own: 254,
    },
    job: None,
    verbosity: 1,
    subreaper: Subreaper::Tried,
    dropped: &[],
};

const TINI_USAGE: &str = "\
Usage: tini [OPTIONS] PROGRAM -- [ARGS] | --version

  --version   the version, as the only argument
  -h          this
  -s          adopt orphans without being PID 1 (TINI_SUBREAPER)
  -p SIGNAL   a signal when the parent ends, such as SIGKILL
  -v          say more; up to three times (TINI_VERBOSITY)
  -w          a warning for each orphan that is reaped
  -g          signals go to the process group (TINI_KILL_PROCESS_GROUP)
  -e CODE     exit code CODE becomes 0
  -l          the licence
";

static TINI: Persona = Persona {
    voice: Voice::Tini,
    names: &["tini", "tini-static", "docker-init"],
    flags: &[
        letter('h', Wish::HELP),
        letter('l', Wish::LICENSE),
        letter('s', Wish::Subreaper),
        valued_letter('p', Wish::ParentDeath),
        letter('v', Wish::Verbose),
        letter('w', Wish::WarnReaped),
        letter('g', Wish::Group),
        valued_letter('e', Wish::RemapExit),
    ],
    has_abbreviations: false,
    prints_version_alone: true,
    variables: &[
        variable("TINI_SUBREAPER", When::Set, Wish::Subreaper),
        variable("TINI_KILL_PROCESS_GROUP", When::Set, Wish::Group),
        variable("TINI_VERBOSITY", When::Set, Wish::Verbosity),
    ],
    version: "tini version 0.19.0",
    help: TINI_USAGE,
    prints_to: Streams {
        version: 1,
        help: 1,
    },
    usage: TINI_USAGE,
    codes: Failures {
        not_found: 127,
        no_directory: 1,
        refused: 126,
        other: 1,
        own: 1,
    },
    job: Some(Job::Group),
    verbosity: 1,
    subreaper: Subreaper::No,
    dropped: &[Signal::TTIN, Signal::TTOU],
};

static DUMB_INIT: Persona = Persona {
    voice: Voice::DumbInit,
    names: &["dumb-init"],
    flags: &[
        flag(Some('c'), Some("single-child"), Wish::Single),
        valued(Some('r'), Some("rewrite"), Wish::Rewrite),
        flag(Some('v'), Some("verbose"), Wish::Verbose),
        flag(Some('h'), Some("help"), Wish::HELP),
        flag(Some('V'), Some("version"), Wish::VERSION),
    ],
    has_abbreviations: true,
    prints_version_alone: false,
    variables: &[
        variable("DUMB_INIT_DEBUG", When::Is("1"), Wish::Verbose),
        variable("DUMB_INIT_SETSID", When::Is("0"), Wish::Single),
    ],
    version: "dumb-init v1.2.5",
    help: "\
dumb-init v1.2.5
Usage: dumb-init [option] command [[arg] ...]

   -c, --single-child   no session; signals go to the command alone
   -r, --rewrite s:r    forward signal s as r, by numbers; 0 drops it
   -v, --verbose        say on standard error what happens
   -h, --help           this
   -V, --version        the version
",
    prints_to: Streams {
        version: 2,
        help: 2,
    },
    usage: "Usage: dumb-init [option] program [args]\nTry dumb-init --help for full usage.\n",
    codes: Failures {
        not_found: 2,
        no_directory: 2,
        refused: 2,
        other: 2,
        own: 1,
    },
    job: Some(Job::Session),
    verbosity: 1,
    subreaper: Subreaper::Silent,
    dropped: &[],
};

const CATATONIT_USAGE: &str = "usage: catatonit [-ghLPV] [--] <progname> [<arguments>...]\n";

static CATATONIT: Persona = Persona {
    voice: Voice::Catatonit,
    names: &["catatonit", "podman-init"],
    flags: &[
        letter('g', Wish::Group),
        letter('h', Wish::HELP),
        letter('L', Wish::LICENSE),
        letter('P', Wish::Pause),
        flag(Some('V'), Some("version"), Wish::VERSION),
    ],
    has_abbreviations: true,
    prints_version_alone: false,
    variables: &[
        variable("CATATONIT_DEBUG", When::Set, Wish::Verbose),
        variable("CATATONIT_LOG", When::Set, Wish::Reserved),
    ],
    version: "tini version 0.1.7_catatonit",
    help: "\
usage: catatonit [-ghLPV] [--] <progname> [<arguments>...]

options:
  -g              signals go to the process group
  -h              this
  -L              the licence
  -P              run nothing, and end at TERM or INT
  -V, --version   the version
",
    prints_to: Streams {
        version: 1,
        help: 2,
    },
    usage: CATATONIT_USAGE,
    codes: Failures {
        not_found: 1,
        no_directory: 1,
        refused: 1,
        other: 1,
        own: 1,
    },
    job: Some(Job::Group),
    verbosity: 1,
    subreaper: Subreaper::Needed,
    dropped: &[Signal::TSTP, Signal::TTIN, Signal::TTOU],
};

/// The persona for the name that the program was started by, a path or not.
pub fn by_name(own: &[u8]) -> &'static Persona {
    let name = own.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    [&TINI, &DUMB_INIT, &CATATONIT]
        .into_iter()
        .find(|persona| persona.names.iter().any(|known| known.as_bytes() == name))
        .unwrap_or(&OWN)
}

impl Failures {
    /// The code for a command that never was, and that was looked for or not.
    pub const fn of(&self, failure: Failure, was_sought: bool) -> u8 {
        match (failure.step, failure.errno) {
            (Step::Exec, Errno::ENOENT) => self.not_found,
            (Step::Exec, Errno::ENOTDIR) if was_sought => self.no_directory,
            (Step::Exec, Errno::EACCES) => self.refused,
            (Step::Exec, _) => self.other,
            _ => self.own,
        }
    }
}

impl Persona {
    /// Whether this is host-init itself.
    pub fn is_own(&self) -> bool {
        self.voice == Voice::Own
    }

    /// What the names of all variables that are options begin with.
    pub const fn variables_begin(&self) -> &'static [u8] {
        match self.voice {
            Voice::Own => PREFIX,
            Voice::Tini => b"TINI_",
            Voice::DumbInit => b"DUMB_INIT_",
            Voice::Catatonit => b"CATATONIT_",
        }
    }

    /// Whether any option has a long name.
    pub(super) fn has_long_names(&self) -> bool {
        self.flags.iter().any(|flag| flag.long.is_some())
    }

    /// The option of this letter.
    pub(super) fn short(&self, letter: u8) -> Option<Flag> {
        let mut flags = self.flags.iter();
        flags
            .find(|flag| flag.short == Some(char::from(letter)))
            .copied()
    }

    /// The option of this name and the name as it is.
    pub(super) fn long(&self, name: &[u8]) -> Option<(Flag, &'static str)> {
        let named = |flag: &Flag| flag.long.map(|long| (*flag, long));
        let exact = self.flags.iter().filter_map(named);
        let exact = exact.into_iter().find(|(_, long)| long.as_bytes() == name);
        if exact.is_some() || !self.has_abbreviations || name.is_empty() {
            return exact;
        }
        let mut begun = self
            .flags
            .iter()
            .filter_map(named)
            .filter(|(_, long)| long.as_bytes().starts_with(name));
        match (begun.next(), begun.next()) {
            (Some(only), None) => Some(only),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }

    /// What follows from all options together.
    pub(super) fn finish(&self, options: &mut Options<'_>) {
        let rules = &mut options.rules;
        rules.dropped = self.dropped;
        if let Some(signal) = rules.stop_signal
            && !rules.rewrites.has(Signal::TERM)
        {
            rules.rewrites.set(Signal::TERM, Some(signal));
        }
        // These two say all or nothing.
        let is_brief = matches!(self.voice, Voice::DumbInit | Voice::Catatonit);
        if is_brief && options.verbosity > self.verbosity {
            options.verbosity = 3;
        }
        if self.voice == Voice::DumbInit {
            rules.stops_itself = true;
            rules.others = Others::Told;
            if options.job == Some(Job::Session) {
                rules.target = Target::Group;
                // In a session of its own a command would not be stopped by these.
                for signal in [Signal::TSTP, Signal::TTIN, Signal::TTOU] {
                    if !rules.rewrites.has(signal) {
                        rules.rewrites.set(signal, Some(Signal::STOP));
                    }
                }
            }
        }
    }
}
