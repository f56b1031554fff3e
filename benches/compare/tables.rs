//! Which tables there are, and what is measured for each.

use std::error::Error;
use std::thread;

use crate::contestants::{self, Contestant};
use crate::goals::{self, Goal};
use crate::guest::{self, Said};
use crate::namespace::{self, Orphans};
use crate::programs::Programs;
use crate::table::Table;
use crate::{breakdown, entrypoint_tables, images, pages};

/// Prints the tables that the words ask for; without words, all but the breakdown.
pub(crate) fn print(words: &[String]) -> Result<(), Box<dyn Error>> {
    let programs = Programs::build()?;
    let contestants = contestants::all(&programs)?;
    let wants = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    if wants("bytes") {
        println!("{}", bytes(&contestants)?);
    }
    if wants("guest") {
        println!("{}", in_guests(&contestants, &programs)?);
    }
    if wants("namespace") {
        println!("{}", in_namespaces(&contestants, &programs)?);
    }
    if wants("entrypoint") {
        entrypoint_tables::print(&programs)?;
    }
    if words.iter().any(|word| word == "breakdown") {
        breakdown::print(&contestants, &programs)?;
    }
    if words.iter().any(|word| word == "pages") {
        pages::print(&programs)?;
    }
    Ok(())
}

fn names(contestants: &[Contestant]) -> impl Iterator<Item = &'static str> {
    contestants.iter().map(|contestant| contestant.name)
}

fn bytes(contestants: &[Contestant]) -> Result<Table, Box<dyn Error>> {
    let mut table = Table::new("bytes", names(contestants));
    let mut all = Vec::new();
    let mut programs = Vec::new();
    for contestant in contestants {
        let mut sizes = Vec::new();
        for (_, _, content) in &contestant.files {
            sizes.push(content.bytes()?.len() as f64);
        }
        programs.push(sizes.first().copied());
        all.push(Some(sizes.iter().sum()));
    }
    table.row("the program", programs, Goal::None);
    table.row("all files that the image needs", all, goals::BYTES);
    Ok(table)
}

