//! The first moments: a process that nothing can hurt, and where it is.

use crate::base::level::Level;
use crate::base::signal::Signal;
use crate::base::slot;
use crate::format::boot_record::BootRecord;
use crate::format::handover::{self, Handover};
use crate::pid1::emergency;
use crate::pid1::log::{Log, Part};
use crate::pid1::watch::Watch;
use crate::policy::settings::Role;
use crate::sys::arguments::Arguments;
use crate::sys::{self, Fd, Result, fault, kill, process, signals, stdio, task};

/// What there is before the boot.
pub struct Started {
    /// Where messages go.
    pub log: Log,
    /// The wait point.
    pub watch: Watch,
    /// The host of the life before, when this is a next one.
    pub adopted: Option<Adopted>,
}

/// A host that runs already.
pub struct Adopted {
    /// What the life before handed over.
    pub handover: Handover,
    /// The descriptor of the host's process.
    pub pidfd: Fd,
    /// What is kept of the host, if it is on trial.
    pub record: Option<BootRecord>,
    /// The socket at which it is heard, if it is.
    pub socket: Option<Fd>,
    /// The pipe at which it is to say that it is ready, if it is.
    pub reader: Option<Fd>,
}

/// Bytes that are handed over at the most: a handover, and what is kept of the host.
pub const HANDOVER_BYTES: usize = handover::BYTES + slot::BYTES;

/// Makes this process safe, whatever it was given; every signal is blocked already.
/// What it can't be without, it ends for ([`need`]): descriptors, and a page of
/// memory.
pub fn start(role: Role, arguments: Arguments) -> Started {
    let repaired = stdio::repair();
    let log = Log::new();
    need("open standard descriptors", repaired, &log);
    emergency::set_role(role);
    // None of these is worth the machine's life.
    let _ = process::leave_directory();
    let _ = process::forbid_core_dumps();
    process::set_umask(0o022);
    task::take_name();
    let adopted = adopt(arguments, &log);
    process::close_inherited(&[
        adopted.as_ref().map(|adopted| &adopted.pidfd),
        adopted.as_ref().and_then(|adopted| adopted.socket.as_ref()),
        adopted.as_ref().and_then(|adopted| adopted.reader.as_ref()),
    ]);
    signals::reset_dispositions();
    let _ = fault::catch(emergency::fault);
    let watch = need("wait for signals", Watch::new(), &log);
    Started {
        log,
        watch,
        adopted,
    }
}

/// The host of the life before, if there was one. When it can't be taken over,
/// nothing of that life may run beside the next host.
fn adopt(arguments: Arguments, log: &Log) -> Option<Adopted> {
    if !sys::handover::is_next_life(arguments) {
        return None;
    }
    let adopted = try_adopt(arguments);
    if adopted.is_none() {
        log.say(
            Level::Error,
            &[Part::Text(
                "re-executed, and nothing good was handed over: killing everything",
            )],
        );
        let _ = kill::all(Signal::KILL);
    }
    adopted
}

fn try_adopt(arguments: Arguments) -> Option<Adopted> {
    let mut buffer = [0; HANDOVER_BYTES];
    let bytes = sys::handover::take(arguments, &mut buffer)?;
    let (own, kept) = bytes.split_at_checked(handover::BYTES)?;
    let handover = Handover::from_bytes(own)?;
    let pidfd = sys::handover::adopt(handover.pidfd)?;
    let socket = handover.socket.and_then(sys::handover::adopt);
    let reader = handover.reader.and_then(sys::handover::adopt);
    Some(Adopted {
        handover,
        pidfd,
        record: BootRecord::from_bytes(kept),
        socket,
        reader,
    })
}

/// What host-init can't be without; else this is its end.
pub fn need<T>(what: &str, result: Result<T>, log: &Log) -> T {
    match result {
        Ok(value) => value,
        Err(errno) => {
            log.say(
                Level::Error,
                &[Part::Text(what), Part::Text(": "), Part::Reason(errno)],
            );
            task::exit(emergency::CODE)
        }
    }
}
