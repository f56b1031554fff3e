//! The direction of the rooms, and where unsafe code may be.
//!
//! Reads every file under `src/` word by word, without its comments and strings.
//! What a room may use stands in one table, [`ROOMS`], which says the same as
//! `src/lib.rs`. Test modules may use any crate, but the rooms' direction holds
//! for them too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

mod words;

use words::{Token, is, test_code, test_modules, tokens};

/// A room: a module of the library, or the program beside it.
struct Room {
    /// Its name: the path under `src/`.
    name: &'static str,
    /// The rooms that it may use.
    rooms: &'static [&'static str],
    /// The crates that it may use, besides `core`.
    crates: &'static [&'static str],
    /// Whether it may have unsafe code.
    may_be_unsafe: bool,
}

const ROOMS: [Room; 8] = [
    Room {
        name: "base",
        rooms: &[],
        crates: &[],
        may_be_unsafe: false,
    },
    Room {
        name: "policy",
        rooms: &["base"],
        crates: &["heapless"],
        may_be_unsafe: false,
    },
    Room {
        name: "format",
        rooms: &["base", "policy"],
        crates: &["heapless", "toml_parser", "serde_json_core", "crc"],
        may_be_unsafe: false,
    },
    Room {
        name: "sys",
        rooms: &["base"],
        crates: &["rustix", "linux_raw_sys", "static_assertions"],
        may_be_unsafe: true,
    },
    Room {
        name: "pid1",
        rooms: &["base", "policy", "format", "sys"],
        crates: &["heapless"],
        may_be_unsafe: false,
    },
    Room {
        name: "entrypoint",
        rooms: &["base", "policy", "format", "sys"],
        crates: &["heapless"],
        may_be_unsafe: false,
    },
    Room {
        name: "client",
        rooms: &["base", "policy", "format", "sys"],
        crates: &["heapless"],
        may_be_unsafe: false,
    },
    Room {
        name: "bin",
        rooms: &[
            "base",
            "policy",
            "format",
            "sys",
            "pid1",
            "entrypoint",
            "client",
        ],
        crates: &["host_init"],
        may_be_unsafe: true,
    },
];

/// The only place that names a register.
const ARCH: &str = "sys/arch/";

/// The longest a file may be, in lines. At 400 it wants to be two.
const LINES: usize = 600;

/// A source file, and what it is to be held to.
struct Source<'t> {
    room: &'t Room,
    /// Its path under `src/`.
    path: &'t str,
    text: &'t str,
    /// Whether it is a module of a test as a whole.
    is_test: bool,
}

/// What is wrong with a file, a line each.
fn faults(source: &Source<'_>, crates: &BTreeSet<String>) -> Vec<String> {
    let tokens = tokens(source.text);
    let tests = if source.is_test {
        vec![true; tokens.len()]
    } else {
        test_code(&tokens)
    };
    let mut faults = Vec::new();
    let mut say = |line: usize, what: String| {
        faults.push(format!("src/{}:{line}: {what}", source.path));
    };
    for (index, token) in tokens.iter().enumerate() {
        let is_path = is(&tokens, index + 1, "::");
        let is_root = index
            .checked_sub(2)
            .is_none_or(|before| !is(&tokens, before, "::"));
        let word = token.text.strip_prefix("r#").unwrap_or(token.text);
        if word == "unsafe" && !source.room.may_be_unsafe {
            say(token.line, "unsafe code".to_owned());
        }
        let is_assembly = matches!(word, "asm" | "naked_asm" | "global_asm");
        if is_assembly && is(&tokens, index + 1, "!") && !source.path.starts_with(ARCH) {
            say(token.line, "assembly".to_owned());
        }
        if is_root && is_path && is_crate(word, crates) {
            let may = source.room.crates.contains(&word) || word == "core";
            if !may && !tests[index] {
                say(token.line, format!("the crate {word}"));
            }
            if word == "core" && is(&tokens, index + 3, "arch") && !source.path.starts_with(ARCH) {
                say(token.line, "core::arch".to_owned());
            }
        }
        let is_library = word == "crate" || word == "host_init";
        if is_root && is_path && is_library {
            for (line, room) in used(&tokens, index + 3) {
                let is_room = ROOMS.iter().any(|known| known.name == room);
                let may = source.room.name == room || source.room.rooms.contains(&room);
                if is_room && !may {
                    say(line, format!("the room {room}"));
                }
            }
        }
        // `crate` could be reached by climbing as well; nobody needs to.
        let climbs = source.path.matches('/').count();
        if word == "super" && is_path && climbed(&tokens, index) > climbs {
            say(token.line, "super to the top".to_owned());
        }
    }
    let lines = source.text.lines().count();
    if lines > LINES {
        say(lines, format!("longer than {LINES} lines"));
    } else if lines > 400 {
        // Not a fault; seen with --nocapture.
        println!("src/{}: {lines} lines want to be two files", source.path);
    }
    faults
}

