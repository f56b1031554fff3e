//! The options in docs/entrypoint.md are those of `host-init --help`.

use std::process::Command;

const DOCUMENT: &str = include_str!("../docs/entrypoint.md");

const HOST_INIT: &str = env!("CARGO_BIN_EXE_host-init");

/// What the program's help says.
fn help() -> String {
    let help = Command::new(HOST_INIT).arg("--help").output().unwrap();
    assert!(help.status.success());
    String::from_utf8(help.stdout).unwrap()
}

/// The options that the help names, each as `-g`, `--group` with its value.
fn helped() -> Vec<String> {
    help()
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('-'))
        .map(|line| match line.split_once(", ") {
            Some((short, long)) => format!("| `{short}`, `{long}` |"),
            None => format!("| `{line}` |"),
        })
        .collect()
}

/// The options of the document's table.
fn documented() -> Vec<String> {
    DOCUMENT
        .lines()
        .filter(|line| line.starts_with("| `-"))
        .map(|line| format!("|{}|", line.split('|').nth(1).unwrap()))
        .collect()
}

#[test]
fn the_document_has_every_option_of_the_help_and_no_other() {
    let helped = helped();

    assert!(helped.len() > 10, "{helped:?}");
    assert_eq!(documented(), helped);
}

#[test]
fn the_document_has_every_first_word_that_is_no_program() {
    let help = help();
    let verbs: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  host-init "))
        .filter_map(|usage| usage.split(' ').next())
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect();
    let told = DOCUMENT
        .split("\n\n")
        .find(|paragraph| paragraph.starts_with("Five first words"))
        .unwrap();

    assert_eq!(verbs.len(), 5, "{verbs:?}");
    for verb in verbs {
        assert!(told.contains(&format!("`{verb}`")), "{verb}");
        // As the document says: behind `--` and behind an option it is a program.
        for before in ["--", "-g"] {
            let mut host_init = Command::new(HOST_INIT);
            host_init.args([before, verb]).env("PATH", "/no/such");
            assert_eq!(
                host_init.output().unwrap().status.code(),
                Some(127),
                "{verb}"
            );
        }
    }
}
