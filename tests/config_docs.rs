//! `docs/config.md`, held against the table of keys that the parser uses.

use std::collections::BTreeSet;

use host_init::format::config::keys::{KEYS, Key, Kind, Table, WORDS, Words};
use host_init::format::config::parse;

const DOCS: &str = include_str!("../docs/config.md");

/// The errors of a text, one a line.
fn errors(text: &str) -> String {
    let mut said = String::new();
    parse(text.as_bytes(), &mut vec![0; text.len()], &mut |error| {
        said += &format!("{error}\n");
    });
    said
}

/// A small config that is right and has the key set to a value.
fn set(key: &Key, value: &str) -> String {
    let assignment = format!("{} = {value}\n", key.name);
    let others = |rest: &[&str]| {
        let lines = rest
            .iter()
            .filter(|line| !line.starts_with(&format!("{} ", key.name)));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    match key.table {
        Table::Root => assignment,
        Table::Mount => {
            let rest = ["source = \"a\"", "target = \"/a\"", "type = \"a\""];
            format!("[[mount]]\n{}{assignment}", others(&rest))
        }
        Table::Directory => format!("[[directory]]\n{}{assignment}", others(&["path = \"/a\""])),
        Table::Host => {
            // Some mean nothing while failures are not counted.
            let rest = [
                "command = [\"/a\"]",
                "start-limit = 5",
                "ready = \"notify\"",
            ];
            format!("[host]\n{}{assignment}", others(&rest))
        }
        Table::Environment => format!("[host.environment]\n{assignment}"),
        Table::Shutdown => format!("[shutdown]\n{assignment}"),
        Table::Signals => format!("[signals]\n{assignment}"),
    }
}

fn is_literal(default: &str) -> bool {
    default.starts_with(['"', '0']) || matches!(default, "true" | "false")
}

/// The line of a key in the document.
fn row(key: &Key, words: &Words) -> String {
    let default = if is_literal(words.default) {
        format!("`{}`", words.default)
    } else {
        words.default.to_owned()
    };
    format!(
        "| `{}` | {} | {default} | {} | `{}` |",
        key.path(),
        key.kind.word(),
        words.meaning,
        words.example
    )
}

#[test]
fn every_key_has_its_line_and_there_are_no_others() {
    let expected: BTreeSet<String> = KEYS
        .iter()
        .zip(&WORDS)
        .map(|(key, words)| row(key, words))
        .collect();
    let written: BTreeSet<String> = DOCS
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(str::to_owned)
        .collect();

    let missing: Vec<_> = expected.difference(&written).map(String::as_str).collect();
    let foreign: Vec<_> = written.difference(&expected).map(String::as_str).collect();
    assert!(
        missing.is_empty() && foreign.is_empty(),
        "missing:\n{}\nnot in the table of keys:\n{}",
        missing.join("\n"),
        foreign.join("\n")
    );
}

#[test]
fn every_key_is_under_the_heading_of_its_table() {
    let mut heading = "";
    for line in DOCS.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title;
        }
        let Some(path) = line
            .strip_prefix("| `")
            .and_then(|rest| rest.split('`').next())
        else {
            continue;
        };
        let key = KEYS
            .iter()
            .find(|key| key.path().to_string() == path)
            .unwrap();
        let table = match key.table {
            Table::Root => "Top level",
            Table::Mount => "`[[mount]]`",
            Table::Directory => "`[[directory]]`",
            Table::Host | Table::Environment => "`[host]`",
            Table::Shutdown => "`[shutdown]`",
            Table::Signals => "`[signals]`",
        };
        assert_eq!(heading, table, "{path}");
    }
}

#[test]
fn every_type_in_the_document_is_explained() {
    for key in &KEYS {
        let word = key.kind.word();
        let is_plain = matches!(word, "table" | "array of tables" | "array of strings");
        let is_plain = is_plain || matches!(word, "string" | "boolean" | "integer");

        assert!(
            is_plain || DOCS.contains(&format!("\n- **{word}**")),
            "{word}"
        );
    }
}

#[test]
fn the_example_at_the_head_is_right_and_has_every_table() {
    let example = DOCS
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();

    assert_eq!(errors(example), "");
    let mut arena = vec![0; example.len()];
    let config = parse(example.as_bytes(), &mut arena, &mut |_| ()).unwrap();
    assert!(!config.mounts.is_empty() && !config.directories.is_empty());
    assert!(config.host.is_some_and(|host| !host.environment.is_empty()));
    for header in ["[shutdown]", "[signals]"] {
        assert!(example.contains(header));
    }
}

#[test]
fn every_other_piece_of_toml_in_the_document_is_right() {
    for piece in DOCS.split("```toml\n").skip(1) {
        let piece = piece.split("```").next().unwrap();

        assert_eq!(errors(piece), "", "{piece}");
    }
}

#[test]
fn every_example_is_right() {
    for (key, words) in KEYS.iter().zip(&WORDS) {
        let text = set(key, words.example);

        assert_eq!(errors(&text), "", "{text}");
    }
}

#[test]
fn writing_the_default_down_changes_nothing() {
    for (key, words) in KEYS.iter().zip(&WORDS) {
        assert_eq!(
            key.is_required,
            words.default == "required",
            "{}",
            key.path()
        );
        if !is_literal(words.default) {
            continue;
        }
        let with = set(key, words.default);
        let without = with.rsplit_once(&format!("{} = ", key.name)).unwrap().0;
        let example = set(key, words.example);
        let (mut one, mut other, mut third) = ([0; 200], [0; 200], [0; 200]);

        let with = parse(with.as_bytes(), &mut one, &mut |error| panic!("{error}"));
        let without = parse(without.as_bytes(), &mut other, &mut |error| {
            panic!("{error}")
        });
        let example = parse(example.as_bytes(), &mut third, &mut |error| {
            panic!("{error}")
        });

        assert_eq!(with, without, "{}", key.path());
        assert_ne!(
            with,
            example,
            "the example of {} is its default",
            key.path()
        );
    }
}

#[test]
fn a_required_key_that_is_missing_is_named() {
    for (key, words) in KEYS.iter().zip(&WORDS).filter(|(key, _)| key.is_required) {
        let whole = set(key, words.example);
        let without = whole.rsplit_once(&format!("{} = ", key.name)).unwrap().0;

        let said = errors(without);

        assert!(
            said.contains(&format!("{}: missing; expected", key.name)),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1);
    }
}

#[test]
fn every_name_that_a_message_offers_is_taken() {
    for key in &KEYS {
        if !matches!(key.kind, Kind::Level | Kind::Output | Kind::Asked(_)) {
            continue;
        }
        let offered = key.kind.expected().replace(" or ", ", ");
        for name in offered.split(", ") {
            assert_eq!(errors(&set(key, name)), "", "{name}");
        }
    }
}