/// Whether a name is that of a crate which could be used.
fn is_crate(word: &str, crates: &BTreeSet<String>) -> bool {
    matches!(word, "core" | "alloc" | "std" | "proc_macro" | "test") || crates.contains(word)
}

/// The first words behind `crate::`: one, or each of a group in braces.
fn used<'t>(tokens: &[Token<'t>], index: usize) -> Vec<(usize, &'t str)> {
    if !is(tokens, index, "{") {
        return tokens
            .get(index)
            .map(|token| (token.line, token.text))
            .into_iter()
            .collect();
    }
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut is_first = false;
    for token in &tokens[index..] {
        match token.text {
            "{" => {
                depth += 1;
                is_first = depth == 1;
            }
            "}" => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            "," => is_first = depth == 1,
            word => {
                if is_first {
                    found.push((token.line, word));
                }
                is_first = false;
            }
        }
    }
    found
}

/// How many `super::` stand in a row up to this one, from the start of the path.
fn climbed(tokens: &[Token<'_>], index: usize) -> usize {
    let mut count = 1;
    let mut index = index;
    while index >= 3 && is(tokens, index - 2, "::") && is(tokens, index - 3, "super") {
        count += 1;
        index -= 3;
    }
    count
}

/// Every file of `src/` by its path there.
fn files() -> Vec<(String, String)> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            (name.to_owned(), text)
        })
        .collect()
}

/// The names of all crates that `Cargo.toml` mentions, as source files spell them.
fn crates() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    ["dependencies", "dev-dependencies"]
        .iter()
        .flat_map(|table| manifest[*table].as_table().unwrap().keys())
        .map(|name| name.replace('-', "_"))
        .chain(["host_init".to_owned(), "serde_json_core".to_owned()])
        .collect()
}

fn room_of(path: &str) -> Option<&'static Room> {
    let first = path.split('/').next()?;
    ROOMS.iter().find(|room| room.name == first)
}

/// The directory that the modules of a file are in.
fn modules_of(path: &str) -> String {
    match path.strip_suffix("mod.rs") {
        Some(directory) => directory.to_owned(),
        None => format!("{}/", path.trim_end_matches(".rs")),
    }
}

#[test]
fn every_file_keeps_to_its_room() {
    let files = files();
    let crates = crates();
    let test_paths: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| {
            let directory = modules_of(path);
            test_modules(text)
                .into_iter()
                .map(move |module| format!("{directory}{module}"))
        })
        .collect();
    let mut found = Vec::new();
    let mut rooms = BTreeSet::new();
    for (path, text) in &files {
        let Some(room) = room_of(path) else {
            // The map of the library, and what builds it.
            assert!(
                matches!(path.as_str(), "lib.rs" | "build.rs"),
                "{path}: no room"
            );
            continue;
        };
        rooms.insert(room.name);
        let is_test = test_paths.iter().any(|test| {
            path.strip_prefix(test.as_str())
                .is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
        });
        let source = Source {
            room,
            path,
            text,
            is_test,
        };
        found.extend(faults(&source, &crates));
    }

    assert!(found.is_empty(), "\n{}", found.join("\n"));
    assert_eq!(rooms.len(), ROOMS.len(), "{rooms:?}");
}

