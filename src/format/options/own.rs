//! host-init's own options: what they are called, and what the help says of them.

use core::ffi::CStr;

use super::{Error, Flag, Wish, entry_of, flag, valued};

macro_rules! options {
    ($($letter:tt $name:literal $value:literal $wish:ident $words:literal;)*) => {
        /// Each option.
        pub(super) const FLAGS: [Flag; [$($name),*].len()] =
            [$(one(options!(@short $letter), $name, $value, Wish::$wish)),*];

        /// What the help says.
        pub(super) const HELP: &str = concat!(
            options!(@head),
            $("  ", options!(@help $letter), "--", $name, $value, "\n          ", $words, "\n"),*
        );
    };
    (@head) => {
        "\
host-init: the first process of a minimal image

  host-init [OPTIONS] [--] COMMAND [ARGUMENTS]
          run a command, forward signals to it, end as it ends
  host-init [--config FILE]
          as PID 1 of a container: supervise the host of a config
  host-init check FILE...
          say what is wrong with configs; exit 0 or 2
  host-init confirm
          tell PID 1 that the host is healthy
  host-init clear
          have PID 1 forget the host's failures, and start it when it is halted
  host-init restart
          have PID 1 end the host and start what is current then
  host-init switch [--config FILE] VERSION
          make this version of the host current, and restart it
  halt, poweroff, reboot
          links to it: ask PID 1 for that

As PID 1 of a machine (init=, /init) it boots, supervises the host of its
config, and ends as asked.

Options for a command, which HOST_INIT_KILL_AFTER=5s and the like set as well:

"
    };
    (@short _) => { None };
    (@short $letter:literal) => { Some($letter) };
    (@help _) => { "    " };
    (@help $letter:literal) => { concat!("-", $letter, ", ") };
}

const fn one(short: Option<char>, long: &'static str, value: &str, wish: Wish) -> Flag {
    if value.is_empty() {
        flag(short, Some(long), wish)
    } else {
        valued(short, Some(long), wish)
    }
}

options! {
    'g' "group" "" Group "forward signals to the command's process group";
    'j' "job" " KIND" Job "session, group or none: what the command gets of its own";
    _ "stop-signal" " SIGNAL" StopSignal "what the command gets instead of TERM";
    'k' "kill-after" " TIME" KillAfter "KILL this long after the first signal that asks for an end";
    _ "wait" "" Wait "when the command has ended, stop all others and wait for them";
    'r' "rewrite" " A:B" Rewrite "forward signal A as B; 0 drops it";
    'e' "remap-exit" " A[:B]" RemapExit "make exit code A B, or 0";
    'p' "parent-death" " SIGNAL" ParentDeath "what is forwarded when host-init's parent ends";
    's' "subreaper" "" Subreaper "adopt orphans, or do not start";
    'u' "user" " USER[:GROUP]" User "who the command runs as";
    'C' "directory" " DIR" Directory "where the command runs";
    'E' "env" " NAME=VALUE" Env "a variable for the command";
    _ "unset-env" " NAME" UnsetEnv "a variable that the command does not get";
    'w' "warn-reaped" "" WarnReaped "say the pid of each orphan that was reaped";
    'v' "verbose" "" Verbose "say more; twice, also each signal that is sent";
    'q' "quiet" "" Quiet "say only what is fatal";
    _ "config" " FILE" Config "no command: supervise the host of this config, an absolute path";
    'h' "help" "" HELP "this";
    'V' "version" "" VERSION "the version";
}

/// What the names of variables that are options begin with.
pub(super) const PREFIX: &[u8] = b"HOST_INIT_";

/// Hands each option that a variable sets to `each`: `HOST_INIT_KILL_AFTER=5s` is
/// `--kill-after 5s`. An option without a value is set by anything but nothing, `0`,
/// `no` and `false`.
pub(super) fn variables<'a>(
    environment: impl Iterator<Item = &'a CStr>,
    mut each: impl FnMut(Flag, &'a CStr) -> Result<(), Error<'a>>,
) -> Result<(), Error<'a>> {
    for entry in environment {
        let Some((name, value)) = entry_of(entry) else {
            continue;
        };
        let Some(name) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let Some(flag) = FLAGS.iter().find(|flag| is_variable(flag, name)) else {
            continue;
        };
        let is_off = matches!(value.to_bytes(), b"" | b"0" | b"no" | b"false");
        if flag.takes_value || !is_off {
            each(*flag, value)?;
        }
    }
    Ok(())
}

/// Whether a variable, without its prefix, stands for an option.
/// `HOST_INIT_CONFIG` is none: it says what there is to do when there is no command.
fn is_variable(flag: &Flag, name: &[u8]) -> bool {
    let long = flag.long.unwrap_or_default();
    let is_setting = !matches!(
        flag.wish,
        Wish::Env | Wish::UnsetEnv | Wish::Config | Wish::Print(_)
    );
    is_setting
        && long.len() == name.len()
        && long.bytes().zip(name).all(|(letter, byte)| match letter {
            b'-' => *byte == b'_',
            letter => *byte == letter.to_ascii_uppercase(),
        })
}
