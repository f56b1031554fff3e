//! What an init says itself is told from what its program says.
//!
//! The words of messages are each program's own, and so is how many there are of
//! a level, and what is told only to whoever looks for a fault in tini itself
//! (`DEBUG`, `TRACE`). On which stream they come, with what in front and at which
//! verbosity is what others rely on.

/// The further lines of tini's one message that has some.
const CONTINUED: [&str; 2] = [
    "Zombie processes will not",
    "To fix the problem, use the -s",
];

/// What tini tells of itself. It begins with a verbosity of 2, as `INFO` does,
/// which comes with each run.
const INNER: [&str; 2] = ["[DEBUG tini]", "[TRACE tini]"];

/// The same lines, with what stands in front of an init's own messages in place of
/// them, each once.
pub(crate) fn levels(lines: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        if CONTINUED
            .iter()
            .any(|beginning| line.starts_with(beginning))
        {
            continue;
        }
        match level(line) {
            Some(level) if kept.contains(&level) || INNER.contains(&level.as_str()) => {}
            Some(level) => kept.push(level),
            None => kept.push(line.clone()),
        }
    }
    kept.iter().map(|line| format!("{line}\n")).collect()
}

/// What stands in front of an init's message: its pid is that of the process
/// which speaks, and that may be the init's child.
fn level(line: &str) -> Option<String> {
    let (level, pid, end) = if let Some(rest) = line.strip_prefix('[') {
        if rest.starts_with("dumb-init] ") {
            return Some("[dumb-init]".to_owned());
        }
        let (level, rest) = rest.split_once(" tini (")?;
        let (pid, _) = rest.split_once(")] ")?;
        (format!("[{level} tini"), pid, "]")
    } else {
        let (level, rest) = line.split_once(" (catatonit:")?;
        let (pid, _) = rest.split_once("): ")?;
        (format!("{level} catatonit"), pid, ":")
    };
    pid.parse::<u32>().ok().map(|_| format!("{level}{end}"))
}
