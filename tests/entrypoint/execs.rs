//! Programs that can't be one, and where a program is looked for.

use std::ffi::CString;
use std::fs::File;

use crate::init::{End, Seen};
use crate::peer::{PEERS, Peer};
use crate::start::{ROLES, Role, Start};
use crate::trial::{Trial, trial};

/// How each peer ends when a program is not there, may not be executed, or fails
/// in another way.
const fn ends(peer: Peer) -> [End; 3] {
    match peer {
        Peer::Tini => [End::Code(127), End::Code(126), End::Code(1)],
        Peer::DumbInit => [End::Code(2); 3],
        Peer::Catatonit => [End::Code(1); 3],
    }
}

#[test]
fn a_program_that_cannot_be_one_is_told_by_the_peers_code() {
    for peer in PEERS {
        let [absent, forbidden, other] = ends(peer);
        trial(peer, |trial| {
            let place = trial.place();
            place.write("no-right", "#!/bin/sh\n", 0o644);
            place.write("no-shell", "#!/no/such/shell\n", 0o755);
            place.write("directory/file", "", 0o644);
            place.write("busy", "#!/bin/sh\n", 0o755);
            place.link("loop", &place.path().join("loop"));
            let _busy = File::options().write(true).open(place.of("busy")).unwrap();
            let of = |name: &str| place.of(name);
            let programs = [
                ("no-such-program".to_owned(), absent),
                ("/no/such/program".to_owned(), absent),
                ("./no-such-program".to_owned(), absent),
                (String::new(), absent),
                (of("no-shell"), absent),
                (of("no-right"), forbidden),
                (of("directory"), forbidden),
                ("/".to_owned(), forbidden),
                (of("recorder/below"), other),
                (of("recorder/"), other),
                (of("loop"), other),
                (of(&"x".repeat(256)), other),
                (format!("/{}", "x/".repeat(2_500)), other),
                (of("busy"), other),
            ];
            for role in ROLES {
                for (program, end) in &programs {
                    trial.ends(role, &["--", program, "word"], *end);
                }
            }
        });
    }
}

#[test]
fn a_file_without_an_interpreter_is_a_shells() {
    for peer in PEERS {
        trial(peer, |trial| {
            let place = trial.place();
            place.write("text", "exit $#\n", 0o755);
            place.write("speaks", "echo \"$0\" \"$@\"\n", 0o755);
            place.write("empty", "", 0o755);
            place.write("blank", "\n\n", 0o755);
            place.write("-dash", "exit 4\n", 0o755);
            let of = |name: &str| place.of(name);
            let programs = [
                (vec![of("text")], 0),
                (vec![of("text"), "a".into(), String::new(), "b c".into()], 3),
                (vec![of("speaks"), "a  b".into(), "-c".into()], 0),
                (vec![of("empty"), "word".into()], 0),
                (vec![of("blank")], 0),
                (vec![of("-dash")], 4),
            ];
            for role in ROLES {
                for (words, code) in &programs {
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let words = [&["--"], words.as_slice()].concat();
                    trial.ends(role, &words, End::Code(*code));
                }
            }
        });
    }
}

/// Runs a program with a `PATH` of its own, or without one.
fn look(trial: &mut Trial, path: Option<&str>, program: &str) -> Option<Seen> {
    let path = path.map(|path| CString::new(format!("PATH={path}")).unwrap());
    trial.same(&format!("{path:?} {program}"), |place, init| {
        Start::new(place, init)
            .environment(path.iter().cloned().collect())
            .words(&["--", program, "exit", "9"])
            .run()
    })
}

#[test]
fn a_program_is_looked_for_as_the_c_library_does() {
    for peer in PEERS {
        let [absent, forbidden, other] = ends(peer);
        trial(peer, |trial| {
            let place = trial.place();
            place.write("no-right/recorder-found", "#!/bin/sh\n", 0o644);
            place.write("script/recorder-found", "exit 5\n", 0o755);
            place.write("no-shell/recorder-found", "#!/no/such\n", 0o755);
            place.write("directory/recorder-found/file", "", 0o644);
            place.link("good/recorder-found", &place.path().join("recorder"));
            place.link("good/told", &place.path().join("told"));
            place.link("recorder-found", &place.path().join("recorder"));
            let at = |name: &str| place.of(name);
            let (good, long) = (at("good"), format!("/{}", "x".repeat(5_000)));
            let (no_right, file) = (at("no-right"), at("recorder"));
            let cases = [
                (good.clone(), End::Code(9)),
                (format!("{no_right}:{good}"), End::Code(9)),
                (format!("{}:{good}", at("directory")), End::Code(9)),
                (format!("{}:{good}", at("no-shell")), End::Code(9)),
                (format!("/no/such:{file}:{good}"), End::Code(9)),
                (format!("{long}:{good}"), End::Code(9)),
                (format!("{}/://{good}//", at("nothing")), End::Code(9)),
                // In the working directory.
                (String::new(), End::Code(9)),
                (":/no/such".to_owned(), End::Code(9)),
                ("/no/such::/nor/such".to_owned(), End::Code(9)),
                ("/no/such:".to_owned(), End::Code(9)),
                (".".to_owned(), End::Code(9)),
                ("good".to_owned(), End::Code(9)),
                // By a shell.
                (format!("{}:{good}", at("script")), End::Code(5)),
                // Nowhere; one that may not be is stronger than none.
                ("/no/such".to_owned(), absent),
                (file.clone(), other),
                (format!("{file}:/no/such"), absent),
                (no_right.clone(), forbidden),
                (format!("{no_right}:/no/such"), forbidden),
                (format!("/no/such:{no_right}:{file}"), forbidden),
                (format!("{}:/no/such", at("no-shell")), absent),
            ];
            for (path, end) in cases {
                let seen = look(trial, Some(&path), "recorder-found");
                assert_eq!(seen.map(|seen| seen.end), Some(end), "{path}");
            }
            // A name with a slash in it is a path.
            for (program, end) in [
                ("good/recorder-found", End::Code(9)),
                ("./recorder-found", End::Code(9)),
                ("good/../script/recorder-found", End::Code(5)),
            ] {
                let seen = look(trial, Some("/no/such"), program);
                assert_eq!(seen.map(|seen| seen.end), Some(end), "{program}");
            }
        });
    }
}

#[test]
fn without_a_path_programs_are_where_the_c_library_says() {
    for peer in PEERS {
        let [absent, ..] = ends(peer);
        trial(peer, |trial| {
            // Of these two, `exit` and 9 are names of no files.
            for (program, end) in [("true", End::Code(0)), ("recorder", absent)] {
                let seen = look(trial, None, program);
                assert_eq!(seen.map(|seen| seen.end), Some(end), "{program}");
            }
        });
    }
}

#[test]
fn the_first_of_two_paths_counts() {
    for peer in PEERS {
        trial(peer, |trial| {
            let recorder = trial.place().of("");
            let paths = [format!("PATH={recorder}"), "PATH=/no/such".to_owned()];
            let paths = paths.map(|path| CString::new(path).unwrap());
            trial.both("two paths", &End::Code(9), |place, program| {
                let start = Start::new(place, program).role(Role::First);
                let start = start.environment(paths.to_vec());
                start.words(&["--", "recorder", "exit", "9"]).run().end
            });
        });
    }
}
