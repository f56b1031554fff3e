//! Every key of a config: the one table that the parser, its messages and
//! `docs/config.md` come from.
//!
//! A line says where the key is, what it takes, its default (or `required`),
//! what it means in one sentence, and a value as an example. The last three are
//! for the documentation and the tests; the program does not carry them.

use crate::base::level::LEVELS;
use crate::base::limits;
use crate::format::config::error::Path;
use crate::format::duration;
use crate::policy::config::{Asked, Output, Ready};
use crate::policy::trial::OnHalt;

/// A table of the config.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// What stands before the first header.
    Root,
    /// `[[mount]]`.
    Mount,
    /// `[[directory]]`.
    Directory,
    /// `[host]`.
    Host,
    /// `[host.environment]`, whose keys are the person's own.
    Environment,
    /// `[shutdown]`.
    Shutdown,
    /// `[signals]`.
    Signals,
}

/// What the parser knows of a key.
#[derive(Debug)]
pub struct Key {
    /// The table it is in.
    pub table: Table,
    /// Its name there.
    pub name: &'static str,
    /// What it takes, and where that goes.
    pub kind: Kind,
    /// Whether its table can't be without it.
    pub is_required: bool,
}

/// What a person reads of a key.
#[derive(Debug)]
pub struct Words {
    /// The value it has when it is not there, or `required`, or what happens.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// A value, in TOML.
    pub example: &'static str,
}

/// What a key takes. Where several keys take the same, the field says which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A table.
    Table(Table),
    /// An array of tables.
    Tables(Table),
    /// A name for the machine.
    Hostname,
    /// A string.
    Text(Text),
    /// A string that is not empty.
    Name(Text),
    /// An absolute path.
    Path(Text),
    /// An absolute path with a name at its end.
    Entry(Text),
    /// A duration.
    Duration(Time),
    /// A duration that is not zero.
    Timeout(Time),
    /// `true` or `false`.
    Need,
    /// Permission bits in octal, as a string.
    Mode,
    /// The number of a user or group.
    Id(Id),
    /// The name of a level.
    Level,
    /// The name of an output.
    Output,
    /// The name of a signal.
    StopSignal,
    /// What a signal asks for.
    Asked(Asking),
    /// A program and its arguments.
    Command(Program),
    /// How often something may fail.
    Limit,
    /// What follows when the host is halted.
    OnHalt,
    /// When the host is ready.
    Ready,
    /// What came before host-init.
    Compat,
}

/// The fields that hold a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the key of its name")]
pub enum Text {
    MountSource,
    MountTarget,
    MountType,
    MountOptions,
    DirectoryPath,
    HostDirectory,
    HostRecord,
    HostCurrent,
}

/// The fields that hold a program and its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the key of its name")]
pub enum Program {
    Host,
    Rollback,
}

/// The fields that hold a duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the key of its name")]
pub enum Time {
    MountWait,
    StopGrace,
    Backoff,
    BackoffMax,
    BackoffReset,
    HealthyAfter,
    RollbackTimeout,
    ReadyTimeout,
    Watchdog,
    Unmount,
    Sync,
}

/// The fields that hold the number of a user or group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the key of its name")]
pub enum Id {
    User,
    Group,
}

/// The signals that a config can give a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the key of its name")]
pub enum Asking {
    Term,
    Int,
    Usr1,
    Usr2,
    Pwr,
    Hup,
}

macro_rules! keys {
    ($($table:ident $name:literal $kind:ident $(($of:expr))?, $default:literal, $meaning:literal, $example:literal;)*) => {
        /// Every key, in the order of the documentation.
        pub static KEYS: [Key; COUNT] = [$(Key {
            table: Table::$table,
            name: $name,
            kind: Kind::$kind $(($of))?,
            is_required: matches!($default.as_bytes(), b"required"),
        }),*];

        /// What a person reads of each of [`KEYS`], in the same order.
        pub const WORDS: [Words; COUNT] = [
            $(Words { default: $default, meaning: $meaning, example: $example }),*
        ];

        /// How many keys there are.
        pub const COUNT: usize = [$($name),*].len();
    };
}

