//! What the command does not do, and what it says then.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::support::{Folder, elf, text};

/// Runs a command line that must fail in one line and leave no image.
fn refused(folder: &Folder, words: &[&str]) -> (i32, String) {
    let mut words = words.to_vec();
    words.extend(["--output", "none.cpio"]);
    let output = folder.image(&words);
    let stderr = text(&output.stderr);
    assert_eq!(text(&output.stdout), "");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let left: Vec<_> = fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains("none.cpio"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    (output.status.code().unwrap(), stderr.trim_end().to_owned())
}

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2() {
    let folder = Folder::new();
    for (words, expected) in [
        (
            &["--frob"][..],
            "image: read --frob: there is no such option, see --help",
        ),
        (
            &["--device", "/x:c:1"],
            "image: read --device /x:c:1: it is DST:c|b:MAJOR:MINOR[:MODE]",
        ),
    ] {
        assert_eq!(refused(&folder, words), (2, expected.to_owned()));
    }
}

#[test]
fn help_and_version_never_act() {
    let folder = Folder::new();
    folder.program("init");
    for (option, start) in [
        ("--help", "Makes a bootable image"),
        ("--version", "image 0."),
    ] {
        let output = folder.image(&[
            "--init", "init", "--host", "init:/h", "--output", "image", option,
        ]);

        assert!(output.status.success());
        assert!(text(&output.stdout).starts_with(start));
        assert!(!folder.path("image").exists());
    }
}

#[test]
fn what_is_not_there_is_named() {
    let folder = Folder::new();
    folder.program("init");
    symlink("loop", folder.path("loop")).unwrap();
    for (words, expected) in [
        (
            &["--init", "no"][..],
            "image: read no: no such file or directory",
        ),
        (
            &["--init", "init", "--host", "no"],
            "image: read no: no such file or directory",
        ),
        (
            &["--init", "init", "--host", "init:/h", "--config", "no"],
            "image: read no: no such file or directory",
        ),
        (
            &["--manifest", "no"],
            "image: read no: no such file or directory",
        ),
        (
            &["--init", "init", "--host", "init:/h", "--add", "no:/no"],
            "image: read no: no such file or directory",
        ),
        (
            &["--init", "init", "--host", "init:/h", "--add", "loop:/no"],
            "image: read loop: too many levels of symbolic links",
        ),
        (
            &["--init", "init"],
            "image: make the image: nothing to run: it needs a host or a configuration",
        ),
        (
            &["--init", ".", "--host", "init:/h"],
            "image: read .: it is no regular file",
        ),
    ] {
        assert_eq!(refused(&folder, words), (1, expected.to_owned()));
    }
}

#[test]
fn a_path_is_there_once() {
    let folder = Folder::new();
    folder.program("init");
    let base = ["--init", "init", "--host", "init:/bin/h"];
    for (words, expected) in [
        (
            &["--dir", "/a", "--symlink", "b://a"][..],
            "image: add /a: it is added twice",
        ),
        (&["--dir", "/init"], "image: add /init: it is added twice"),
        (
            &["--symlink", "bin:/sbin", "--dir", "/sbin/h"],
            "image: add /bin/h: it is added twice, once through a symlink",
        ),
        (
            &["--add", "init:/a", "--dir", "/a/b"],
            "image: add /a/b: /a is no directory",
        ),
        (
            &["--symlink", "b:/a", "--symlink", "a:/b", "--dir", "/a/c"],
            "image: add /a: its directories are a loop of symlinks",
        ),
    ] {
        let words = [&base, words].concat();
        assert_eq!(refused(&folder, &words), (1, expected.to_owned()));
    }
}

#[test]
fn a_host_for_another_machine_is_refused() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("host", elf(183));

    assert_eq!(
        refused(&folder, &["--init", "init", "--host", "host"]),
        (
            1,
            "image: add host: it is for aarch64, and the image for x86-64".into()
        )
    );
}

#[test]
fn a_script_is_refused_without_its_interpreter() {
    let folder = Folder::new();
    folder.program("init");
    let shell = folder.program("busybox");
    fs::set_permissions(shell, Permissions::from_mode(0o755)).unwrap();
    folder.write("host", "#!/bin/sh\n");
    let mut words = vec!["--init", "init", "--host", "host"];

    assert_eq!(
        refused(&folder, &words),
        (
            1,
            "image: add host: it is a script for /bin/sh, which is no program in the image; \
             add that too"
                .into()
        )
    );
    words.extend([
        "--add",
        "busybox:/bin/busybox",
        "--symlink",
        "busybox:/bin/sh",
    ]);
    folder.made(&words);
}

#[test]
fn a_pipe_in_a_tree_is_refused() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("t/file", "");
    let made = Command::new("mkfifo").arg(folder.path("t/p")).status();
    assert!(made.unwrap().success());

    let words = ["--init", "init", "--host", "init:/h", "--add", "t:/t"];

    assert_eq!(
        refused(&folder, &words),
        (
            1,
            "image: add t/p: it is no file, directory or symlink".into()
        )
    );
}

#[test]
fn a_manifest_is_wrong_at_a_line_and_column() {
    let folder = Folder::new();
    folder.write("image.toml", "init = 'init'\n\n[[file]]\npaht = '/a'\n");

    let (code, text) = refused(&folder, &["--manifest", "image.toml"]);

    assert_eq!(code, 1);
    assert!(text.starts_with("image: read image.toml: line 4, column 1: unknown field `paht`"));
}

#[test]
fn arguments_without_effect_are_refused() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("config", "");
    let output = folder.image(&[
        "--init", "init", "--host", "init:/h", "--config", "config", "--", "x",
    ]);

    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "image: use the arguments: the configuration says what the host is started with\n"
    );
}

#[test]
fn a_time_that_is_none_is_refused() {
    let folder = Folder::new();
    folder.program("init");
    let output = folder
        .command(&["--init", "init", "--host", "init:/h", "--output", "image"])
        .env("SOURCE_DATE_EPOCH", "yesterday")
        .output()
        .unwrap();

    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "image: read SOURCE_DATE_EPOCH: it is no number of seconds below 4294967296\n"
    );
}

#[test]
fn a_build_that_fails_is_said() {
    let folder = Folder::new();
    folder.program("host");
    let run = |cargo: &str| {
        let output = folder
            .command(&["--host", "host", "--output", "image"])
            .env("CARGO", cargo)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };

    assert_eq!(
        run("false"),
        "image: build host-init: cargo ended with exit status: 1; --init PATH brings another\n"
    );
    assert_eq!(
        run("/nonexistent/cargo"),
        "image: build host-init: cannot run /nonexistent/cargo: no such file or directory\n"
    );
}

#[test]
fn an_image_that_cannot_be_written_leaves_the_old_one() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("image", "old");
    folder.write("taken/file", "");
    let run = |host: &str, output: &str| {
        let words = ["--init", "init", "--host", host, "--output", output];
        text(&folder.image(&words).stderr)
    };

    assert_eq!(
        run("taken/file", "image"),
        "image: add taken/file: it is neither an ELF program nor a script\n"
    );
    assert_eq!(
        run("init:/h", "taken"),
        "image: write taken: is a directory\n"
    );

    assert_eq!(fs::read(folder.path("image")).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 3);
}
