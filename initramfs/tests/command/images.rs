//! What is in an image.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::support::{Folder, Record, find, records, text};

#[test]
fn a_program_becomes_a_bootable_image_with_one_command() {
    let folder = Folder::new();
    folder.program("init");
    folder.program("my program");
    let words = [
        "--init",
        "init",
        "--host",
        "my program",
        "--output",
        "a.cpio",
        "--",
        "run",
        "a\"b",
    ];

    let output = folder.image(&words);

    let archive = fs::read(folder.path("a.cpio")).unwrap();
    let image = records(&archive);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(
        text(&output.stdout),
        format!(
            "a.cpio: {} bytes, {} entries; boot it: cargo boot --image a.cpio\n",
            archive.len(),
            image.len()
        )
    );
    let listing: Vec<(String, u32)> = image
        .iter()
        .map(|record| (text(&record.name), record.mode))
        .collect();
    let expected = [
        (".", 0o040_755),
        ("dev", 0o040_755),
        ("dev/console", 0o020_600),
        ("dev/null", 0o020_666),
        ("etc", 0o040_755),
        ("etc/host-init.toml", 0o100_644),
        ("init", 0o100_755),
        ("proc", 0o040_755),
        ("root", 0o040_700),
        ("run", 0o040_755),
        ("sbin", 0o040_755),
        ("sbin/halt", 0o120_777),
        ("sbin/poweroff", 0o120_777),
        ("sbin/reboot", 0o120_777),
        ("sys", 0o040_755),
        ("tmp", 0o041_777),
        ("usr", 0o040_755),
        ("usr/bin", 0o040_755),
        ("usr/bin/host-init", 0o120_777),
        ("usr/bin/my program", 0o100_755),
        ("var", 0o040_755),
        ("var/lib", 0o040_755),
    ];
    assert_eq!(
        listing,
        expected.map(|(name, mode)| (name.to_owned(), mode))
    );
    assert_eq!(find(&image, "dev/console").device, (5, 1));
    assert_eq!(find(&image, "dev/null").device, (1, 3));
    let config: toml::Table = text(&find(&image, "etc/host-init.toml").body)
        .parse()
        .unwrap();
    let command: Vec<&str> = config["host"]["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(command, ["/usr/bin/my program", "run", "a\"b"]);
}

#[test]
fn another_reader_reads_the_same() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("motd", "hello\n");
    let image = folder.made(&[
        "--init",
        "init",
        "--host",
        "init:/bin/host",
        "--add",
        "motd:/etc/motd:0640",
        "--symlink",
        "../x y:/etc/z",
        "--device",
        "/dev/vda:b:254:3:0660",
        "--dir",
        "/data:0700",
    ]);

    let mut bytes = &fs::read(folder.path("image.cpio")).unwrap()[..];
    let mut read = Vec::new();
    loop {
        let mut reader = cpio::newc::Reader::new(bytes).unwrap();
        let entry = reader.entry();
        if entry.is_trailer() {
            break;
        }
        let mut record = Record {
            name: entry.name().as_bytes().to_vec(),
            inode: entry.ino(),
            mode: entry.mode(),
            owner: (entry.uid(), entry.gid()),
            mtime: entry.mtime(),
            device: (entry.rdev_major(), entry.rdev_minor()),
            body: Vec::new(),
        };
        reader.read_to_end(&mut record.body).unwrap();
        bytes = reader.finish().unwrap();
        read.push(record);
    }

    assert_eq!(read, image);
    let inodes: Vec<u32> = read.iter().map(|record| record.inode).collect();
    assert_eq!(inodes, (1..).take(read.len()).collect::<Vec<u32>>());
    assert!(read.iter().all(|record| record.mtime == 0));
    assert_eq!(find(&read, "etc/motd").mode, 0o100_640);
    assert_eq!(find(&read, "etc/z").body, b"../x y");
    assert_eq!(find(&read, "dev/vda").mode, 0o060_660);
    assert_eq!(find(&read, "dev/vda").device, (254, 3));
    assert_eq!(find(&read, "data").mode, 0o040_700);
}

#[test]
fn a_packed_image_holds_the_plain_one() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("data", "data ".repeat(10_000));
    for compression in ["none", "gzip", "zstd"] {
        let output = folder.image(&[
            "--init",
            "init",
            "--host",
            "init:/bin/h",
            "--add",
            "data:/data",
            "--compress",
            compression,
            "--output",
            compression,
        ]);
        assert!(output.status.success());
    }
    let plain = fs::read(folder.path("none")).unwrap();
    let gzip = fs::read(folder.path("gzip")).unwrap();
    let zstd = fs::read(folder.path("zstd")).unwrap();

    let mut back = Vec::new();
    flate2::read::GzDecoder::new(&gzip[..])
        .read_to_end(&mut back)
        .unwrap();

    assert_eq!(back, plain);
    assert_eq!(zstd::decode_all(&zstd[..]).unwrap(), plain);
    assert!(gzip.len() < plain.len() / 10);
    assert!(zstd.len() < plain.len() / 10);
}