keys! {
    Root "hostname" Hostname, "the kernel's",
        "The name of the machine.", "\"edge-7\"";
    Root "log-level" Level, "\"info\"",
        "The least that matters enough to be logged; `host_init.log=` on the kernel command line is stronger.", "\"debug\"";

    Root "mount" Tables(Table::Mount), "no mounts",
        "Filesystems to mount at boot, in this order.", "[]";
    Mount "source" Name(Text::MountSource), "required",
        "A device by its path, or whatever the filesystem calls its source.", "\"/dev/vda\"";
    Mount "target" Path(Text::MountTarget), "required",
        "Where to mount it; made when it is not there. No two mounts have the same.", "\"/var/lib\"";
    Mount "type" Name(Text::MountType), "required",
        "The filesystem type, as in `/proc/filesystems`.", "\"ext4\"";
    Mount "options" Text(Text::MountOptions), "\"\"",
        "Options with commas between them, as for `mount(8)`.", "\"noatime,nosuid,nodev\"";
    Mount "wait" Duration(Time::MountWait), "\"0s\"",
        "How long the device may take to appear.", "\"10s\"";
    Mount "required" Need, "true",
        "Whether the host can't be started without it; otherwise a failure is logged and the boot goes on.", "false";

    Root "directory" Tables(Table::Directory), "no directories",
        "Directories to make after the mounts, in this order.", "[]";
    Directory "path" Path(Text::DirectoryPath), "required",
        "The directory; missing parents are made with mode 0755.", "\"/var/lib/mesh-host\"";
    Directory "mode" Mode, "\"0755\"",
        "Its permissions in octal; set also on a directory that is there.", "\"0750\"";
    Directory "uid" Id(Id::User), "0",
        "The number of its owner.", "1000";
    Directory "gid" Id(Id::Group), "0",
        "The number of its group.", "1000";

    Root "host" Table(Table::Host), "no host",
        "The program that the image exists for.", "{ command = [\"/bin/true\"] }";
    Host "command" Command(Program::Host), "required",
        "The program by an absolute path, then its arguments.", "[\"/usr/bin/mesh-host\", \"run\"]";
    Host "environment" Table(Table::Environment), "no entries",
        "Its environment, each entry `NAME = \"value\"`; added to the built-in entries, and stronger.", "{ RUST_LOG = \"info\" }";
    Host "directory" Path(Text::HostDirectory), "\"/\"",
        "Its working directory.", "\"/var/lib/mesh-host\"";
    Host "output" Output, "\"console\"",
        "Where its standard output and error go: `console`, `kmsg` (the kernel log) or `null` (nowhere).", "\"kmsg\"";
    Host "stop-signal" StopSignal, "\"TERM\"",
        "What asks it to end.", "\"INT\"";
    Host "stop-grace" Duration(Time::StopGrace), "\"10s\"",
        "How long it may take to end before it is killed.", "\"30s\"";
    Host "backoff" Duration(Time::Backoff), "\"1s\"",
        "The wait after the second failure in a row (the first costs none); it doubles with each.", "\"500ms\"";
    Host "backoff-max" Duration(Time::BackoffMax), "\"60s\"",
        "The most that the back-off grows to; not less than `backoff`.", "\"5min\"";
    Host "backoff-reset" Duration(Time::BackoffReset), "\"60s\"",
        "An uptime after which the back-off starts over.", "\"2min\"";
    Host "start-limit" Limit, "0",
        "Failures in a row after which it is taken back or halted, see [host.md](host.md); 0 for no limit, 1000 at most.", "3";
    Host "healthy-after" Timeout(Time::HealthyAfter), "\"60s\"",
        "An uptime after which it is healthy and its failures are forgotten; not zero. Needs `start-limit`.", "\"2min\"";
    Host "record" Entry(Text::HostRecord), "kept in memory",
        "Where its failures are kept over power cuts: a file (made when it is not there) or a partition of at least 8 KiB. Not the path of `current`. Needs `start-limit`.", "\"/var/lib/host-init/record\"";
    Host "current" Entry(Text::HostCurrent), "no versions",
        "The link to the version that runs, which is made to lead to the last healthy version when a new one fails. Needs `start-limit`.", "\"/var/lib/app/current\"";
    Host "rollback" Command(Program::Rollback), "no command",
        "A program that takes a new version back which fails, in place of the link; exit code 0 says that it did. Needs `start-limit`.", "[\"/usr/lib/app/rollback\"]";
    Host "rollback-timeout" Timeout(Time::RollbackTimeout), "\"5min\"",
        "How long that may take before it is killed; not zero. Needs `start-limit`.", "\"10min\"";
    Host "on-halt" OnHalt, "\"stay\"",
        "What follows when there is nothing left to try: `stay`, `reboot` (three times at most), `poweroff`, `exit` (of a container, with 253) or `shell` (on the console). Needs `start-limit`.", "\"reboot\"";
    Host "ready" Ready, "\"none\"",
        "When it is ready: `none` (as soon as it is started), `notify` (when it says so) or `fd:3` to `fd:9` (when it writes a newline to that descriptor), see [host.md](host.md#ready-and-watched).", "\"notify\"";
    Host "ready-timeout" Timeout(Time::ReadyTimeout), "\"90s\"",
        "How long it may take to be ready before it is ended, which is a failure; not zero. Needs a `ready` that is not `none`.", "\"20s\"";
    Host "watchdog" Duration(Time::Watchdog), "\"0s\"",
        "How often it must say that it is alive before it is ended, which is a failure; 0 for never.", "\"30s\"";

    Host "compat" Compat, "nothing",
        "What came before: `launcher`, a script whose variables fill what is left out here and whose files are read and kept, see [host.md](host.md#from-a-launcher-script).", "\"launcher\"";

    Root "shutdown" Table(Table::Shutdown), "its defaults",
        "How long the last steps of an ending may take before they are given up.", "{}";
    Shutdown "unmount" Timeout(Time::Unmount), "\"10s\"",
        "Swap off and unmounts; not zero.", "\"20s\"";
    Shutdown "sync" Timeout(Time::Sync), "\"30s\"",
        "Writing everything to the disks; not zero.", "\"1min\"";

    Root "signals" Table(Table::Signals), "its defaults",
        "What the classic signals ask for: `ignore`, `reload` (the config), `halt`, `poweroff`, `reboot` or `kexec`.", "{}";
    Signals "TERM" Asked(Asking::Term), "\"reboot\"",
        "The convention of busybox, whose `reboot` sends it.", "\"poweroff\"";
    Signals "INT" Asked(Asking::Int), "\"reboot\"",
        "Ctrl-Alt-Del.", "\"ignore\"";
    Signals "USR1" Asked(Asking::Usr1), "\"halt\"",
        "What busybox's `halt` sends.", "\"ignore\"";
    Signals "USR2" Asked(Asking::Usr2), "\"poweroff\"",
        "What busybox's `poweroff` sends.", "\"ignore\"";
    Signals "PWR" Asked(Asking::Pwr), "\"poweroff\"",
        "The power fails, or a container is to stop.", "\"halt\"";
    Signals "HUP" Asked(Asking::Hup), "\"reload\"",
        "By convention: read the config again.", "\"ignore\"";
}

