//! Command lines, as people write them.

use std::ffi::CString;

use super::*;
use crate::policy::entrypoint::Rewrites;

/// What a command line and an environment come to.
fn parse<R>(
    line: &str,
    environment: &[&str],
    look: impl FnOnce(Result<Options<'_>, Error<'_>>) -> R,
) -> R {
    let words: Vec<CString> = line
        .split(' ')
        .map(|word| CString::new(word.replace('_', " ").trim()).unwrap())
        .collect();
    let environment: Vec<CString> = environment
        .iter()
        .map(|entry| CString::new(*entry).unwrap())
        .collect();
    let persona = persona::by_name(words[0].to_bytes());
    look(Options::parse(
        persona,
        words.iter().map(CString::as_c_str),
        environment.iter().map(CString::as_c_str),
    ))
}

/// Options of a line that is right.
fn right<R>(line: &str, environment: &[&str], look: impl FnOnce(Options<'_>) -> R) -> R {
    parse(line, environment, |options| {
        look(options.unwrap_or_else(|error| panic!("{line}: {error:?}")))
    })
}

/// Where the command begins.
fn command(line: &str) -> usize {
    right(line, &[], |options| options.command)
}

/// That the line is wrong.
fn wrong(line: &str) {
    parse(line, &[], |options| assert!(options.is_err(), "{line}"));
}

#[test]
fn options_end_at_the_first_word_that_is_none_or_at_two_dashes() {
    for (line, at) in [
        ("host-init", 1),
        ("host-init cmd -g", 1),
        ("host-init -g cmd --wait", 2),
        ("host-init -g -- -g", 3),
        ("host-init --", 2),
        ("host-init -", 1),
        ("host-init -gwv cmd", 2),
        ("host-init -e143 cmd", 2),
        ("host-init -e 143 cmd", 3),
        ("host-init -ge 143 cmd", 3),
        ("host-init --kill-after 5s cmd", 3),
        ("host-init --kill-after=5s cmd", 2),
        ("tini -g -- cmd", 3),
        ("tini cmd -- -g", 1),
        ("dumb-init --sing -r 15:2 cmd", 4),
        ("catatonit -g cmd -c", 2),
        ("/sbin/docker-init -- cmd", 2),
    ] {
        assert_eq!(command(line), at, "{line}");
    }
}

#[test]
fn each_name_has_its_own_options() {
    for line in [
        "host-init -Z cmd",
        "host-init --kill cmd",
        "host-init --group=1 cmd",
        "host-init -k cmd",
        "host-init -k",
        "host-init --kill-after",
        "tini --help",
        "tini --version cmd",
        "tini -V",
        "tini -c cmd",
        "tini -e",
        "dumb-init -g cmd",
        "dumb-init --ver cmd",
        "catatonit --help",
        "catatonit -e 1 cmd",
        "podman-init -s cmd",
    ] {
        wrong(line);
    }
}

#[test]
fn a_value_that_is_none_is_refused() {
    for value in [
        "-k 5m",
        "-k -1",
        "-k 366d",
        "-j tty",
        "-p TERMINATE",
        "-p 0",
    ] {
        wrong(&format!("host-init {value} cmd"));
    }
    for value in [
        "-r 15",
        "-r 15:99",
        "-r 0:15",
        "-r 15:",
        "-r TERM:INT,",
        "-r :",
    ] {
        wrong(&format!("host-init {value} cmd"));
    }
    for value in ["-e 256", "-e -1", "-e +1", "-e 1:256", "-e 1:", "-e x"] {
        wrong(&format!("host-init {value} cmd"));
    }
    for value in ["-E NAME", "-E =value", "--unset-env A=b"] {
        wrong(&format!("host-init {value} cmd"));
    }
    for value in [
        "-p TERM",
        "-p 15",
        "-p SIGIO",
        "-p SIGPWR",
        "-p SIGRTMIN",
        "-e 1:2",
    ] {
        wrong(&format!("tini {value} cmd"));
    }
    for value in [
        "-r 32:1",
        "-r 1:32",
        "-r 0:1",
        "-r TERM:INT",
        "-r 1",
        "-r 1:",
    ] {
        wrong(&format!("dumb-init {value} cmd"));
    }
}

#[test]
fn what_options_ask_for_is_in_the_rules() {
    right(
        "host-init -g -j none --stop-signal INT -k 250ms --wait -e 3,5:6 -p HUP -u a:b -C /d -w -v -q -v cmd",
        &[],
        |options| {
            let rules = options.rules;
            assert_eq!(rules.target, Target::Group);
            assert_eq!(options.job, Some(Job::Shared));
            assert_eq!(rules.rewrites.get(Signal::TERM), Some(Signal::INT));
            assert_eq!(rules.stop_signal, Some(Signal::INT));
            assert_eq!(
                rules.kill_after,
                Some(core::time::Duration::from_millis(250))
            );
            assert_eq!(rules.others, Others::Stopped);
            assert_eq!([3, 5, 7].map(|code| rules.codes.get(code)), [0, 6, 7]);
            assert_eq!(options.parent_death, Some(Signal::HUP));
            assert_eq!(options.user, Some(c"a:b"));
            assert_eq!(options.directory, Some(c"/d"));
            assert!(options.warns_of_reaped);
            assert_eq!(options.verbosity, 1);
        },
    );
}

#[test]
fn a_rewrite_of_term_is_stronger_than_the_stop_signal() {
    right(
        "host-init --stop-signal INT -r TERM:QUIT cmd",
        &[],
        |options| {
            assert_eq!(options.rules.rewrites.get(Signal::TERM), Some(Signal::QUIT));
        },
    );
}

#[test]
fn variables_are_options_and_the_command_line_is_stronger() {
    let environment = [
        "HOST_INIT_KILL_AFTER=7s",
        "HOST_INIT_GROUP=1",
        "HOST_INIT_WAIT=no",
        "HOST_INIT_ENV=A=b",
        "HOST_INIT_GROUPS=1",
        "HOST_INIT_VERBOSE=",
        "HOST_INIT_REWRITE=15:3,1:0",
        "no entry",
    ];
    right("host-init -k 5 cmd", &environment, |options| {
        let rules = options.rules;
        assert_eq!(rules.kill_after, Some(core::time::Duration::from_secs(5)));
        assert_eq!(rules.target, Target::Group);
        assert_eq!(rules.others, Others::Left);
        assert!(!options.changes_environment);
        assert_eq!(options.verbosity, 1);
        assert_eq!(rules.rewrites.get(Signal::TERM), Some(Signal::QUIT));
        assert_eq!(rules.rewrites.get(Signal::HUP), None);
    });
    parse("host-init cmd", &["HOST_INIT_JOB=x"], |options| {
        assert!(matches!(
            options,
            Err(Error::BadVariable(
                Flag {
                    wish: Wish::Job,
                    ..
                },
                b"x"
            ))
        ));
    });
}

#[test]
fn the_peers_variables_count_as_theirs_do() {
    let tinis = [
        "TINI_SUBREAPER=",
        "TINI_KILL_PROCESS_GROUP",
        "TINI_VERBOSITY=3x",
    ];
    right("tini -vv cmd", &tinis, |options| {
        assert_eq!(options.subreaper, Subreaper::Needed);
        // An entry that is no entry is not set.
        assert_eq!(options.rules.target, Target::Command);
        assert_eq!(options.verbosity, 3);
    });
    for (variable, job) in [
        ("DUMB_INIT_SETSID=0", Job::Shared),
        ("DUMB_INIT_SETSID=", Job::Session),
        ("DUMB_INIT_SETSID=00", Job::Session),
    ] {
        right("dumb-init cmd", &[variable], |options| {
            assert_eq!(options.job, Some(job), "{variable}");
        });
    }
    parse("catatonit cmd", &["CATATONIT_LOG="], |options| {
        assert!(matches!(options, Err(Error::Reserved(b"CATATONIT_LOG"))));
    });
    right("tini cmd", &["HOST_INIT_GROUP=1"], |options| {
        assert_eq!(options.rules.target, Target::Command);
    });
}

#[test]
fn dumb_inits_session_turns_what_a_key_stops_into_stop_unless_told_otherwise() {
    let stopped = |rewrites: &Rewrites| {
        [Signal::TSTP, Signal::TTIN, Signal::TTOU].map(|signal| rewrites.get(signal))
    };
    right("dumb-init -r 20:0 -r 15:3junk cmd", &[], |options| {
        let rewrites = &options.rules.rewrites;
        assert_eq!(
            stopped(rewrites),
            [None, Some(Signal::STOP), Some(Signal::STOP)]
        );
        assert_eq!(rewrites.get(Signal::TERM), Some(Signal::QUIT));
        assert_eq!(options.rules.target, Target::Group);
    });
    right("dumb-init -c cmd", &[], |options| {
        let [tstp, ..] = stopped(&options.rules.rewrites);
        assert_eq!(tstp, Some(Signal::TSTP));
        assert_eq!(options.rules.target, Target::Command);
        assert_eq!(options.rules.others, Others::Told);
    });
}

#[test]
fn whoever_asks_for_the_help_need_not_be_right_about_the_rest() {
    for (line, print) in [
        ("host-init -h -k x", Print::Help),
        ("host-init --version --bogus", Print::Version),
        ("tini --version", Print::Version),
        ("docker-init -l", Print::License),
        ("dumb-init --he", Print::Help),
        ("catatonit -L", Print::License),
    ] {
        right(line, &[], |options| {
            assert_eq!(options.print, Some(print), "{line}");
        });
    }
    right("host-init cmd --help", &[], |options| {
        assert_eq!(options.print, None);
    });
}

#[test]
fn a_config_is_for_who_has_no_command() {
    right(
        "host-init --config /c",
        &["HOST_INIT_CONFIG=/d"],
        |options| {
            assert_eq!(options.config, Some(c"/c"));
        },
    );
    right("host-init cmd", &["HOST_INIT_CONFIG=/d"], |options| {
        assert_eq!(options.config, None);
    });
    wrong("host-init --config /c cmd");
}

#[test]
fn the_help_names_every_option() {
    for flag in own::FLAGS {
        let long = flag.long.unwrap();
        let line = match flag.short {
            Some(short) => format!("  -{short}, --{long}"),
            None => format!("      --{long}"),
        };
        assert!(own::HELP.contains(&line), "{line}");
    }
    assert!(own::HELP.lines().all(|line| line.len() <= 80));
}

#[test]
fn no_command_line_is_too_strange() {
    use proptest::prelude::*;
    let word = prop_oneof![
        Just("-".to_owned()),
        Just("--".to_owned()),
        "-[a-zA-Z-]{1,4}",
        "--[a-z-]{0,12}=?[a-z0-9:]{0,4}",
        "[a-z0-9:,=]{0,6}",
        "\\PC{0,8}",
    ];
    let name = prop_oneof![
        Just("host-init"),
        Just("tini"),
        Just("dumb-init"),
        Just("catatonit")
    ];
    proptest!(|(name in name, words in prop::collection::vec(word, 0..8))| {
        let words: Vec<CString> = std::iter::once(name.to_owned())
            .chain(words)
            .map(|word| CString::new(word.replace('\0', "")).unwrap())
            .collect();
        let persona = persona::by_name(name.as_bytes());
        let count = words.len();
        let words = words.iter().map(CString::as_c_str);
        if let Ok(options) = Options::parse(persona, words, std::iter::empty()) {
            prop_assert!(options.print.is_some() || (1..=count).contains(&options.command));
        }
    });
}
