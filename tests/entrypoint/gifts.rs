//! host-init's own options: who the command is, where it runs, its variables.

use std::ffi::CString;
use std::time::{Duration, Instant};

use crate::inheritance::{of, report};
use crate::init::End;
use crate::options::host_init;
use crate::place::Place;
use crate::recorder::sum;
use crate::start::Start;

fn variables(report: &[String]) -> Vec<&str> {
    let mut variables: Vec<&str> = report
        .iter()
        .filter_map(|line| line.strip_prefix("variable: "))
        .collect();
    variables.sort_unstable();
    variables
}

#[test]
fn variables_are_set_and_taken_away() {
    let mut place = Place::new();
    for (flags, expected) in [
        (&[][..], &["A=1", "B=", "PATH=/bin"][..]),
        (&["-E", "C=3"], &["A=1", "B=", "C=3", "PATH=/bin"]),
        (
            &["-EC=3", "--env=D="],
            &["A=1", "B=", "C=3", "D=", "PATH=/bin"],
        ),
        (&["-E", "A=2"], &["A=2", "B=", "PATH=/bin"]),
        (&["-E", "A=2", "-E", "A=3"], &["A=3", "B=", "PATH=/bin"]),
        (&["-E", "A=x=y z"], &["A=x=y z", "B=", "PATH=/bin"]),
        (&["--unset-env", "A"], &["B=", "PATH=/bin"]),
        (
            &["--unset-env=B", "--unset-env=NONE"],
            &["A=1", "PATH=/bin"],
        ),
        (&["-E", "AA=1"], &["A=1", "AA=1", "B=", "PATH=/bin"]),
        (&["-E", "A=2", "--unset-env=A"], &["B=", "PATH=/bin"]),
        (&["--unset-env=A", "-E", "A=2"], &["A=2", "B=", "PATH=/bin"]),
    ] {
        place.forget();
        let given = ["A=1", "B=", "PATH=/bin"].map(|entry| CString::new(entry).unwrap());
        let start = Start::new(&place, &host_init()).environment(given.to_vec());
        let report = report(&mut place, start, flags);
        assert_eq!(variables(&report), expected, "{flags:?}");
    }
}

