//! An image is the same every time.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::support::{Folder, records};

/// A tree with the same names and bytes, made the other way round.
fn tree(folder: &Folder, name: &str, order: [&str; 3], mode: u32, age: u64) {
    for file in order {
        let path = folder.write(Path::new(name).join(file), file);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(age);
        File::open(&path).unwrap().set_modified(time).unwrap();
    }
    fs::set_permissions(folder.path(name), Permissions::from_mode(mode | 0o100)).unwrap();
}

#[test]
fn the_bytes_do_not_depend_on_the_day_or_the_hand() {
    let folder = Folder::new();
    folder.program("init");
    tree(&folder, "one", ["a/x", "b", "c"], 0o644, 1_000_000_000);
    tree(&folder, "two", ["c", "b", "a/x"], 0o600, 1_500_000_000);
    for (compression, name) in [("none", "n"), ("gzip", "g"), ("zstd", "z")] {
        let first = folder.image(&[
            "--init",
            "init",
            "--host",
            "init:/bin/h",
            "--add",
            "one:/data",
            "--dir",
            "/a:0700",
            "--symlink",
            "x:/y",
            "--compress",
            compression,
            "--output",
            name,
        ]);
        assert!(first.status.success());
        // Another umask, another order of options.
        let words = [
            "--output",
            "again",
            "--symlink",
            "x:/y",
            "--dir",
            "/a:0700",
            "--add",
            "two:/data",
            "--compress",
            compression,
            "--host",
            "init:/bin/h",
            "--init",
            "init",
        ];
        let second = Command::new("sh")
            .args([
                "-c",
                "umask 077; exec \"$0\" \"$@\"",
                env!("CARGO_BIN_EXE_image"),
            ])
            .args(words)
            .current_dir(folder.path(""))
            .env_remove("SOURCE_DATE_EPOCH")
            .output()
            .unwrap();
        assert!(second.status.success());

        let first = fs::read(folder.path(name)).unwrap();

        assert_eq!(first, fs::read(folder.path("again")).unwrap());
    }
}

#[test]
fn the_time_is_asked_for_as_distributions_do() {
    let folder = Folder::new();
    folder.program("init");
    let words = ["--init", "init", "--host", "init:/h", "--output", "image"];

    let output = folder
        .command(&words)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap();

    assert!(output.status.success());
    let image = records(&fs::read(folder.path("image")).unwrap());
    assert!(image.iter().all(|record| record.mtime == 1_700_000_000));
}