/// The outputs by their names.
pub const OUTPUTS: [(&str, Output); 3] = [
    ("console", Output::Console),
    ("kmsg", Output::Kmsg),
    ("null", Output::Null),
];

/// What may follow a halt, by its name.
pub const ON_HALT: [(&str, OnHalt); 5] = [
    ("stay", OnHalt::Stay),
    ("reboot", OnHalt::Reboot),
    ("poweroff", OnHalt::PowerOff),
    ("exit", OnHalt::Exit),
    ("shell", OnHalt::Shell),
];

/// When the host is ready, by its name.
pub const READY: [(&str, Ready); 9] = [
    ("none", Ready::None),
    ("notify", Ready::Notify),
    ("fd:3", Ready::Descriptor(3)),
    ("fd:4", Ready::Descriptor(4)),
    ("fd:5", Ready::Descriptor(5)),
    ("fd:6", Ready::Descriptor(6)),
    ("fd:7", Ready::Descriptor(7)),
    ("fd:8", Ready::Descriptor(8)),
    ("fd:9", Ready::Descriptor(9)),
];

/// What may have come before, by its name. There is nothing to know of it but that.
pub const COMPAT: [(&str, ()); 1] = [("launcher", ())];

/// What a signal may ask for, by its name.
pub const ASKED: [(&str, Asked); 6] = [
    ("ignore", Asked::Ignore),
    ("reload", Asked::Reload),
    ("halt", Asked::Halt),
    ("poweroff", Asked::PowerOff),
    ("reboot", Asked::Reboot),
    ("kexec", Asked::Kexec),
];

