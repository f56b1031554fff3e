//! The client's verbs, where PID 1 is another init: nothing is signalled, nothing is
//! changed, and what is wrong is said.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_host-init"))
        .args(words)
        .output()
        .unwrap()
}

#[track_caller]
fn is_refused(words: &[&str], code: i32, said: &str) {
    let output = run(words);
    assert_eq!(String::from_utf8_lossy(&output.stderr), said);
    assert_eq!(output.status.code(), Some(code), "{words:?}");
}

#[test]
fn what_only_host_init_knows_is_asked_of_nobody_else() {
    for verb in ["confirm", "clear", "restart"] {
        is_refused(
            &[verb],
            1,
            &format!("host-init: {verb}: PID 1 is not host-init\n"),
        );
    }
}

#[test]
fn a_verb_that_is_asked_for_help_has_it_and_does_nothing() {
    for (verb, usage) in [
        ("check", "host-init check FILE...\n"),
        ("confirm", "host-init confirm\n"),
        ("clear", "host-init clear\n"),
        ("restart", "host-init restart\n"),
        ("switch", "host-init switch [--config FILE] VERSION\n"),
    ] {
        for word in ["--help", "-h"] {
            let output = run(&[verb, word]);

            let said = String::from_utf8(output.stdout).unwrap();
            assert!(said.trim_start().starts_with(usage), "{said}");
            assert_eq!(said.lines().count(), 2, "{said}");
            assert!(output.stderr.is_empty());
            assert_eq!(output.status.code(), Some(0), "{verb} {word}");
        }
    }
}

#[test]
fn a_switch_says_what_is_missing_and_changes_nothing_for_another_init() {
    let usage = "host-init: switch: expected [--config FILE] and the name of a version\n";
    for words in [
        &["switch"][..],
        &["switch", "--config"],
        &["switch", "1", "2"],
        &["switch", "a/b"],
        &["switch", ".."],
        &["switch", "--force"],
    ] {
        is_refused(words, 2, usage);
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("switch");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    let config = directory.join("config.toml");
    let named = config.to_str().unwrap();
    let missing = format!("host-init: read {named}: no such file or directory\n");
    is_refused(&["switch", "--config", named, "2"], 2, &missing);

    fs::write(&config, "[host]\ncommand = [\"/bin/true\"]\n").unwrap();
    let nothing = "host-init: switch: the config has no host.current\n";
    is_refused(&["switch", "--config", named, "2"], 2, nothing);

    let link = directory.join("current");
    fs::create_dir(directory.join("2")).unwrap();
    symlink("1", &link).unwrap();
    let text = format!(
        "[host]\ncommand = [\"/bin/true\"]\nstart-limit = 3\ncurrent = \"{}\"\n",
        link.display()
    );
    fs::write(&config, text).unwrap();
    let stranger = "host-init: switch: PID 1 is not host-init\n";
    is_refused(&["switch", "--config", named, "2"], 1, stranger);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("1"));
}
