//! The command lines of the peers: every flag, and what is none.

use crate::init::End;
use crate::peer::Peer;
use crate::start::{ROLES, Role, Start};
use crate::trial::{Trial, trial};

/// Runs a program that ends with 9 behind each of these flags.
fn take(trial: &mut Trial, all: &[&[&str]], end: End) {
    let recorder = &trial.place().recorder();
    for role in ROLES {
        for flags in all {
            let words = [*flags, &["--", recorder, "exit", "9"]].concat();
            trial.ends(role, &words, end);
        }
    }
}

#[test]
fn every_flag_of_tini_is_taken() {
    trial(Peer::Tini, |trial| {
        let all: &[&[&str]] = &[
            &[],
            &["-s"],
            &["-g"],
            &["-w"],
            &["-v"],
            &["-vv"],
            &["-vvv"],
            &["-vvvv"],
            &["-v", "-v", "-v", "-v", "-v"],
            &["-wvv"],
            &["-p", "SIGKILL"],
            &["-pSIGTERM"],
            &["-p", "SIGKILL", "-p", "SIGHUP"],
            &["-e", "3"],
            &["-e3", "-e", "5"],
            &["-e", "255"],
            &["-gv"],
            &["-gwsv"],
            &["-ge143"],
            &["-svvge", "7"],
            &["-vpSIGINT"],
            // What strtol(3) makes of it, and an empty number is 0.
            &["-e", ""],
            &["-e", " 7"],
            &["-e", "+7"],
            &["-e", "007"],
        ];
        take(trial, all, End::Code(9));
        let mapped: &[&[&str]] = &[&["-e", "9"], &["-e9"], &["-e", "1", "-e", "9"], &["-ve009"]];
        take(trial, mapped, End::Code(0));
    });
}

#[test]
fn every_flag_of_dumb_init_is_taken() {
    trial(Peer::DumbInit, |trial| {
        let all: &[&[&str]] = &[
            &[],
            &["-c"],
            &["--single-child"],
            &["-v"],
            &["--verbose"],
            &["-cv"],
            &["-vc"],
            &["-r", "15:2"],
            &["-r15:2"],
            &["--rewrite", "15:2"],
            &["--rewrite=15:2"],
            &["-cvr", "15:0"],
            &["-r", "1:2", "-r", "1:3", "-r", "2:31"],
            // The beginning of a long name, as far as it is only one.
            &["--single"],
            &["--s"],
            &["--rew=1:2"],
            &["--verb"],
            // What scanf(3) makes of it.
            &["-r", "15:3junk"],
            &["-r", " 15:\t3"],
            &["-r", "+15:+3"],
            &["-r", "015:003"],
        ];
        take(trial, all, End::Code(9));
    });
}

#[test]
fn every_flag_of_catatonit_is_taken() {
    trial(Peer::Catatonit, |trial| {
        take(
            trial,
            &[&[], &["-g"], &["-gg"], &["-g", "-g"]],
            End::Code(9),
        );
    });
}

#[test]
fn a_flag_that_is_none_of_tinis_is_refused() {
    trial(Peer::Tini, |trial| {
        let recorder = &trial.place().recorder();
        for flags in [
            &["-x"][..],
            &["-c"],
            &["-V"],
            &["-L"],
            &["-P"],
            &["-r", "1:2"],
            &["-gx"],
            &["--help"],
            &["--verbose"],
            &["--group"],
            &["--job", "none"],
            &["-j", "none"],
            // The version only when there is nothing else.
            &["--version"],
            &["-v", "--version"],
            &["--versio"],
            &["--version=1"],
        ] {
            let words = [flags, &[recorder, "exit", "9"]].concat();
            trial.speaks(&words, End::Code(1), false, true);
        }
        // Nothing to run, or nothing for an option to take.
        for words in [
            &[][..],
            &["--"],
            &["-g"],
            &["-g", "--"],
            &["-e"],
            &["-p"],
            &["-ge"],
            &["-"],
        ] {
            let end = if words == ["-"] { 127 } else { 1 };
            trial.speaks(words, End::Code(end), false, true);
        }
    });
}

#[test]
fn a_value_that_is_none_of_tinis_is_refused() {
    trial(Peer::Tini, |trial| {
        let recorder = &trial.place().recorder();
        for flags in [
            ["-e", "256"],
            ["-e", "-1"],
            ["-e", "x"],
            ["-e", "7x"],
            ["-e", "7 "],
            ["-e", "0x7"],
            ["-e", "99999999999999999999"],
            ["-e", "--"],
            ["-p", "TERM"],
            ["-p", "sigterm"],
            ["-p", "15"],
            ["-p", "SIGRTMIN"],
            ["-p", "SIGRTMIN+3"],
            ["-p", "SIGSTKFLT"],
            ["-p", "SIGIO"],
            ["-p", "SIGPWR"],
            ["-p", "SIGTERM "],
            ["-p", ""],
        ] {
            let words = [&flags[..], &["--", recorder, "exit", "9"]].concat();
            for role in ROLES {
                trial.ends(role, &words, End::Code(1));
            }
        }
    });
}

#[test]
fn every_name_that_tini_has_for_a_signal_is_taken() {
    trial(Peer::Tini, |trial| {
        let recorder = &trial.place().recorder();
        for name in [
            "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
            "USR2", "PIPE", "ALRM", "TERM", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
            "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "SYS",
        ] {
            let name = format!("SIG{name}");
            let words = ["-s", "-p", &name, "--", recorder, "exit", "9"];
            trial.ends(Role::Ordinary, &words, End::Code(9));
        }
    });
}

