//! The tables of the entrypoints, and what is measured for each.

use std::error::Error;
use std::thread;

use crate::entrypoints::{self, Entrypoint};
use crate::goals::{self, Goal};
use crate::guest::Said;
use crate::namespace::{self, Orphans};
use crate::programs::Programs;
use crate::table::Table;
use crate::tables::thousandths;

/// Measures all entrypoints, and prints both tables.
pub(crate) fn print(programs: &Programs) -> Result<(), Box<dyn Error>> {
    let entrypoints = entrypoints::all(programs)?;
    println!("{}", in_guests(&entrypoints, programs)?);
    println!("{}", in_namespaces(&entrypoints, programs)?);
    Ok(())
}

/// A row of the entrypoints' guests.
type EntrypointRow = (&'static str, fn(&Said) -> Option<f64>, Goal);

/// The entrypoints' rows, from one boot each.
const ENTRYPOINT_ROWS: [EntrypointRow; 21] = [
    (
        "the command alone, exec to the end, instructions",
        |said| said.figure("alone"),
        Goal::None,
    ),
    (
        "`init -- true`: exec to the command, instructions",
        |said| said.figure("to-child"),
        Goal::None,
    ),
    (
        "`init -- true`: exec to the end, instructions",
        |said| said.figure("to-end"),
        goals::RUN,
    ),
    (
        "`init -- true`: calls of init and command",
        |said| said.figure("calls"),
        goals::RUN_CALLS,
    ),
    (
        "orphans one by one: calls each",
        |said| thousandths(said, "orphan-calls"),
        goals::ORPHAN_CALLS,
    ),
    (
        "orphans one by one: wake-ups each",
        |said| thousandths(said, "orphan-wakes"),
        goals::ORPHAN_WAKES,
    ),
    (
        "orphans one by one: instructions each",
        |said| thousandths(said, "orphan-cpu"),
        Goal::None,
    ),
    (
        "orphans at once: calls each",
        |said| thousandths(said, "burst-calls"),
        goals::BURST_CALLS,
    ),
    (
        "orphans at once: wake-ups each",
        |said| thousandths(said, "burst-wakes"),
        Goal::None,
    ),
    (
        "orphans at once: instructions each",
        |said| thousandths(said, "burst-cpu"),
        Goal::None,
    ),
    (
        "memory: resident, kB",
        |said| said.figure("memory-rss"),
        goals::RESIDENT,
    ),
    (
        "memory: proportional, kB",
        |said| said.figure("memory-pss"),
        Goal::None,
    ),
    (
        "memory: anonymous, kB",
        |said| said.figure("memory-anonymous"),
        goals::ANONYMOUS,
    ),
    (
        "memory: data mapped, kB",
        |said| said.figure("memory-data"),
        Goal::None,
    ),
    (
        "memory: page tables, kB",
        |said| said.figure("memory-tables"),
        Goal::None,
    ),
    (
        "idle: wake-ups a minute",
        |said| said.figure("idle-wakes"),
        goals::IDLE,
    ),
    (
        "idle: system calls a minute",
        |said| said.figure("idle-calls"),
        goals::IDLE,
    ),
    (
        "stop with 1 process, instructions",
        |said| said.figure("stop-1"),
        Goal::None,
    ),
    (
        "stop with 10 processes, instructions",
        |said| said.figure("stop-10"),
        Goal::None,
    ),
    (
        "stop with 100 processes, instructions",
        |said| said.figure("stop-100"),
        Goal::None,
    ),
    (
        "stop of a command that ignores it, beyond 1 s, instructions",
        |said| said.figure("stubborn"),
        goals::LATE,
    ),
];

fn in_guests(entrypoints: &[Entrypoint], programs: &Programs) -> Result<Table, Box<dyn Error>> {
    let said = thread::scope(|scope| {
        let guests: Vec<_> = entrypoints
            .iter()
            .map(|one| scope.spawn(|| one.measure(programs).map_err(|error| error.to_string())))
            .collect();
        guests
            .into_iter()
            .map(|guest| guest.join().unwrap_or_else(|_| Err("a panic".into())))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let version = said
        .first()
        .map_or_else(String::new, |said| said.version.clone());
    let names = entrypoints.iter().map(|one| one.name);
    let mut table = Table::new(format!("entrypoint, guest, Linux {version}"), names);
    for (name, figure, goal) in ENTRYPOINT_ROWS {
        table.row(name, said.iter().map(figure).collect(), goal);
    }
    Ok(table)
}

fn in_namespaces(entrypoints: &[Entrypoint], programs: &Programs) -> Result<Table, Box<dyn Error>> {
    let version = namespace::kernel();
    let names = entrypoints.iter().map(|one| one.name);
    let mut table = Table::new(format!("entrypoint, namespace, Linux {version}"), names);
    let calls = entrypoints.iter();
    let calls = calls.map(|one| namespace::calls_of_run(one, programs));
    let name = "`init -- true`: calls of init and command";
    table.row(name, calls.collect(), goals::RUN_CALLS);
    let mut orphans = Vec::new();
    for one in entrypoints {
        orphans.push(namespace::orphans_of_entrypoint(one, programs)?);
    }
    let (most_calls, most_wakes) = if namespace::remembers_exits(&version) {
        (goals::ORPHAN_RELEASED, goals::ORPHAN_RELEASED)
    } else {
        (goals::ORPHAN_CALLS, goals::ORPHAN_WAKES)
    };
    let each = |figure: fn(&Orphans) -> Option<f64>| orphans.iter().map(figure).collect();
    let name = "orphans one by one: calls each";
    table.row(name, each(|one| one.calls), most_calls);
    let name = "orphans one by one: wake-ups each";
    table.row(name, each(|one| one.wakes), most_wakes);
    for size in ["1", "10", "100"] {
        let mut took = Vec::new();
        for one in entrypoints {
            let command = ["family", size];
            let millis = namespace::stop_entrypoint(one, &[], &command, programs)?;
            took.push(Some(millis));
        }
        table.row(format!("stop with {size}, ms"), took, Goal::None);
    }
    let mut took = Vec::new();
    for one in entrypoints {
        let options = one.kill_after;
        let is_killed = !options.is_empty();
        let stop = || namespace::stop_entrypoint(one, options, &["stubborn"], programs);
        took.push(is_killed.then(stop).transpose()?);
    }
    let name = "stop of a command that ignores it, grace 1 s, ms";
    table.row(name, took, goals::LATE_MILLIS);
    Ok(table)
}