#[test]
fn ten_thousand_variables_take_no_longer_than_they_have_to() {
    let mut place = Place::new();
    let entries = |make: fn(u32) -> String| {
        (0..10_000)
            .map(make)
            .map(|entry| CString::new(entry).unwrap())
    };
    let same: Vec<_> = entries(|number| format!("A={number}")).collect();
    let many: Vec<_> = entries(|number| format!("V{}={number}", number * 7 % 5_000)).collect();
    let given: Vec<_> = entries(|number| format!("V{number}=given")).collect();
    // The last that was said of each counts, in the order in which it was said.
    let added = [&same[9_999..], &many[5_000..]].concat();
    let (_, kept) = given.split_at(5_000);
    let expected: Vec<_> = kept.iter().chain(&added).map(CString::as_c_str).collect();
    let begin = Instant::now();

    let mut start = Start::new(&place, &host_init()).environment(given.clone());
    for entry in same.iter().chain(&many) {
        start = start.words(&["-E", entry.to_str().unwrap()]);
    }
    let words = ["--", &place.recorder(), "words"];
    let seen = start.words(&words).run();

    assert_eq!(seen.end, End::Code(0), "{seen:?}");
    place.told.next();
    assert_eq!(place.told.next(), format!("variables: {}", sum(&expected)));
    // Measured at 0.2 s, of a program that is not optimized.
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_command_is_looked_for_in_its_own_path() {
    let place = Place::new();
    let path = format!("PATH={}", place.of(""));
    let words = ["-E", &path, "--", "recorder", "exit", "9"];

    let seen = Start::new(&place, &host_init()).words(&words).run();

    assert_eq!(seen.end, End::Code(9), "{seen:?}");
}

#[test]
fn the_command_runs_where_it_was_told() {
    let mut place = Place::new();
    place.write("below/file", "", 0o644);
    for (directory, expected) in [
        ("/".to_owned(), "/".to_owned()),
        (place.of("below"), place.of("below")),
        // From where host-init was started.
        ("below".to_owned(), place.of("below")),
        (
            ".".to_owned(),
            place.of("").trim_end_matches('/').to_owned(),
        ),
    ] {
        place.forget();
        let start = Start::new(&place, &host_init());
        let report = report(&mut place, start, &["-C", &directory]);
        assert_eq!(of(&report, "directory:"), expected, "{directory}");
    }
    for directory in ["/no/such", "", "below/file"] {
        let words = ["--directory", directory, "--", &place.recorder(), "up"];
        let seen = Start::new(&place, &host_init()).words(&words).run();
        assert_eq!(seen.end, End::Code(254), "{directory:?}: {seen:?}");
        assert!(seen.complaints.starts_with("host-init: "), "{seen:?}");
    }
}

/// Whether a command may be anybody: in a user namespace of somebody else's it
/// may have no groups.
fn is_root() -> bool {
    // SAFETY: has no arguments.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn the_command_is_whom_it_was_told() {
    if !is_root() {
        return;
    }
    let others = [7_u32];
    // SAFETY: one group is there. It counts for this thread, and for what it starts.
    let set = unsafe { libc::syscall(libc::SYS_setgroups, others.len(), others.as_ptr()) };
    assert_eq!(set, 0);
    let mut place = Place::for_all();
    let mut who = |flags: &[&str]| {
        place.forget();
        let start = Start::new(&place, &host_init()).variable("HOME=/given");
        let report = report(&mut place, start, flags);
        let ids = ["Uid", "Gid", "Groups"].map(|name| of(&report, &format!("{name}:")));
        (ids.join(" / "), of(&report, "variable: HOME=").to_owned())
    };
    let all = |uid: u32, gid: u32, groups: &str| {
        let four = |id: u32| [id; 4].map(|id| id.to_string()).join("\t");
        format!("{} / {} / {groups}", four(uid), four(gid))
    };

    assert_eq!(who(&["-u", "0:0"]).0, all(0, 0, "0"));
    assert_eq!(who(&["-u", "root:0"]), (all(0, 0, "0"), "/root".to_owned()));
    let (ids, home) = who(&["--user", "nobody"]);
    assert!(
        ids.starts_with(&format!("{0}\t{0}\t{0}\t{0} / ", 65_534)),
        "{ids}"
    );
    assert_eq!(home, "/nonexistent");
    assert_eq!(
        who(&["--user=nobody:12345"]).0,
        all(65_534, 12_345, "12345")
    );
    let (ids, home) = who(&["-u", "54321:12345"]);
    assert_eq!(
        (ids, home.as_str()),
        (all(54_321, 12_345, "12345"), "/given")
    );
    let (ids, _) = who(&["-u54321"]);
    assert_eq!(
        ids, "54321\t54321\t54321\t54321 / 0\t0\t0\t0 / ",
        "no groups"
    );
}

#[test]
fn a_user_that_is_nobody_is_refused() {
    let place = Place::new();
    for user in [
        "no-such-user",
        "root:no-such-group",
        "",
        ":",
        ":0",
        "-1",
        "4294967296",
        "0:",
    ] {
        let words = ["-u", user, "--", &place.recorder(), "up"];
        let seen = Start::new(&place, &host_init()).words(&words).run();
        assert_eq!(seen.end, End::Code(254), "{user:?}: {seen:?}");
        assert_eq!(seen.complaints.lines().count(), 1, "{user:?}: {seen:?}");
        assert!(
            seen.complaints.starts_with("host-init: "),
            "{user:?}: {seen:?}"
        );
    }
}

#[test]
fn each_option_is_a_variable_and_the_command_line_is_stronger() {
    let place = Place::new();
    let recorder = &place.recorder();
    let end = |variables: &[&str], words: &[&str]| {
        let mut start = Start::new(&place, &host_init());
        for variable in variables {
            start = start.variable(variable);
        }
        let seen = start.words(words).run();
        (seen.end, seen.complaints)
    };
    let exits = ["--", recorder, "exit", "9"];

    for variable in ["HOST_INIT_REMAP_EXIT=9:4", "HOST_INIT_REMAP_EXIT=9:4,8"] {
        assert_eq!(end(&[variable], &exits).0, End::Code(4));
        let words = [&["-e", "9:5"], &exits[..]].concat();
        assert_eq!(end(&[variable], &words).0, End::Code(5));
    }
    assert!(!end(&["HOST_INIT_VERBOSE=1"], &exits).1.is_empty());
    assert!(
        end(&["HOST_INIT_QUIET=1", "HOST_INIT_VERBOSE=0"], &exits)
            .1
            .is_empty()
    );
    let orphan = ["--", recorder, "reaped"];
    assert!(
        end(&["HOST_INIT_WARN_REAPED=yes"], &orphan)
            .1
            .contains(" 5")
    );
    for off in ["", "0", "no", "false"] {
        let variable = format!("HOST_INIT_WARN_REAPED={off}");
        assert_eq!(end(&[&variable], &orphan), (End::Code(0), String::new()));
    }
    assert_eq!(end(&["HOST_INIT_SUBREAPER=1"], &exits).0, End::Code(9));
    assert_eq!(
        end(&["HOST_INIT_PARENT_DEATH=TERM"], &exits).0,
        End::Code(9)
    );
    // Those that are none.
    for variable in [
        "HOST_INIT_ENV=nonsense",
        "HOST_INIT_UNSET_ENV=A=B",
        "HOST_INIT_HELP=1",
        "HOST_INIT_VERSION=1",
        "HOST_INIT_CONFIG=/no/such",
        "HOST_INIT_NONSENSE=1",
        "HOST_INIT_=1",
        "host_init_job=nonsense",
    ] {
        assert_eq!(
            end(&[variable], &exits),
            (End::Code(9), String::new()),
            "{variable}"
        );
    }
    // What means nothing is refused, by its name.
    for (name, value) in [
        ("JOB", "nonsense"),
        ("KILL_AFTER", "x"),
        ("STOP_SIGNAL", ""),
        ("REWRITE", "TERM"),
        ("REMAP_EXIT", "x"),
        ("PARENT_DEATH", "x"),
        ("USER", "no-such-user"),
    ] {
        let (end, complaints) = end(&[&format!("HOST_INIT_{name}={value}")], &exits);
        assert_eq!(end, End::Code(254), "{name}: {complaints}");
        assert_eq!(complaints.lines().count(), 1, "{complaints}");
        assert!(complaints.starts_with("host-init: "), "{complaints}");
    }
}

#[test]
fn what_the_command_gets_may_be_said_by_variables() {
    let mut place = Place::new();
    for (variable, flags, name, expected) in [
        ("HOST_INIT_JOB=none", &[][..], "group:", "2"),
        ("HOST_INIT_JOB=none", &["-j", "group"], "group:", "3"),
        ("HOST_INIT_JOB=group", &[], "session:", "2"),
        ("HOST_INIT_DIRECTORY=/", &[], "directory:", "/"),
        (
            "HOST_INIT_DIRECTORY=/no/such",
            &["-C", "/usr"],
            "directory:",
            "/usr",
        ),
        ("HOST_INIT_USER=0:0", &[], "Gid:", "0\t0\t0\t0"),
        // The command's own host-init may want it.
        ("HOST_INIT_GROUP=1", &[], "variable: HOST_INIT_GROUP=", "1"),
    ] {
        if variable.contains("_USER=") && !is_root() {
            continue;
        }
        place.forget();
        let start = Start::new(&place, &host_init()).variable(variable);
        let report = report(&mut place, start, flags);
        assert_eq!(of(&report, name), expected, "{variable} {flags:?}");
    }
}