#[test]
fn a_flag_that_is_none_of_dumb_inits_is_refused() {
    trial(Peer::DumbInit, |trial| {
        let recorder = &trial.place().recorder();
        for flags in [
            &["-x"][..],
            &["-g"],
            &["-s"],
            &["-e", "3"],
            &["-P"],
            &["-cx"],
            &["--group"],
            &["--ver"],
            &["--single-children"],
            &["--single-child=1"],
            &["--verbose=1"],
            &["-r", "0:1"],
            &["-r", "32:1"],
            &["-r", "1:32"],
            &["-r", "1:-1"],
            &["-r", "-1:1"],
            &["-r", "1"],
            &["-r", "1:"],
            &["-r", ":1"],
            &["-r", "1,2"],
            &["-r", "1 :2"],
            &["-r", ""],
            &["-r", "TERM:INT"],
            &["-r", "15:INT"],
            &["-r", "34:1"],
        ] {
            let words = [flags, &[recorder, "exit", "9"]].concat();
            trial.speaks(&words, End::Code(1), false, true);
        }
        for words in [
            &[][..],
            &["--"],
            &["-c"],
            &["-c", "--"],
            &["-r"],
            &["--rewrite"],
            &["-cr"],
        ] {
            trial.speaks(words, End::Code(1), false, true);
        }
    });
}

#[test]
fn a_flag_that_is_none_of_catatonits_is_refused() {
    trial(Peer::Catatonit, |trial| {
        let recorder = &trial.place().recorder();
        for flags in [
            &["-x"][..],
            &["-v"],
            &["-c"],
            &["-s"],
            &["-e", "3"],
            &["-r", "1:2"],
            &["-gx"],
            &["--help"],
            &["--group"],
            &["--version=1"],
        ] {
            let words = [flags, &[recorder, "exit", "9"]].concat();
            trial.speaks(&words, End::Code(1), false, true);
        }
        for words in [&[][..], &["--"], &["-g"], &["-g", "--"]] {
            trial.speaks(words, End::Code(1), false, true);
        }
    });
}

#[test]
fn each_help_comes_on_the_stream_of_the_peers() {
    trial(Peer::Tini, |trial| {
        for words in [&["-h"][..], &["-gh"], &["-h", "-x"], &["-l"], &["-hl"]] {
            trial.speaks(words, End::Code(0), true, false);
        }
    });
    trial(Peer::DumbInit, |trial| {
        for words in [
            &["-h"][..],
            &["--help"],
            &["--hel"],
            &["-ch"],
            &["-V"],
            &["--version"],
            &["--vers"],
            &["-h", "-x"],
            &["-V", "-x"],
        ] {
            trial.speaks(words, End::Code(0), false, true);
        }
    });
    trial(Peer::Catatonit, |trial| {
        for words in [&["-h"][..], &["-gh"], &["-h", "-x"]] {
            trial.speaks(words, End::Code(0), false, true);
        }
        for words in [&["-L"][..], &["-V"], &["--version"], &["--vers"], &["-gV"]] {
            trial.speaks(words, End::Code(0), true, false);
        }
    });
}

/// How dockerd reads it: a name, a number, and what is behind ` - `.
fn is_version_of_tini(line: &str) -> bool {
    line.strip_suffix('\n')
        .and_then(|line| line.strip_prefix("tini version "))
        .is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

#[test]
fn a_version_is_what_engines_read() {
    for (peer, words) in [
        (Peer::Tini, "--version"),
        (Peer::Catatonit, "-V"),
        (Peer::Catatonit, "--version"),
    ] {
        trial(peer, |trial| {
            for role in ROLES {
                trial.both(words, &(End::Code(0), true, ""), |place, program| {
                    let seen = Start::new(place, program).role(role).words(&[words]).run();
                    let complaints = if seen.complaints.is_empty() {
                        ""
                    } else {
                        "some"
                    };
                    (seen.end, is_version_of_tini(&seen.output), complaints)
                });
            }
        });
    }
    trial(Peer::DumbInit, |trial| {
        for words in ["-V", "--version"] {
            trial.both(words, &(End::Code(0), true), |place, program| {
                let seen = Start::new(place, program).words(&[words]).run();
                let line = seen.complaints.strip_prefix("dumb-init v");
                (seen.end, line.is_some_and(|rest| rest.ends_with('\n')))
            });
        }
    });
}

#[test]
fn what_is_behind_the_program_is_the_programs() {
    for peer in [Peer::Tini, Peer::DumbInit, Peer::Catatonit] {
        trial(peer, |trial| {
            let recorder = &trial.place().recorder();
            for role in ROLES {
                for words in [
                    &["--", recorder, "exit", "9", "-h"][..],
                    &["--", recorder, "exit", "9", "--version"],
                    &["--", recorder, "exit", "9", "--", "-x"],
                    &[recorder, "exit", "9", "more"],
                    // The first ends the options, the second is a word.
                    &[recorder, "exit", "9", "--", "-x"],
                ] {
                    trial.ends(role, words, End::Code(9));
                }
            }
        });
    }
    // It never looked behind the program.
    trial(Peer::DumbInit, |trial| {
        let recorder = &trial.place().recorder();
        for words in [
            &[recorder, "exit", "9", "-h"][..],
            &["-c", recorder, "exit", "9", "-x"],
        ] {
            trial.ends(Role::Ordinary, words, End::Code(9));
        }
    });
}
