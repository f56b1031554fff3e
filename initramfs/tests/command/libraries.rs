//! Programs that are linked to shared libraries.

use std::env;
use std::fs;
use std::path::Path;

use goblin::elf::Elf;

use super::support::{Folder, find, text};

/// This test is a program that is linked to the C library, as most are.
fn linked() -> String {
    env::current_exe().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_linked_host_is_refused_by_the_names_of_what_is_missing() {
    let folder = Folder::new();
    folder.program("init");
    let host = linked();
    let bytes = fs::read(&host).unwrap();
    let elf = Elf::parse(&bytes).unwrap();

    let output = folder.image(&["--init", "init", "--host", &host, "--output", "image"]);

    let text = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.starts_with(&format!("image: add {host}: the image lacks its loader ")));
    for name in elf.libraries.iter().chain(&elf.interpreter) {
        // The loader is also a library of its programs, and named once.
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(text.ends_with("; link it statically or pass --libraries\n"));
    assert!(!folder.path("image").exists());
}

#[test]
fn libraries_come_along_when_asked_for() {
    let folder = Folder::new();
    folder.program("init");
    let host = linked();
    let bytes = fs::read(&host).unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    let loader = elf.interpreter.unwrap();

    let image = folder.made(&["--init", "init", "--host", &host, "--libraries"]);

    let stored = loader.strip_prefix('/').unwrap();
    assert_eq!(find(&image, stored).body, fs::read(loader).unwrap());
    assert_eq!(find(&image, stored).mode, 0o100_755);
    for name in elf.libraries {
        if Path::new(loader).ends_with(name) {
            continue;
        }
        let library = image
            .iter()
            .find(|record| text(&record.name).ends_with(&format!("/{name}")))
            .unwrap_or_else(|| panic!("no {name}"));
        assert!(library.body.starts_with(b"\x7fELF"));
    }
}

#[test]
fn a_host_whose_libraries_are_in_a_tree_needs_nothing_more() {
    let folder = Folder::new();
    folder.program("init");
    let host = linked();
    let image = folder.made(&["--init", "init", "--host", &host, "--libraries"]);
    for record in &image {
        let name = text(&record.name);
        if name.contains(".so") {
            folder.write(Path::new("root").join(name), &record.body);
        }
    }

    let again = folder.made(&["--init", "init", "--host", &host, "--add", "root:/"]);

    assert_eq!(again.len(), image.len());
}

#[test]
fn a_linked_tool_is_held_to_the_same() {
    let folder = Folder::new();
    folder.program("init");
    let add = format!("{}:/bin/tool", linked());

    let refused = folder.image(&["--init", "init", "--host", "init:/h", "--add", &add]);
    let image = folder.made(&[
        "--init",
        "init",
        "--host",
        "init:/h",
        "--add",
        &add,
        "--libraries",
    ]);

    assert!(text(&refused.stderr).contains("the image lacks its loader"));
    find(&image, "bin/tool");
}