#[test]
fn every_room_without_unsafe_code_says_so_to_the_compiler() {
    for room in ROOMS.iter().filter(|room| !room.may_be_unsafe) {
        let path = format!("{}/src/{}/mod.rs", env!("CARGO_MANIFEST_DIR"), room.name);
        let text = fs::read_to_string(path).unwrap();
        let words: Vec<&str> = tokens(&text).iter().map(|token| token.text).collect();
        let words = words.concat();

        assert!(words.contains("#![forbid(unsafe_code)]"), "{}", room.name);
    }
}

#[test]
fn the_program_and_the_library_do_without_std() {
    for (path, text) in files() {
        let words: Vec<&str> = tokens(&text).iter().map(|token| token.text).collect();
        let words = words.concat();
        match path.as_str() {
            "lib.rs" => assert!(words.contains("#![cfg_attr(not(test),no_std)]")),
            "bin/host-init/main.rs" => {
                assert!(words.contains("#![no_std]") && words.contains("#![no_main]"));
            }
            _ => {}
        }
        // An allocator would have to be asked for by this name.
        assert!(!words.contains("externcratealloc"), "{path}");
    }
}

/// The faults of a text in a room's file.
fn faults_of(path: &str, text: &str) -> Vec<String> {
    let source = Source {
        room: room_of(path).unwrap(),
        path,
        text,
        is_test: false,
    };
    faults(&source, &crates())
        .iter()
        .map(|fault| fault.split_once(": ").unwrap().1.to_owned())
        .collect()
}

#[test]
fn the_checker_sees_every_kind_of_fault() {
    for (path, text, fault) in [
        ("base/x.rs", "use heapless::Vec;", "the crate heapless"),
        (
            "base/x.rs",
            "use crate::policy::event::Event;",
            "the room policy",
        ),
        ("policy/x.rs", "use crate::sys::clock;", "the room sys"),
        ("policy/x.rs", "use std::time::Instant;", "the crate std"),
        (
            "policy/x.rs",
            "use crate::{base::time, sys::clock};",
            "the room sys",
        ),
        (
            "policy/x.rs",
            "fn f() { crate::format::line::Line::new(); }",
            "the room format",
        ),
        (
            "policy/x.rs",
            "use super::super::sys::clock;",
            "super to the top",
        ),
        (
            "format/x.rs",
            "fn f() -> crate::sys::Result<()> {}",
            "the room sys",
        ),
        (
            "format/x.rs",
            "use linux_raw_sys::general;",
            "the crate linux_raw_sys",
        ),
        (
            "sys/x.rs",
            "use crate::policy::config::Config;",
            "the room policy",
        ),
        (
            "sys/x.rs",
            "fn f() { heapless::Vec::<u8, 1>::new(); }",
            "the crate heapless",
        ),
        ("sys/x.rs", "use libc::fork;", "the crate libc"),
        (
            "sys/x.rs",
            "fn f() { unsafe { asm!(\"nop\") } }",
            "assembly",
        ),
        ("sys/x.rs", "use core::arch::x86_64;", "core::arch"),
        ("pid1/x.rs", "use rustix::fs::open;", "the crate rustix"),
        ("pid1/x.rs", "fn f() { unsafe { g() } }", "unsafe code"),
        ("pid1/x.rs", "use crate::client::main;", "the room client"),
        ("client/x.rs", "pub unsafe fn f() {}", "unsafe code"),
        (
            "bin/host-init/x.rs",
            "use rustix::fs::open;",
            "the crate rustix",
        ),
        (
            "bin/host-init/x.rs",
            "core::arch::naked_asm!(\"ud2\")",
            "core::arch",
        ),
        // The rooms' direction holds in tests too, and so does safety.
        (
            "policy/x.rs",
            "#[cfg(test)] mod tests { use crate::sys::clock; }",
            "the room sys",
        ),
        (
            "policy/x.rs",
            "#[cfg(test)] mod tests { fn f() { unsafe {} } }",
            "unsafe code",
        ),
        // What comes after a test module is no test.
        (
            "base/x.rs",
            "#[cfg(test)] mod tests { fn f() { {} } } use libc::kill;",
            "the crate libc",
        ),
        (
            "base/x.rs",
            "#[cfg(test)] mod tests; use libc::kill;",
            "the crate libc",
        ),
        // What only looks like the beginning of a comment, a string or a character.
        (
            "base/x.rs",
            "const A: &str = \"//\"; use libc::kill;",
            "the crate libc",
        ),
        (
            "base/x.rs",
            "const A: char = '\"'; use libc::kill; // \"",
            "the crate libc",
        ),
        (
            "base/x.rs",
            "const A: char = '\\''; use libc::kill;",
            "the crate libc",
        ),
        (
            "base/x.rs",
            "const A: &str = \"\\\"\"; use libc::kill;",
            "the crate libc",
        ),
        (
            "base/x.rs",
            "fn f<'a>(x: &'a u8) {} use libc::kill;",
            "the crate libc",
        ),
        ("base/x.rs", "/* /* */ */ use libc::kill;", "the crate libc"),
        (
            "base/x.rs",
            "const A: &str = r#\"\"\"#; use libc::kill;",
            "the crate libc",
        ),
    ] {
        let faults = faults_of(path, text);
        assert!(
            faults.iter().any(|found| found == fault),
            "{text}: {faults:?}"
        );
    }
    let long = "\n".repeat(LINES + 1);
    assert_eq!(faults_of("base/x.rs", &long), ["longer than 600 lines"]);
}

