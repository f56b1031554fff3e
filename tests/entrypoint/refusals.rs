//! host-init's own options: what is none of them is refused, and nothing is run.

use crate::init::End;
use crate::options::{host_init, run};
use crate::place::Place;
use crate::start::Start;

#[test]
fn what_is_no_option_is_refused_in_one_line() {
    let place = Place::new();
    let recorder = &place.recorder();
    let mut faults = Vec::new();
    for (flags, what) in [
        (&["-x"][..], "'x'"),
        (&["-gx"], "'x'"),
        (&["--nonsense"], "--nonsense"),
        // No beginning of a name is its name.
        (&["--grou"], "--grou"),
        (&["--kill=5s"], "--kill"),
        (&["--Group"], "--Group"),
        // A value where none is taken.
        (&["--group=1"], "group"),
        (&["--help=1"], "help"),
    ] {
        let words = [flags, &["--", recorder, "exit", "9"]].concat();
        faults.extend(unrefused(&place, flags, &[what]));
        faults.extend(unrefused(&place, &words, &[what]));
    }
    for (words, what) in [
        // No value where one is taken.
        (&["-k"][..], "'k'"),
        (&["--job"], "--job"),
        (&["-ge"], "'e'"),
        // No command.
        (&[], ""),
        (&["--"], ""),
        (&["-g"], ""),
    ] {
        faults.extend(unrefused(&place, words, &[what]));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_value_that_means_nothing_is_refused_in_one_line_that_has_it() {
    let place = Place::new();
    let recorder = &place.recorder();
    let mut faults = Vec::new();
    for (option, values) in [
        ("--job", &["nonsense", "", "Session", "groups"][..]),
        (
            "--kill-after",
            &["", "x", "5x", "-1s", "1e3", "99999999999999999999s", "s"],
        ),
        (
            "--stop-signal",
            &[
                "", "0", "65", "32", "33", "-1", "NONSENSE", "RTMIN+31", "SIG", "15 ",
            ],
        ),
        (
            "--rewrite",
            &[
                "",
                "TERM",
                "TERM:",
                ":TERM",
                "TERM:65",
                "0:TERM",
                "TERM:INT,",
                "a:b",
                "15;2",
            ],
        ),
        (
            "--remap-exit",
            &["256", "-1", "x", "1:", "1:256", "1:x", "1,", "1 ", "+1", ""],
        ),
        ("--parent-death", &["", "0", "65", "TERMINATE"]),
        ("--env", &["", "NAME", "=value"]),
        ("--unset-env", &["", "NAME=value"]),
    ] {
        for value in values {
            let words = [option, value, "--", recorder, "exit", "9"];
            faults.extend(unrefused(&place, &words, &[option, value]));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_variable_that_means_nothing_is_refused_by_its_own_name() {
    let place = Place::new();
    for (variable, name) in [
        ("HOST_INIT_KILL_AFTER=", "HOST_INIT_KILL_AFTER: "),
        ("HOST_INIT_STOP_SIGNAL=x", "HOST_INIT_STOP_SIGNAL: x"),
        ("HOST_INIT_JOB=x", "HOST_INIT_JOB: x"),
    ] {
        let start = Start::new(&place, &host_init()).variable(variable);
        let seen = start.words(&["--", &place.recorder(), "exit", "9"]).run();
        assert_eq!(seen.end, End::Code(254), "{variable}: {seen:?}");
        assert!(seen.complaints.contains(name), "{variable}: {seen:?}");
        assert_eq!(seen.complaints.lines().count(), 1, "{variable}: {seen:?}");
    }
}

/// Says what is wrong when these words are not refused, in one line that has these
/// in it.
fn unrefused(place: &Place, words: &[&str], parts: &[&str]) -> Option<String> {
    let seen = run(place, words);
    let mut lines = seen.complaints.lines();
    let is_told = lines.next().is_some_and(|line| {
        line.starts_with("host-init: ") && parts.iter().all(|part| line.contains(part))
    });
    let is_refused =
        seen.end == End::Code(254) && seen.output.is_empty() && is_told && lines.next().is_none();
    (!is_refused).then(|| format!("{words:?}: {seen:?}"))
}
