//! host-init's own options and variables: what the command gets.
//!
//! What they do to its end is in `stops`.

use std::collections::BTreeSet;

use crate::inheritance::{of, report};
use crate::init::{End, Seen};
use crate::peer::Program;
use crate::place::Place;
use crate::signals::recorded;
use crate::start::{ROLES, Role, Start};
use crate::targets::reached;

pub(crate) fn host_init() -> Program {
    Program::ours("host-init")
}

pub(crate) fn run(place: &Place, words: &[&str]) -> Seen {
    Start::new(place, &host_init()).words(words).run()
}

#[test]
fn options_are_taken_in_every_form_up_to_the_first_word_that_is_none() {
    let place = Place::new();
    let recorder = &place.recorder();
    for flags in [
        &[][..],
        &["--"],
        &["-g"],
        &["--group"],
        &["-gsvw"],
        &["-k", "5s"],
        &["-k5s"],
        &["--kill-after", "5s"],
        &["--kill-after=5s"],
        &["-gk", "250ms"],
        &["-gk250ms", "--"],
        &["--rewrite=TERM:INT", "-rHUP:0"],
        &["-p", "TERM", "--parent-death=SIGKILL"],
        &["--wait", "-q"],
        &["-C", "/", "-E", "A=1", "--unset-env", "B"],
    ] {
        let words = [flags, &[recorder, "exit", "9"]].concat();
        assert_eq!(run(&place, &words).end, End::Code(9), "{words:?}");
    }
    // What is behind the command is the command's.
    for rest in ["-x", "--help", "--", "-k"] {
        let words = [recorder, "exit", "9", rest];
        assert_eq!(run(&place, &words).end, End::Code(9), "{words:?}");
    }
}

#[test]
fn help_and_version_are_printed_whatever_else_is_said() {
    let place = Place::new();
    for role in ROLES {
        for words in [
            &["-h"][..],
            &["--help"],
            &["-gh"],
            &["--help", "--nonsense"],
            &["--help", "--", "/no/such"],
        ] {
            let start = Start::new(&place, &host_init()).role(role);
            let seen = start.words(words).run();
            assert_eq!(
                (seen.end, seen.complaints.as_str()),
                (End::Code(0), ""),
                "{words:?}"
            );
            for option in ["--group", "--kill-after TIME", "--unset-env NAME"] {
                assert!(seen.output.contains(option), "{words:?}: {option}");
            }
        }
        for words in [&["-V"][..], &["--version"], &["-gV", "/no/such"]] {
            let start = Start::new(&place, &host_init()).role(role);
            let seen = start.words(words).run();
            assert_eq!(
                (seen.end, seen.complaints.as_str()),
                (End::Code(0), ""),
                "{words:?}"
            );
            assert_eq!(
                seen.output,
                format!("host-init {}\n", env!("CARGO_PKG_VERSION"))
            );
        }
    }
}

#[test]
fn a_verb_is_the_clients_and_behind_the_mark_a_program() {
    let place = Place::new();
    place.write("bin/check", "exit 5\n", 0o755);
    let start = |words: &[&str]| {
        let path = format!("PATH={}", place.of("bin"));
        let start = Start::new(&place, &host_init());
        start
            .environment(vec![std::ffi::CString::new(path).unwrap()])
            .words(words)
            .run()
    };

    assert_eq!(start(&["--", "check", "/no/such"]).end, End::Code(5));
    assert_eq!(start(&["-g", "check", "/no/such"]).end, End::Code(5));
    let client = start(&["check", "/no/such"]);
    assert_eq!(client.end, End::Code(2), "{client:?}");
}

#[test]
fn a_command_that_cannot_be_one_is_127_or_126() {
    let place = Place::new();
    place.write("no-right", "#!/bin/sh\n", 0o644);
    place.write("no-shell", "#!/no/such/shell\n", 0o755);
    place.write("text", "exit $#\n", 0o755);
    place.write("empty", "", 0o755);
    for (program, code) in [
        ("no-such-program", 127),
        ("/no/such/program", 127),
        ("", 127),
        ("./no-shell", 127),
        ("./no-right", 126),
        (".", 126),
        ("/", 126),
        ("./recorder/below", 126),
        ("./text", 1),
        ("./empty", 0),
    ] {
        for role in ROLES {
            let start = Start::new(&place, &host_init()).role(role);
            let seen = start.words(&["--", program, "word"]).run();
            assert_eq!(seen.end, End::Code(code), "{program}");
            if code > 1 {
                let lines: Vec<&str> = seen.complaints.lines().collect();
                assert_eq!(lines.len(), 1, "{program}: {lines:?}");
                assert!(lines[0].starts_with("host-init: "), "{program}: {lines:?}");
            }
        }
    }
}

