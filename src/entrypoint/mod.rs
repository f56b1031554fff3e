//! The entrypoint: runs one command, forwards signals to it, and ends as it ends.
//!
//! [`main`] reads the command line, starts the command and lives with it; PID 1 or
//! not. The rules are [`policy::entrypoint`](crate::policy::entrypoint)'s, the
//! options and the names that host-init answers to are
//! [`format::options`](crate::format::options)'s.
//!
//! - [`life`]: from the start of the command to its end: what happens, as events,
//!   and what to do;
//! - [`environment`], [`user`]: what the command gets, and who it is;
//! - [`terminal`]: how the terminal comes to be the command's;
//! - [`voice`]: messages, each persona's way.

#![forbid(unsafe_code)]

pub mod environment;
pub mod life;
pub mod terminal;
pub mod user;
pub mod voice;

use core::ffi::CStr;

use crate::entrypoint::environment::Changes;
use crate::entrypoint::life::Life;
use crate::entrypoint::voice::Speaker;
use crate::format::options::persona::Persona;
use crate::format::options::{Options, Print, Subreaper};
use crate::policy::entrypoint::{Entrypoint, OnStop};
use crate::sys::arguments::Arguments;
use crate::sys::signals::Children;
use crate::sys::spawn::{Command, Slots, launch};
use crate::sys::{files, process, signals, task};

/// What an entrypoint is started with.
pub struct Given {
    /// The command line and the environment.
    pub arguments: Arguments,
    /// The name that it was started by.
    pub persona: &'static Persona,
    /// The signal mask that it was started with; every signal is blocked since.
    pub mask: u64,
    /// Where the command is started.
    pub slots: Slots,
    /// Its pid, in its namespace.
    pub pid: u32,
}

/// Where a command is looked for without a `PATH`.
const PATH: &CStr = c"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Lives as an entrypoint. Returns only when there is no command though this is PID
/// 1 by its own name: a config then says what there is to do, this one or the usual.
pub fn main(given: Given) -> (Slots, Option<&'static CStr>) {
    let Given {
        arguments,
        persona,
        mask,
        slots,
        pid,
    } = given;
    let is_init = pid == process::INIT;
    let variables = arguments.entries_with(persona.variables_begin());
    let options = Options::parse(persona, arguments.words(), variables);
    let options = match options {
        Ok(options) => options,
        Err(error) => {
            let own = arguments.words().next().unwrap_or_default();
            voice::refuse(persona, own, &error);
            task::exit(persona.codes.own)
        }
    };
    if let Some(print) = options.print {
        // A person may give up on it.
        let _ = signals::set_mask(mask);
        task::exit(print_out(persona, print));
    }
    let speaker = Speaker::new(persona, options.verbosity, options.warns_of_reaped);
    if options.pauses {
        life::pause();
    }
    let Some(words) = arguments.rest(options.command) else {
        if persona.is_own() && is_init && !options.is_for_command {
            return (slots, options.config);
        }
        speaker.no_command(is_init);
        task::exit(persona.codes.own)
    };

    prepare(&options, &speaker, is_init);
    let ignores_children = speaker.need("wait for children", signals::set_children(Children::Stay));
    let place = terminal::hand_over(options.job, pid, &speaker);
    let identity = options.user.map(|user| user::find(user, &speaker));
    let home = identity.as_ref().and_then(|identity| identity.home);
    let changes = Changes::new(arguments, persona, &options);
    let changes = speaker.need("change the environment", changes);
    let environment = environment::of(arguments, changes.as_ref(), home);
    let environment = speaker.need("make the environment", environment);
    let path = environment::path(arguments, changes.as_ref()).unwrap_or(PATH);
    drop(changes);
    let launched = launch(
        slots,
        &Command {
            words,
            path,
            environment,
            directory: options.directory,
            job: place.job,
            has_terminal: place.takes_terminal,
            identity: identity.map(|found| found.identity),
            mask,
            ignores_children,
        },
    );
    let launched = speaker.need("fork", launched);
    speaker.spawned(words.name(), launched.pid);
    let mut rules = options.rules;
    rules.shares_keys = place.shares_keys;
    rules.on_stop = place.on_stop;
    rules.key_stop = place.key_stop;
    let sees_each = options.warns_of_reaped || place.on_stop != OnStop::Ignore;
    Life::new(
        launched,
        Entrypoint::new(rules),
        speaker,
        is_init,
        words.name(),
        place,
    )
    .run(sees_each)
}

/// What host-init itself needs before there is a command.
fn prepare(options: &Options<'_>, speaker: &Speaker, is_init: bool) {
    if let Some(signal) = options.parent_death {
        speaker.need("ask for the parent's end", process::on_parent_death(signal));
    }
    if is_init {
        return;
    }
    match options.subreaper {
        Subreaper::Tried => {
            if let Err(errno) = process::adopt_orphans() {
                speaker.failed("adopt orphans", errno);
            }
        }
        Subreaper::Needed => speaker.need("adopt orphans", process::adopt_orphans()),
        Subreaper::No => speaker.adopts_nobody(),
        Subreaper::Silent => {}
    }
}

fn print_out(persona: &Persona, print: Print) -> u8 {
    let parts: &[&str] = match print {
        Print::Help => &[persona.help],
        Print::Version => &[persona.version, "\n"],
        Print::License => &["host-init: MIT OR Apache-2.0\n"],
    };
    let stream = match print {
        Print::Help => persona.prints_to.help,
        Print::Version | Print::License => persona.prints_to.version,
    };
    // A reader that is gone has read enough.
    let _ = parts
        .iter()
        .try_for_each(|part| files::print(stream, part.as_bytes()));
    0
}
