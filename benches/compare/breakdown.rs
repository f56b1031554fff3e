//! Where the instructions of a boot and of a restart go.
//!
//! First what each step of a boot costs the kernel, asked by a program that takes
//! one after the other as the first process; then what host-init really did, call
//! by call, from the kernel's own trace: from its exec to that of the host, and
//! from the end of the host to the exec of the next. A call in the trace carries some
//! hundred instructions of the tracing, so its sum is above the untraced figure.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use crate::contestants::Contestant;
use crate::guest;
use crate::images;
use crate::programs::Programs;
use crate::strings::Strings;
use crate::table::{write_aligned, written};

/// Words for the kernel: every system call and exec, by the processor's counter.
const TRACE: &str = "trace_event=syscalls:*,sched:sched_process_exec \
                     trace_clock=x86-tsc trace_buf_size=8M";

/// What the trace says when the init, the host, and the end of a process come.
const INIT: &str = "sched_process_exec: filename=/init";
const HOST: &str = "sched_process_exec: filename=/host";
const END: &str = "sys_exit_group(";

/// Stretches of own code that are shorter are not worth a line.
const OWN_CODE: u64 = 4000;

/// Prints all three tables.
pub(crate) fn print(contestants: &[Contestant], programs: &Programs) -> Result<(), Box<dyn Error>> {
    let said = guest::run(images::with_program(programs, "steps")?, "")?;
    let mut lines = vec![["step", "instructions"].map(str::to_owned).to_vec()];
    for (name, value) in said.in_order() {
        lines.push(vec![name, written(value)]);
    }
    println!("{}", Lines(lines));

    for contestant in contestants.iter().filter(|one| one.name == "host-init") {
        let said = guest::run(images::with(contestant, programs, "trace")?, TRACE)?;
        let strings = Strings::of(&programs.path("host-init"))?;
        let trace: Vec<Line<'_>> = said.console.lines().filter_map(Line::read).collect();
        for (title, lines) in [("boot", boot(&trace)), ("restart", restart(&trace))] {
            let mut cells = vec![[title, "pid", "at", "took"].map(str::to_owned).to_vec()];
            cells.extend(events(lines, &strings).iter().map(Event::cells));
            println!("{}", Lines(cells));
        }
    }
    Ok(())
}

pub(crate) struct Lines(pub(crate) Vec<Vec<String>>);

impl Display for Lines {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_aligned(f, &self.0)
    }
}

/// Something that took time.
struct Event {
    /// Instructions since the exec of the init.
    at: u64,
    took: u64,
    pid: u32,
    what: String,
    /// How many of the same kind followed one another.
    count: u32,
}

impl Event {
    fn cells(&self) -> Vec<String> {
        let what = match self.count {
            1 => self.what.clone(),
            count => format!("{} ({count} times)", self.what),
        };
        vec![
            what,
            self.pid.to_string(),
            written(self.at as f64),
            written(self.took as f64),
        ]
    }
}

/// A line of the trace: which process, when, and what.
pub(crate) struct Line<'t> {
    pub(crate) pid: u32,
    pub(crate) at: u64,
    pub(crate) what: &'t str,
}

impl<'t> Line<'t> {
    /// `   init-1   [000] .....    371353607: sys_mount(dev_name: 2010e0, …)`
    pub(crate) fn read(line: &'t str) -> Option<Self> {
        let (task, rest) = line.split_once('[')?;
        let (_, pid) = task.trim_end().rsplit_once('-')?;
        let (stamp, what) = rest.split_once(": ")?;
        Some(Self {
            pid: pid.parse().ok()?,
            at: stamp.split_whitespace().last()?.parse().ok()?,
            what,
        })
    }
}

/// From the exec of the init to that of the host.
fn boot<'l, 't>(trace: &'l [Line<'t>]) -> &'l [Line<'t>] {
    let start = trace.iter().position(|line| line.what.starts_with(INIT));
    let end = trace.iter().position(|line| line.what.starts_with(HOST));
    let range = start.unwrap_or(0)..end.map_or(0, |end| end + 1);
    trace.get(range).unwrap_or_default()
}

/// From the end of the host to the exec of the next.
fn restart<'l, 't>(trace: &'l [Line<'t>]) -> &'l [Line<'t>] {
    let end = trace.iter().rposition(|line| line.what.starts_with(HOST));
    let lines = trace
        .get(..end.map_or(0, |end| end + 1))
        .unwrap_or_default();
    let start = lines.iter().rposition(|line| line.what.starts_with(END));
    lines.get(start.unwrap_or(0)..).unwrap_or_default()
}

/// What happened in these lines, the first of which is where time begins.
fn events(lines: &[Line<'_>], strings: &Strings) -> Vec<Event> {
    let Some((start, lines)) = lines.split_first() else {
        return Vec::new();
    };
    let mut events: Vec<Event> = Vec::new();
    // The call that each process is in, and when it began.
    let mut open: Vec<(u32, u64, String)> = Vec::new();
    let mut last = start.at;
    for line in lines {
        let at = line.at.saturating_sub(start.at);
        if let Some(call) = line.what.strip_prefix("sys_") {
            if let Some((name, _)) = call.split_once(" -> ") {
                let is_of = |one: &(u32, u64, String)| one.0 == line.pid;
                if let Some(place) = open.iter().position(is_of) {
                    let (pid, began, what) = open.swap_remove(place);
                    push(&mut events, began - start.at, line.at - began, pid, what);
                } else {
                    let what = format!("{name} returns");
                    push(&mut events, at, line.at - last, line.pid, what);
                }
            } else {
                if line.at - last >= OWN_CODE {
                    let (took, what) = (line.at - last, "(own code)".into());
                    push(&mut events, at - took, took, line.pid, what);
                }
                open.push((line.pid, line.at, strings.explain(call)));
            }
        } else if line.what.starts_with(HOST) {
            let began = open.iter().find(|one| one.0 == line.pid);
            let began = began.map_or(line.at, |one| one.1);
            let what = "execve to the host".into();
            push(
                &mut events,
                began - start.at,
                line.at - began,
                line.pid,
                what,
            );
            break;
        }
        last = line.at;
    }
    events
}

/// Adds an event, to the last one if that is of the same kind.
fn push(events: &mut Vec<Event>, at: u64, took: u64, pid: u32, what: String) {
    /// Calls of which nobody wants to see each.
    const MANY: &str = "rt_sigaction";
    if let Some(last) = events.last_mut()
        && last.what.starts_with(MANY)
        && what.starts_with(MANY)
    {
        last.what = MANY.into();
        last.took += took;
        last.count += 1;
        return;
    }
    events.push(Event {
        at,
        took,
        pid,
        what,
        count: 1,
    });
}