#[test]
fn codes_and_deaths_pass_through() {
    let place = Place::new();
    for role in ROLES {
        let end = |words: &[&str]| {
            let start = Start::new(&place, &host_init()).role(role);
            let seen = start.words(words).run();
            assert_eq!(
                (seen.output.as_str(), seen.complaints.as_str()),
                ("", ""),
                "{words:?}"
            );
            seen.end
        };
        let recorder = &place.recorder();
        for code in (0..=255).step_by(5) {
            assert_eq!(end(&[recorder, "exit", &code.to_string()]), End::Code(code));
        }
        for number in [1, 2, 6, 9, 11, 15, 31, 34, 64] {
            let words = [recorder, "signal", &number.to_string()];
            assert_eq!(end(&words), End::Code(128 + number));
        }
    }
}

#[test]
fn an_exit_code_becomes_another() {
    let place = Place::new();
    let recorder = &place.recorder();
    for (flags, code, end) in [
        (&["-e", "7"][..], 7, 0),
        (&["-e", "7"], 8, 8),
        (&["-e7:3"], 7, 3),
        (&["--remap-exit", "7:0"], 7, 0),
        (&["--remap-exit=0:255"], 0, 255),
        (&["-e", "7:3,8:4"], 8, 4),
        (&["-e", "7,8"], 8, 0),
        (&["-e", "7:3", "-e", "8:4"], 7, 3),
        // Once, not again and again; the last counts.
        (&["-e", "7:8,8:9"], 7, 8),
        (&["-e", "7:3", "-e", "7:4"], 7, 4),
        (&["-e", "7:3", "-e", "7"], 7, 0),
        (&["-e", "143:0"], 15 + 128, 0),
    ] {
        let code = &code.to_string();
        let words = [flags, &["--", recorder, "exit", code]].concat();
        assert_eq!(run(&place, &words).end, End::Code(end), "{words:?}");
    }
    let words = ["-e", "143", "--", recorder, "signal", "15"];
    assert_eq!(run(&place, &words).end, End::Code(0));
}

#[test]
fn every_signal_is_forwarded_to_the_command() {
    let mut place = Place::new();
    for role in ROLES {
        for flags in [&[][..], &["-g"], &["-j", "none"], &["-w"]] {
            place.forget();
            let init = recorded(&mut place, &host_init(), role, flags);
            for number in crate::system::signals() {
                if ![libc::SIGKILL, libc::SIGSTOP, libc::SIGCHLD].contains(&number) {
                    init.signal(number);
                    let line = place.told.next();
                    let expected = format!("signal {number} from {}", init.pid_inside());
                    assert_eq!(line, expected, "{role:?} {flags:?}");
                }
            }
        }
    }
}

#[test]
fn a_signal_goes_to_the_command_or_to_its_group() {
    let mut place = Place::new();
    for role in ROLES {
        for (flags, expected) in [
            (&[][..], &["it"][..]),
            (&["-g"], &["it", "member"]),
            (&["--group"], &["it", "member"]),
            (&["-g", "-j", "session"], &["it", "member"]),
            (&["-g", "--job=group"], &["it", "member"]),
            (&["-j", "session"], &["it"]),
            (&["-j", "none"], &["it"]),
        ] {
            place.forget();
            let reached = reached(&mut place, &host_init(), role, flags, None);
            assert_eq!(reached, expected, "{role:?} {flags:?}");
        }
    }
}

#[test]
fn the_command_has_the_session_and_the_group_that_it_was_told() {
    let mut place = Place::new();
    // In the namespace 1 is the parent, 2 host-init, 3 the command.
    for (leads, flags, session, group) in [
        (true, &[][..], "3", "3"),
        (false, &[], "1", "3"),
        (true, &["-j", "session"], "3", "3"),
        (false, &["-j", "session"], "3", "3"),
        (true, &["-j", "group"], "2", "3"),
        (false, &["-j", "group"], "1", "3"),
        (true, &["-j", "none"], "2", "2"),
        (true, &["-j", "session", "-j", "none"], "2", "2"),
    ] {
        place.forget();
        let mut start = Start::new(&place, &host_init());
        start.leads = leads;
        let report = report(&mut place, start, flags);
        let found = (of(&report, "session:"), of(&report, "group:"));
        assert_eq!(found, (session, group), "{leads} {flags:?}");
    }
}

