//! Where the instructions of `init -- true` go: calls, own code, pages.
//!
//! From the kernel's own trace: every system call, and every page that is touched and
//! not there. A line of the trace carries some hundred instructions of the tracing.

use std::error::Error;

use crate::breakdown::{Line, Lines};
use crate::entrypoints;
use crate::programs::Programs;
use crate::strings::Strings;
use crate::table::written;

/// Words for the kernel: system calls, execs, ends and page faults, by the processor's
/// counter.
const TRACE: &str = "trace_event=syscalls:*,sched:sched_process_exec,\
                     sched:sched_process_exit,exceptions:page_fault_user \
                     trace_clock=x86-tsc trace_buf_size=8M";

/// What the trace says when the entrypoint comes.
const ENTRY: &str = "sched_process_exec: filename=/entry";

/// What it says when a process begins to become a program.
const EXEC: &str = "sys_execve(";

/// What it says when a process other than the guest's first ends.
const END: &str = "sched_process_exit: ";

/// Prints a table for the floor and one for host-init.
pub(crate) fn print(programs: &Programs) -> Result<(), Box<dyn Error>> {
    for entrypoint in entrypoints::all(programs)? {
        if !matches!(entrypoint.name, "floor" | "host-init") {
            continue;
        }
        let said = entrypoint.trace(programs, TRACE)?;
        let strings = Strings::of(&entrypoint.path)?;
        let trace: Vec<Line<'_>> = said.console.lines().filter_map(Line::read).collect();
        let head = [entrypoint.name, "pid", "at", "until the next"];
        let mut cells = vec![head.map(str::to_owned).to_vec()];
        cells.extend(steps(run(&trace), &strings));
        println!("{}", Lines(cells));
    }
    Ok(())
}

/// From the exec of the entrypoint to its end.
fn run<'l, 't>(trace: &'l [Line<'t>]) -> &'l [Line<'t>] {
    let came = trace.iter().rposition(|line| line.what.starts_with(ENTRY));
    let came = came.unwrap_or(0);
    let pid = trace.get(came).map_or(0, |line| line.pid);
    let start = trace
        .iter()
        .take(came)
        .rposition(|line| line.pid == pid && line.what.starts_with(EXEC));
    let lines = trace.get(start.unwrap_or(came)..).unwrap_or_default();
    let end = lines
        .iter()
        .position(|line| line.pid == pid && line.what.starts_with(END));
    lines
        .get(..end.map_or(0, |end| end + 1))
        .unwrap_or_default()
}

/// What happened, and how long it took until something else did.
fn steps(lines: &[Line<'_>], strings: &Strings) -> Vec<Vec<String>> {
    let Some(first) = lines.first() else {
        return Vec::new();
    };
    lines
        .iter()
        .zip(lines.iter().skip(1))
        .map(|(line, next)| {
            let what = match line.what.strip_prefix("sys_") {
                Some(call) if !call.contains(" -> ") => strings.explain(call),
                Some(call) => call.to_owned(),
                None => line.what.to_owned(),
            };
            vec![
                what,
                line.pid.to_string(),
                written((line.at - first.at) as f64),
                written((next.at - line.at) as f64),
            ]
        })
        .collect()
}
