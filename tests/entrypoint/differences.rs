//! Where host-init is another than a peer, on purpose: one table.
//!
//! Each row is one of `docs/entrypoint.md`, and is held on both sides: what the
//! peer does, so that it is known when a peer is mended, and what host-init does.

use std::fs;
use std::time::Duration;

use crate::inheritance::{kept, of, report};
use crate::init::{Init, Seen};
use crate::lines::eventually;
use crate::peer::{Peer, Program, Side};
use crate::place::Place;
use crate::signals::recorded;
use crate::start::{Role, Start, Terminal};
use crate::streams::mute;
use crate::system::bit;
use crate::terminal::Session;
use crate::trial::trial;
use crate::words::listened;

/// A row.
struct Difference {
    /// What the document says that the peer does.
    row: &'static str,
    peer: Peer,
    observe: fn(&mut Place, &Program) -> String,
    theirs: &'static str,
    ours: &'static str,
}

const fn difference(
    row: &'static str,
    peer: Peer,
    observe: fn(&mut Place, &Program) -> String,
    theirs: &'static str,
    ours: &'static str,
) -> Difference {
    Difference {
        row,
        peer,
        observe,
        theirs,
        ours,
    }
}

const PERMUTED: &str = "take options behind the command unless `--` comes first (glibc)";
const CLOSED: &str = "exit code 1 when standard input is closed";
const TICKS: &str = "wakes every second";
const FAULTS: &str = "a fault's signal (`SEGV`, `ABRT` …) that somebody sends ends";
const MASK: &str = "the command loses the signal mask and the ignored signals";
const STOPS: &str = "the command starts with `TSTP`, `TTIN`, `TTOU` blocked";
const HANG_UPS: &str =
    "drops the first `HUP` and `CONT` after it gave up a terminal, real ones too";
const UNREAD: &str = "an unread standard error can hang or end them";
const STOPPED: &str = "a command that Ctrl-Z stops under PID 1 stays stopped";
const DIRECTORY: &str = "keep the directory they were started in";
const DESCRIPTORS: &str = "keep every descriptor that they were given";
const STOLEN: &str = "take the terminal from the shell that started them in the background";
const AUTOMATIC: &str = "wait for ever when they were started with `CHLD` ignored";

const SOCKETS: &str = "leave `LISTEN_PID` as it is, so that sockets are nobody's";

const DIFFERENCES: [Difference; 35] = [
    difference(SOCKETS, Peer::Tini, sockets_of_first, "1", "2"),
    difference(SOCKETS, Peer::DumbInit, sockets_of_first, "1", "2"),
    difference(PERMUTED, Peer::Tini, unknown_behind, "Code(1)", "Code(9)"),
    difference(
        PERMUTED,
        Peer::Catatonit,
        unknown_behind,
        "Code(1)",
        "Code(9)",
    ),
    difference(PERMUTED, Peer::Tini, help_behind, "Code(0)", "Code(9)"),
    difference(PERMUTED, Peer::Catatonit, help_behind, "Code(0)", "Code(9)"),
    difference(CLOSED, Peer::Tini, without_input, "Code(1)", "Code(7)"),
    difference(TICKS, Peer::Tini, wakes, "true", "false"),
    difference(FAULTS, Peer::Tini, fault, "Signal(11)", "passed on"),
    difference(FAULTS, Peer::Catatonit, fault, "Signal(11)", "passed on"),
    difference(FAULTS, Peer::Tini, abort, "Signal(6)", "passed on"),
    difference(FAULTS, Peer::Catatonit, abort, "Signal(6)", "passed on"),
    difference(FAULTS, Peer::Tini, fault_of_first, "nothing", "passed on"),
    difference(
        FAULTS,
        Peer::Catatonit,
        fault_of_first,
        "nothing",
        "passed on",
    ),
    difference(MASK, Peer::DumbInit, blocked, "0", "8000004000"),
    difference(MASK, Peer::DumbInit, ignored, "0", "3"),
    difference(STOPS, Peer::Catatonit, blocked, "8000384000", "8000004000"),
    difference(STOPS, Peer::Catatonit, blocked_by_nobody, "380000", "0"),
    difference(HANG_UPS, Peer::DumbInit, hang_ups, "1 18", "1 1 18 18"),
    difference(UNREAD, Peer::Tini, output_is_full, "hangs", "Code(7)"),
    difference(
        UNREAD,
        Peer::DumbInit,
        complaints_are_full,
        "hangs",
        "Code(7)",
    ),
    difference(
        UNREAD,
        Peer::Catatonit,
        complaints_are_full,
        "hangs",
        "Code(7)",
    ),
    difference(UNREAD, Peer::Tini, nobody_listens, "Code(141)", "Code(7)"),
    difference(UNREAD, Peer::DumbInit, nobody_listens, "spins", "Code(7)"),
    difference(
        UNREAD,
        Peer::Catatonit,
        nobody_listens,
        "Code(141)",
        "Code(7)",
    ),
    difference(
        STOPPED,
        Peer::Tini,
        stopped_by_key,
        "stays stopped",
        "continued",
    ),
    difference(
        STOPPED,
        Peer::Catatonit,
        stopped_by_key,
        "stays stopped",
        "continued",
    ),
    difference(DIRECTORY, Peer::Tini, kept, "here [50, 255]", "/ []"),
    difference(DIRECTORY, Peer::Catatonit, kept, "here []", "/ []"),
    difference(DESCRIPTORS, Peer::Tini, kept, "here [50, 255]", "/ []"),
    difference(DESCRIPTORS, Peer::DumbInit, kept, "/ [50, 255]", "/ []"),
    difference(STOLEN, Peer::Tini, behind, "true", "false"),
    difference(STOLEN, Peer::Catatonit, behind, "true", "false"),
    difference(AUTOMATIC, Peer::Tini, without_children, "hangs", "Code(7)"),
    difference(
        AUTOMATIC,
        Peer::Catatonit,
        without_children,
        "hangs",
        "Code(7)",
    ),
];