#[test]
fn the_checker_says_nothing_of_what_is_right() {
    for (path, text) in [
        (
            "base/x.rs",
            "use core::time::Duration; use crate::base::time;",
        ),
        (
            "base/x.rs",
            "// use libc::kill; unsafe\n/* unsafe */ /// unsafe",
        ),
        (
            "base/x.rs",
            "const A: &str = \"unsafe\"; const B: &[u8] = b\"use libc::kill;\";",
        ),
        (
            "base/x.rs",
            "const A: &str = r##\"unsafe \"# libc::kill\"##; const B: char = 'u';",
        ),
        ("base/x.rs", "#![forbid(unsafe_code)]"),
        (
            "base/x.rs",
            "#[cfg(test)] mod tests { use libc::kill; use std::fs; }",
        ),
        (
            "policy/x.rs",
            "use heapless::Vec; use crate::base::exit; use super::event;",
        ),
        (
            "format/x.rs",
            "use toml_parser::Source; use crate::policy::config;",
        ),
        ("sys/x.rs", "use rustix::fs; fn f() { unsafe { g() } }"),
        (
            "sys/arch/x.rs",
            "use core::arch::asm; fn f() { unsafe { asm!(\"nop\") } }",
        ),
        (
            "pid1/x.rs",
            "use crate::{base, policy, format::line, sys}; mod x;",
        ),
        // A path in the middle of another is not a crate, nor is a variable.
        ("policy/x.rs", "fn f() { state::core::x(); let test = 1; }"),
    ] {
        assert_eq!(faults_of(path, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn both_processors_have_the_same_functions() {
    let functions = |name: &str| -> BTreeSet<String> {
        let path = format!("{}/src/sys/arch/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        let tokens = tokens(&text);
        (0..tokens.len())
            .filter(|index| tokens[*index].text == "pub")
            .map(|start| {
                // From `pub` up to the body: name, arguments and result.
                let end = (start..tokens.len())
                    .find(|index| matches!(tokens[*index].text, "{" | ";"))
                    .unwrap();
                let words: Vec<&str> = tokens[start..end].iter().map(|token| token.text).collect();
                words.join(" ")
            })
            .collect()
    };

    let (ours, theirs) = (functions("x86_64"), functions("aarch64"));

    assert!(ours.len() >= 5, "{ours:#?}");
    assert_eq!(ours, theirs);
}