/// A row of the guests' table: its name, how the figure is found, its goal.
type GuestRow = (&'static str, fn(&Said, &Said) -> Option<f64>, Goal);

/// The guests' rows. Each init is booted twice: for one whole life, and to have
/// its host end again and again.
const GUEST_ROWS: [GuestRow; 20] = [
    (
        "exec to host, instructions",
        |life, again| least([life, again].map(|said| said.figure("exec-to-host"))),
        goals::EXEC_TO_HOST,
    ),
    (
        "stop to off, instructions",
        |life, again| least([life, again].map(Said::stop)),
        goals::STOP_TO_OFF,
    ),
    (
        "restart, instructions, mean of 100",
        |_, again| again.figure("restart-mean"),
        goals::RESTART,
    ),
    (
        "restart, the shortest",
        |_, again| again.figure("restart-least"),
        Goal::None,
    ),
    (
        "restart, the longest",
        |_, again| again.figure("restart-most"),
        Goal::None,
    ),
    (
        "memory: resident, kB",
        |life, _| life.figure("memory-rss"),
        goals::RESIDENT,
    ),
    (
        "memory: proportional, kB",
        |life, _| life.figure("memory-pss"),
        Goal::None,
    ),
    (
        "memory: anonymous, kB",
        |life, _| life.figure("memory-anonymous"),
        goals::ANONYMOUS,
    ),
    (
        "memory: data mapped, kB",
        |life, _| life.figure("memory-data"),
        Goal::None,
    ),
    (
        "memory: page tables, kB",
        |life, _| life.figure("memory-tables"),
        Goal::None,
    ),
    (
        "idle: wake-ups a minute",
        |life, _| life.figure("idle-wakes"),
        goals::IDLE,
    ),
    (
        "idle: system calls a minute",
        |life, _| life.figure("idle-calls"),
        goals::IDLE,
    ),
    (
        "orphans one by one: calls each",
        |life, _| thousandths(life, "orphan-calls"),
        goals::ORPHAN_CALLS,
    ),
    (
        "orphans one by one: wake-ups each",
        |life, _| thousandths(life, "orphan-wakes"),
        goals::ORPHAN_WAKES,
    ),
    (
        "orphans one by one: instructions each",
        |life, _| thousandths(life, "orphan-cpu"),
        Goal::None,
    ),
    (
        "orphans at once: calls each",
        |life, _| thousandths(life, "burst-calls"),
        goals::BURST_CALLS,
    ),
    (
        "orphans at once: wake-ups each",
        |life, _| thousandths(life, "burst-wakes"),
        Goal::None,
    ),
    (
        "orphans at once: instructions each",
        |life, _| thousandths(life, "burst-cpu"),
        Goal::None,
    ),
    (
        "boot job: mounts missing",
        |life, _| life.figure("mounts-missing"),
        Goal::None,
    ),
    (
        "boot job: hostname and loopback done",
        |life, _| Some(life.figure("hostname-set")? + life.figure("loopback-up")?),
        Goal::None,
    ),
];

/// The lesser of two: what comes between by chance, as the clock's tick does,
/// only adds.
fn least([one, other]: [Option<f64>; 2]) -> Option<f64> {
    Some(one?.min(other?))
}

/// A figure that was told in thousandths.
pub(crate) fn thousandths(said: &Said, name: &str) -> Option<f64> {
    Some(said.figure(name)? / 1000.0)
}

fn in_guests(contestants: &[Contestant], programs: &Programs) -> Result<Table, Box<dyn Error>> {
    let boot = |contestant: &Contestant, mode: &str| -> Result<Said, String> {
        let boot = || guest::run(images::with(contestant, programs, mode)?, "");
        boot().map_err(|error: Box<dyn Error>| format!("{}: {error}", contestant.name))
    };
    // The clock of a guest is its own: they may run side by side.
    let boot = &boot;
    let said: Vec<_> = thread::scope(|scope| {
        let guests: Vec<_> = contestants
            .iter()
            .map(|contestant| {
                ["life", "again"].map(|mode| scope.spawn(move || boot(contestant, mode)))
            })
            .collect();
        guests
            .into_iter()
            .map(|pair| pair.map(|guest| guest.join().unwrap_or_else(|_| Err("a panic".into()))))
            .collect()
    });
    let mut pairs = Vec::new();
    for [life, again] in said {
        pairs.push((life?, again?));
    }
    let version = pairs
        .first()
        .map_or_else(String::new, |(life, _)| life.version.clone());
    let mut table = Table::new(format!("guest, Linux {version}"), names(contestants));
    for (name, figure, goal) in GUEST_ROWS {
        let values = pairs
            .iter()
            .map(|(life, again)| figure(life, again))
            .collect();
        table.row(name, values, goal);
    }
    Ok(table)
}

fn in_namespaces(contestants: &[Contestant], programs: &Programs) -> Result<Table, Box<dyn Error>> {
    let orphans = namespace::orphans(contestants, programs)?;
    // By the clock on the wall, and so one after the other.
    let mut stops = Vec::new();
    for contestant in contestants {
        stops.push([
            namespace::stop(contestant, programs, "none")?,
            namespace::stop(contestant, programs, "stubborn")?,
        ]);
    }
    let version = namespace::kernel();
    let (calls, wakes) = if namespace::remembers_exits(&version) {
        (goals::ORPHAN_RELEASED, goals::ORPHAN_RELEASED)
    } else {
        (goals::ORPHAN_CALLS, goals::ORPHAN_WAKES)
    };
    let mut table = Table::new(format!("namespace, Linux {version}"), names(contestants));
    let each = |figure: fn(&Orphans) -> Option<f64>| orphans.iter().map(figure).collect();
    table.row(
        "orphans one by one: calls each",
        each(|one| one.calls),
        calls,
    );
    table.row(
        "orphans one by one: wake-ups each",
        each(|one| one.wakes),
        wakes,
    );
    let each = |which: fn(&[f64; 2]) -> f64| stops.iter().map(|one| Some(which(one))).collect();
    table.row(
        "stop, ms, the median",
        each(|[orderly, _]| *orderly),
        goals::STOP_MILLIS,
    );
    table.row(
        "stop of a host that ignores it, grace 1 s",
        each(|[_, stubborn]| *stubborn),
        goals::STUBBORN_MILLIS,
    );
    Ok(table)
}