#[test]
fn a_name_need_not_be_text() {
    let folder = Folder::new();
    folder.program("init");
    folder.write(OsStr::from_bytes(b"tree/caf\xe9/two words\n"), "body");
    let mut add = folder.path("").into_os_string().into_vec();
    add.extend_from_slice(b"tree/caf\xe9:/opt/\xff");

    let image = folder.made(&[
        OsString::from("--init"),
        "init".into(),
        "--host=init:/h".into(),
        "--add=tree:/srv".into(),
        "--add".into(),
        OsString::from_vec(add),
    ]);

    let has = |name: &[u8]| image.iter().any(|record| record.name == name);
    assert!(has(b"srv/caf\xe9/two words\n"));
    assert!(has(b"opt/\xff/two words\n"));
}

#[test]
fn symlinks_of_a_tree_stay_and_loop_for_nobody() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("tree/file", "body");
    symlink("loop", folder.path("tree/loop")).unwrap();
    symlink(".", folder.path("tree/here")).unwrap();
    symlink("/etc/passwd", folder.path("tree/out")).unwrap();

    let image = folder.made(&["--init", "init", "--host", "init:/h", "--add", "tree:/t"]);

    assert_eq!(find(&image, "t/loop").body, b"loop");
    assert_eq!(find(&image, "t/here").mode, 0o120_777);
    assert_eq!(find(&image, "t/out").body, b"/etc/passwd");
    assert!(
        !image
            .iter()
            .any(|record| record.name.starts_with(b"t/here/"))
    );
}

#[test]
fn of_a_files_mode_only_the_owners_execute_bit_counts() {
    let folder = Folder::new();
    folder.program("init");
    for (name, mode) in [("tool", 0o4711), ("text", 0o666)] {
        let path = folder.program(Path::new("tree").join(name));
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    let image = folder.made(&[
        "--init",
        "init",
        "--host",
        "init:/h",
        "--add",
        "tree:/a",
        "--add",
        "tree:/b:0444",
        "--add",
        "tree/tool:/c",
    ]);

    assert_eq!(find(&image, "a/tool").mode, 0o100_755);
    assert_eq!(find(&image, "a/text").mode, 0o100_644);
    assert_eq!(find(&image, "b/tool").mode, 0o100_444);
    assert_eq!(find(&image, "b").mode, 0o040_755);
    assert_eq!(find(&image, "c").mode, 0o100_755);
}

#[test]
fn trees_can_lie_over_each_other() {
    let folder = Folder::new();
    folder.program("init");
    folder.write("root/usr/lib/a", "a");
    symlink("usr/lib", folder.path("root/lib")).unwrap();
    folder.write("more/lib/b", "b");

    // The second tree has /lib as a directory, the first as a symlink.
    let image = folder.made(&[
        "--init", "init", "--host", "init:/h", "--add", "root:/", "--add", "more:/",
    ]);

    assert_eq!(find(&image, "lib").body, b"usr/lib");
    assert_eq!(find(&image, "usr/lib/b").body, b"b");
}

#[test]
fn options_come_on_top_of_a_manifest_that_counts_from_its_own_folder() {
    let folder = Folder::new();
    folder.program("sub/init");
    folder.program("sub/host");
    folder.program("other");
    folder.write("sub/motd", "hello");
    folder.write(
        "sub/image.toml",
        "init = 'init'\nhost = 'host'\n[[file]]\npath = '/etc/motd'\nsource = 'motd'\nuid = 3\n",
    );

    let plain = folder.made(&["--manifest", "sub/image.toml"]);
    let other = folder.made(&[
        "--host",
        "other",
        "--manifest",
        "sub/image.toml",
        "--dir",
        "/d",
    ]);

    assert_eq!(find(&plain, "etc/motd").body, b"hello");
    assert_eq!(find(&plain, "etc/motd").owner, (3, 0));
    find(&plain, "usr/bin/host");
    find(&other, "usr/bin/other");
    find(&other, "d");
    assert!(!other.iter().any(|record| record.name == b"usr/bin/host"));
}

#[test]
fn without_an_init_cargo_builds_one() {
    let folder = Folder::new();
    folder.program("host");
    folder.program("built");
    // Stands in for cargo: says what it was asked, leaves what cargo would.
    let script = folder.write(
        "script",
        "#!/bin/sh\nmkdir -p \"$8/release\"\ncp \"$BUILT\" \"$8/release/host-init\"\n\
         { pwd; echo \"$@\"; } >\"$8/asked\"\n",
    );
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    // Copied by another process: a program that this one has open for writing,
    // or a child of another test just forked, cannot be executed.
    let cargo = folder.path("cargo");
    let copied = Command::new("cp").arg(&script).arg(&cargo).status();
    assert!(copied.unwrap().success());
    let target = folder.path("target");

    let output = folder
        .command(&["--host", "host", "--compress", "gzip"])
        .env("CARGO", &cargo)
        .env("CARGO_TARGET_DIR", "target")
        .env("BUILT", folder.path("built"))
        .output()
        .unwrap();

    assert_eq!(text(&output.stderr), "");
    assert!(text(&output.stdout).starts_with("target/image.cpio.gz: "));
    assert_eq!(
        fs::read_to_string(target.join("asked")).unwrap(),
        format!(
            "{}\nbuild --release --package host-init --bin host-init --target-dir {}\n",
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .parent()
                .unwrap()
                .display(),
            target.display()
        )
    );
}