#[test]
fn a_signal_is_forwarded_as_another() {
    let mut place = Place::new();
    for (flags, number, expected) in [
        (&["-r", "TERM:INT"][..], 15, Some(2)),
        (&["-r", "SIGTERM:SIGINT"], 15, Some(2)),
        (&["-r", "15:2"], 15, Some(2)),
        (&["-rTERM:0"], 15, None),
        (&["--rewrite=HUP:USR1,TERM:QUIT"], 15, Some(3)),
        (&["--rewrite", "HUP:USR1,TERM:QUIT"], 1, Some(10)),
        (&["-r", "RTMIN+3:TERM"], 37, Some(15)),
        (&["-r", "TERM:RTMIN+3"], 15, Some(37)),
        (&["-r", "64:34"], 64, Some(34)),
        // Once, not again and again; the last counts.
        (&["-r", "HUP:INT,INT:QUIT"], 1, Some(2)),
        (&["-r", "HUP:INT", "-r", "HUP:QUIT"], 1, Some(3)),
        (&["-r", "HUP:0", "-r", "HUP:HUP"], 1, Some(1)),
        (&["--stop-signal", "USR1"], 15, Some(10)),
        (&["--stop-signal=RTMIN+3"], 15, Some(37)),
        (&["--stop-signal", "USR1"], 1, Some(1)),
    ] {
        place.forget();
        let init = recorded(&mut place, &host_init(), Role::First, flags);
        init.signal(number);
        init.signal(63);
        let mut lines = vec![place.told.next()];
        if expected.is_some() {
            lines.push(place.told.next());
        }
        let expected: BTreeSet<String> = expected
            .into_iter()
            .chain([63])
            .map(|number| format!("signal {number} from 1"))
            .collect();
        assert_eq!(
            lines.into_iter().collect::<BTreeSet<String>>(),
            expected,
            "{flags:?}"
        );
    }
}

#[test]
fn orphans_are_adopted_without_being_asked() {
    let mut place = Place::new();
    let recorder = &place.recorder();
    for flags in [&[][..], &["-s"], &["--subreaper"]] {
        place.forget();
        let words = [flags, &["--", recorder, "orphan"]].concat();
        assert_eq!(run(&place, &words).end, End::Code(0));
        assert_eq!(place.told.next(), "adopted by 2", "{flags:?}");
    }
}

#[test]
fn each_orphan_is_told_of_where_that_is_wanted() {
    let place = Place::new();
    let recorder = &place.recorder();
    for role in ROLES {
        for (flags, is_told) in [
            (&["-w"][..], true),
            (&["--warn-reaped"], true),
            (&[], false),
        ] {
            let words = [flags, &["--", recorder, "reaped"]].concat();
            let start = Start::new(&place, &host_init()).role(role);
            let seen = start.words(&words).run();
            assert_eq!(seen.end, End::Code(0));
            // The middle one of three is the command's to wait for.
            let orphan = if role == Role::First { "4" } else { "5" };
            let lines: Vec<&str> = seen.complaints.lines().collect();
            assert_eq!(lines.len(), usize::from(is_told), "{flags:?}: {lines:?}");
            let words = lines.iter().flat_map(|line| line.split([' ', ':', ',']));
            assert_eq!(
                words.filter(|word| *word == orphan).count(),
                lines.len(),
                "{lines:?}"
            );
        }
    }
}

#[test]
fn what_is_said_is_as_much_as_was_asked_for() {
    let place = Place::new();
    let recorder = &place.recorder();
    let lines = |flags: &[&str], program: &str| {
        let words = [flags, &["--", program, "exit", "9"]].concat();
        let seen = run(&place, &words);
        assert_eq!(seen.output, "", "{flags:?}");
        assert!(
            seen.complaints
                .lines()
                .all(|line| line.starts_with("host-init: "))
        );
        seen.complaints.lines().count()
    };

    assert_eq!(lines(&[], recorder), 0);
    assert_eq!(lines(&["-q"], recorder), 0);
    assert!(lines(&["-v"], recorder) > 0);
    assert!(lines(&["--verbose", "--verbose"], recorder) >= lines(&["-v"], recorder));
    // What is fatal is said at least.
    assert_eq!(lines(&["--quiet"], "/no/such"), 1);
}