/// The value that a name in a table stands for.
pub fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

impl Table {
    /// How it is written in a path; empty for the root.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "",
            Self::Mount => "mount",
            Self::Directory => "directory",
            Self::Host => "host",
            Self::Environment => "host.environment",
            Self::Shutdown => "shutdown",
            Self::Signals => "signals",
        }
    }
}

impl Key {
    /// The key by its whole path.
    pub const fn path(&self) -> Path<'static> {
        Path {
            table: self.table,
            index: None,
            name: self.name,
        }
    }
}

impl Kind {
    /// What the key takes, for a message.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Tables(_) => "an array of tables, written with [[ ]]",
            Self::Hostname => "a hostname of letters, digits, \"-\" and \".\", at most 64",
            Self::Text(_) => "a string",
            Self::Name(_) => "a string that is not empty",
            Self::Path(_) => "an absolute path without \"..\"",
            Self::Entry(_) => "an absolute path without \"..\", with a name at its end",
            Self::Duration(_) => duration::EXPECTED,
            Self::Timeout(_) => "a duration that is not zero, such as \"5s\" or \"1min 30s\"",
            Self::Need => "true or false",
            Self::Mode => "an octal mode as a string, such as \"0755\"",
            Self::Id(_) => "a whole number from 0 to 4294967294",
            Self::Level => "\"error\", \"warning\", \"notice\", \"info\" or \"debug\"",
            Self::Output => "\"console\", \"kmsg\" or \"null\"",
            Self::StopSignal => "the name of a signal but STOP, such as \"TERM\" or \"RTMIN+3\"",
            Self::Asked(_) => {
                "\"ignore\", \"reload\", \"halt\", \"poweroff\", \"reboot\" or \"kexec\""
            }
            Self::Command(_) => "an array of 1 to 64 strings, an absolute path first",
            Self::Limit => "a whole number from 0 to 1000",
            Self::OnHalt => "\"stay\", \"reboot\", \"poweroff\", \"exit\" or \"shell\"",
            Self::Ready => "\"none\", \"notify\" or one of \"fd:3\" to \"fd:9\"",
            Self::Compat => "\"launcher\"",
        }
    }

    /// What the documentation calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Table(_) => "table",
            Self::Tables(_) => "array of tables",
            Self::Hostname => "hostname",
            Self::Text(_) | Self::Name(_) => "string",
            Self::Path(_) | Self::Entry(_) => "absolute path",
            Self::Duration(_) | Self::Timeout(_) => "duration",
            Self::Need => "boolean",
            Self::Mode => "octal string",
            Self::Id(_) => "integer",
            Self::Level => "level",
            Self::Output => "output",
            Self::StopSignal => "signal name",
            Self::Asked(_) => "request",
            Self::Command(_) => "array of strings",
            Self::Limit => "integer",
            Self::OnHalt => "ending",
            Self::Ready => "readiness",
            Self::Compat => "predecessor",
        }
    }
}

// The messages name these numbers.
const _: () = assert!(limits::WORDS == 64 && limits::MOUNTS == 32 && limits::DIRECTORIES == 32);
const _: () = assert!(limits::CONFIG_BYTES == 65_536 && LEVELS.len() == 5);
