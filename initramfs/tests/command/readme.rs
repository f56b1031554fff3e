//! The README says what is so.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::support::{Folder, find, text};

const README: &str = include_str!("../../README.md");

#[test]
fn every_option_is_in_the_readme_and_no_other() {
    let folder = Folder::new();
    let help = text(&folder.image(&["--help"]).stdout);
    let options = |text: &str| -> Vec<String> {
        let mut options: Vec<String> = text
            .split(|letter: char| !letter.is_ascii_lowercase() && letter != '-')
            .filter(|word| word.len() > 3 && word.starts_with("--"))
            .map(str::to_owned)
            .collect();
        options.sort();
        options.dedup();
        options
    };

    // Elsewhere it also names options of programs and of other commands.
    let table: Vec<&str> = README
        .lines()
        .filter(|line| line.starts_with("| `--"))
        .collect();
    assert_eq!(options(&table.join("\n")), options(&help));
}

#[test]
fn the_readmes_manifest_makes_an_image() {
    let folder = Folder::new();
    let manifest = README.split("```toml\n").nth(1).unwrap();
    let manifest = manifest.split("```").next().unwrap();
    folder.write("image.toml", manifest);
    folder.program("target/release/host-init");
    folder.program("target/release/my-program");
    folder.write("host-init.toml", "");
    folder.write("motd", "hello\n");
    let tool = folder.program("rootfs/bin/tool");
    fs::set_permissions(tool, fs::Permissions::from_mode(0o755)).unwrap();

    let output = folder.image(&["--manifest", "image.toml", "--compress", "none"]);

    assert_eq!(text(&output.stderr), "");
    let archive = fs::read(folder.path("my-program.cpio.zst")).unwrap();
    let image = super::support::records(&archive);
    assert_eq!(find(&image, "opt/my-program").mode, 0o100_755);
    assert_eq!(find(&image, "data").owner, (1000, 1000));
    assert_eq!(find(&image, "etc/motd").body, b"hello\n");
    assert_eq!(find(&image, "srv/bin/tool").mode, 0o100_755);
    assert_eq!(find(&image, "dev/ttyS0").device, (4, 64));
}

#[test]
fn every_key_of_a_manifest_is_in_the_readme() {
    let folder = Folder::new();
    // An unknown key is answered with the known ones.
    for table in [
        "",
        "[[directory]]\n",
        "[[file]]\n",
        "[[tree]]\n",
        "[[symlink]]\n",
        "[[device]]\n",
    ] {
        folder.write("image.toml", format!("{table}unknown = 1\n"));
        let answer = text(&folder.image(&["--manifest", "image.toml"]).stderr);
        let (_, keys) = answer.split_once("expected one of ").unwrap();

        for key in keys.trim().split(", ") {
            assert!(README.contains(key), "{key} is not in the README");
        }
    }
}