#[test]
fn each_difference_is_there_and_on_purpose() {
    let text = fs::read_to_string("docs/entrypoint.md").unwrap();
    let mut faults = Vec::new();
    for difference in &DIFFERENCES {
        let name = format!("{} {}", difference.peer.name(), difference.row);
        let is_told = text.lines().any(|line| {
            let (whose, what) = line
                .strip_prefix("| ")
                .and_then(|row| row.split_once(" | "))
                .unwrap_or_default();
            let mut peers = whose.split(", ");
            what.contains(difference.row) && peers.any(|peer| peer == difference.peer.name())
        });
        if !is_told {
            faults.push(format!("no such row in the document: {name}"));
        }
        let is_held = std::panic::catch_unwind(|| {
            trial(difference.peer, |trial| {
                let (theirs, ours) = (difference.theirs.to_owned(), difference.ours.to_owned());
                trial.each(&name, &theirs, &ours, difference.observe);
            });
        });
        if let Err(panic) = is_held {
            faults.extend(panic.downcast_ref::<String>().cloned());
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn run(place: &Place, program: &Program, words: &[&str]) -> Seen {
    Start::new(place, program).words(words).run()
}

fn sockets_of_first(place: &mut Place, program: &Program) -> String {
    listened(place, program, Role::First, "1").join(" ")
}

fn unknown_behind(place: &mut Place, program: &Program) -> String {
    let words = [&place.recorder(), "exit", "9", "-x"];
    format!("{:?}", run(place, program, &words).end)
}

fn help_behind(place: &mut Place, program: &Program) -> String {
    let words = [&place.recorder(), "exit", "9", "-h"];
    format!("{:?}", run(place, program, &words).end)
}

fn without_input(place: &mut Place, program: &Program) -> String {
    let start = Start::new(place, program).stdio(0, None);
    format!(
        "{:?}",
        start.words(&[&place.recorder(), "exit", "7"]).run().end
    )
}

/// Whether it does something while there is nothing to do.
fn wakes(place: &mut Place, program: &Program) -> String {
    let mut init = recorded(place, program, Role::First, &[]);
    init.is_asleep();
    let before = init.status("voluntary_ctxt_switches:");
    // More than one turn of a second's.
    let lives = init.lives_for(Duration::from_millis(1_300));
    assert!(lives, "{:?}", init.end());
    (init.status("voluntary_ctxt_switches:") != before).to_string()
}

fn fault(place: &mut Place, program: &Program) -> String {
    faulted(place, program, Role::Ordinary, libc::SIGSEGV)
}

fn abort(place: &mut Place, program: &Program) -> String {
    faulted(place, program, Role::Ordinary, libc::SIGABRT)
}

/// The kernel keeps it from a first process that has no handler for it.
fn fault_of_first(place: &mut Place, program: &Program) -> String {
    faulted(place, program, Role::First, libc::SIGSEGV)
}

fn faulted(place: &mut Place, program: &Program, role: Role, number: i32) -> String {
    let mut init = recorded(place, program, role, &[]);
    init.signal(number);
    if role == Role::Ordinary && program.side == Side::Theirs {
        return format!("{:?}", init.end());
    }
    init.signal(64);
    let line = place.told.next();
    let from = format!("from {}", init.pid_inside());
    if line == format!("signal {number} {from}") {
        return "passed on".to_owned();
    }
    assert_eq!(line, format!("signal 64 {from}"));
    "nothing".to_owned()
}

const TERM_AND_40: u64 = bit(libc::SIGTERM) | bit(40);

fn mask(place: &mut Place, program: &Program, blocked: u64, name: &str) -> String {
    let ignored = bit(libc::SIGHUP) | bit(libc::SIGINT);
    let start = Start::new(place, program).blocked(blocked).ignored(ignored);
    let report = report(place, start, &[]);
    // The C library's own are nobody's here.
    let mask = u64::from_str_radix(of(&report, name), 16).unwrap() & crate::system::ALL;
    format!("{mask:x}")
}

fn blocked(place: &mut Place, program: &Program) -> String {
    mask(place, program, TERM_AND_40, "SigBlk:")
}

fn blocked_by_nobody(place: &mut Place, program: &Program) -> String {
    mask(place, program, 0, "SigBlk:")
}

fn ignored(place: &mut Place, program: &Program) -> String {
    mask(place, program, 0, "SigIgn:")
}

/// Which of two HUP and two CONT come after a terminal was given up whose
/// foreground was another's.
fn hang_ups(place: &mut Place, program: &Program) -> String {
    let words = ["--", &place.recorder(), "records", "9"];
    // To the end: a terminal that is closed is a HUP of its own.
    let session = Session::new(place, program, Role::Ordinary, Terminal::Behind, &words);
    let init = &session.init;
    assert_eq!(place.told.next(), "up");
    let mut came = Vec::new();
    for number in [libc::SIGHUP, libc::SIGHUP, libc::SIGCONT, libc::SIGCONT] {
        init.signal(number);
        init.signal(64);
        loop {
            let line = place.told.next();
            let number = line.split_whitespace().nth(1).unwrap().to_owned();
            if number == "64" {
                break;
            }
            came.push(number);
        }
    }
    came.join(" ")
}

fn output_is_full(place: &mut Place, program: &Program) -> String {
    unheard(place, program, 1, "full pipe")
}

fn complaints_are_full(place: &mut Place, program: &Program) -> String {
    unheard(place, program, 2, "full pipe")
}

/// What it has to say ends it as PIPE, which it takes for one to pass on.
fn nobody_listens(place: &mut Place, program: &Program) -> String {
    unheard(place, program, 2, "broken pipe")
}

/// An init that would say all that it can say, and nobody takes it.
fn unheard(place: &mut Place, program: &Program, number: usize, what: &str) -> String {
    let (fd, _kept) = mute(what);
    let flags: &[&str] = match program.name.to_str().unwrap() {
        "tini" => &["-vvv"],
        "dumb-init" => &["-v"],
        _ => &[],
    };
    let start = Start::new(place, program).variable("CATATONIT_DEBUG=1");
    let start = start.stdio(number, Some(fd)).words(flags);
    let init = start.words(&["--", &place.recorder(), "exit", "7"]).spawn();
    ended(init, program)
}

/// How it ends. A peer that does nothing any more hangs; one that does something
/// for a tenth of a second though its program is gone spins.
fn ended(mut init: Init, program: &Program) -> String {
    const SPUN: u64 = 100_000_000;
    if program.side == Side::Theirs {
        let mut found = None;
        let mut used = None;
        eventually("its end or its sleep", || {
            if !init.lives_for(Duration::ZERO) {
                return true;
            }
            let is_gone = matches!(init.state_inside(3), None | Some('Z'));
            let since = used.get_or_insert_with(|| init.used());
            if is_gone && init.used() > *since + SPUN {
                found = Some("spins");
            } else if init.is_idle() && (is_gone || init.is_idle_inside(3)) {
                found = Some("hangs");
            }
            found.is_some()
        });
        if let Some(found) = found {
            return found.to_owned();
        }
    }
    format!("{:?}", init.end())
}

fn stopped_by_key(place: &mut Place, program: &Program) -> String {
    let words = ["--", &place.recorder(), "continued"];
    let mut session = Session::new(place, program, Role::First, Terminal::Own, &words);
    assert_eq!(place.told.next(), "up");
    session.control(b'Z');
    match program.side {
        Side::Theirs => {
            eventually("its stop", || session.init.state_inside(2) == Some('T'));
            session.init.is_asleep();
            assert_eq!(session.init.state_inside(2), Some('T'));
            "stays stopped".to_owned()
        }
        Side::Ours => place.told.next(),
    }
}

/// Whether the foreground is another's than the shell's, with which the terminal began.
fn behind(place: &mut Place, program: &Program) -> String {
    let words = ["--", &place.recorder(), "terminal"];
    let kind = Terminal::OfAnotherBehind;
    let _session = Session::new(place, program, Role::Ordinary, kind, &words);
    let line = place.told.next();
    assert_eq!(place.told.next(), "up");
    of(&[line], "foreground").starts_with("true").to_string()
}

fn without_children(place: &mut Place, program: &Program) -> String {
    let start = Start::new(place, program).ignored(bit(libc::SIGCHLD));
    let init = start.words(&[&place.recorder(), "exit", "7"]).spawn();
    ended(init, program)
}
