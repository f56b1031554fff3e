//! The options in docs/entrypoint.md are those of `host-init --help`.

use std::process::Command;

const DOCUMENT: &str = include_str!("../docs/entrypoint.md");

/// The options that the program's help names, each as `-g`, `--group` with its value.
fn helped() -> Vec<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_host-init"))
        .arg("--help")
        .output()
        .unwrap();
    assert!(help.status.success());
    String::from_utf8(help.stdout)
        .unwrap()
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
