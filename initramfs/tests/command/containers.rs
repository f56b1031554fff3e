//! What is in a container image, and what becomes of the folder it goes to.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::support::{Folder, Record, elf, find, text};

/// What every image here is made of.
const IMAGE: [&str; 14] = [
    "--init",
    "init",
    "--host",
    "init:/usr/bin/host",
    "--add",
    "motd:/etc/motd:0640",
    "--symlink",
    "../x y:/etc/z",
    "--dir",
    "/data:1770",
    "--device",
    "/dev/vda:b:254:0",
    "--device",
    "/srv/loop:b:7:3",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.program("init");
    folder.write("motd", "hello\n");
    folder
}

/// Runs the command, which must succeed, and returns what it said.
fn contained(folder: &Folder, words: &[&str]) -> String {
    let output = folder.image(&[&IMAGE, words].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(next) = ahead.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                ahead.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// An image layout as a client reads it: from reference to reference, each held
/// to its digest and size.
struct Layout {
    files: BTreeMap<String, Vec<u8>>,
}

impl Layout {
    fn read(folder: &Path) -> Self {
        let files = files(folder);
        assert_eq!(
            text(&files["oci-layout"]),
            r#"{"imageLayoutVersion":"1.0.0"}"#
        );
        Self { files }
    }

    fn index(&self) -> Value {
        serde_json::from_slice(&self.files["index.json"]).unwrap()
    }

    fn manifest(&self) -> Value {
        self.document(&self.index()["manifests"][0])
    }

    fn config(&self) -> Value {
        self.document(&self.manifest()["config"])
    }

    /// The layer, unpacked.
    fn tar(&self) -> Vec<u8> {
        let descriptor = &self.manifest()["layers"][0];
        let blob = self.blob(descriptor);
        let media_type = descriptor["mediaType"].as_str().unwrap();
        match media_type.strip_prefix("application/vnd.oci.image.layer.v1.tar") {
            Some("") => blob.to_vec(),
            Some("+gzip") => {
                let mut tar = Vec::new();
                flate2::read::GzDecoder::new(blob)
                    .read_to_end(&mut tar)
                    .unwrap();
                tar
            }
            Some("+zstd") => zstd::decode_all(blob).unwrap(),
            _ => panic!("{media_type}"),
        }
    }

    fn document(&self, descriptor: &Value) -> Value {
        serde_json::from_slice(self.blob(descriptor)).unwrap()
    }

    fn blob(&self, descriptor: &Value) -> &[u8] {
        let digest = descriptor["digest"].as_str().unwrap();
        let blob = &self.files[&format!("blobs/{}", digest.replace(':', "/"))];
        assert_eq!(sha256(blob), digest);
        assert_eq!(blob.len() as u64, descriptor["size"].as_u64().unwrap());
        blob
    }
}

fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// The entries of a layer, as an archive for the kernel would have them.
fn entries(tar: &[u8]) -> Vec<Record> {
    let mut archive = tar::Archive::new(tar);
    let mut records = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let header = entry.header().clone();
        let mut device = (0, 0);
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        let kind = match header.entry_type() {
            tar::EntryType::Directory => 0o040_000,
            tar::EntryType::Regular => 0o100_000,
            tar::EntryType::Block => {
                let number = |field: std::io::Result<Option<u32>>| field.unwrap().unwrap();
                device = (number(header.device_major()), number(header.device_minor()));
                0o060_000
            }
            tar::EntryType::Symlink => {
                body = entry.link_name_bytes().unwrap().into_owned();
                0o120_000
            }
            other => panic!("{other:?}"),
        };
        let name = entry.path_bytes().into_owned();
        records.push(Record {
            name: name.strip_suffix(b"/").unwrap_or(&name).to_vec(),
            inode: 0,
            mode: kind | header.mode().unwrap(),
            owner: (header.uid().unwrap() as u32, header.gid().unwrap() as u32),
            mtime: header.mtime().unwrap() as u32,
            device,
            body,
        });
    }
    records
}

#[test]
fn the_layer_is_the_tree_without_the_devices_of_dev() {
    let folder = folder();
    let said = contained(&folder, &["--oci", "image"]);
    let layout = Layout::read(&folder.path("image"));

    let layer = entries(&layout.tar());

    let mut archive = folder.made(&IMAGE);
    archive.retain(|record| record.device == (0, 0) || !record.name.starts_with(b"dev/"));
    for record in &mut archive {
        record.inode = 0;
    }
    assert_eq!(layer, archive);
    assert_eq!(find(&layer, "srv/loop").device, (7, 3));
    let blobs = layout
        .files
        .iter()
        .filter(|(name, _)| name.starts_with("blobs/"));
    let bytes: usize = blobs.map(|(_, blob)| blob.len()).sum();
    let count = layer.len();
    assert_eq!(
        said,
        format!("image: {bytes} bytes, {count} entries; run it: podman run --rm oci:image\n")
    );
}

#[test]
fn a_container_starts_the_first_process() {
    let folder = folder();
    contained(&folder, &["--oci", "image"]);

    let layout = Layout::read(&folder.path("image"));

    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(
        layout.config(),
        json!({
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "Entrypoint": ["/init"],
                "Env": [path],
                "StopSignal": "SIGTERM",
                "WorkingDir": "/",
            },
            "rootfs": { "type": "layers", "diff_ids": [sha256(&layout.tar())] },
        })
    );
    let index = layout.index();
    assert_eq!(index["schemaVersion"], 2);
    let manifest = &index["manifests"][0];
    assert_eq!(
        manifest["mediaType"],
        "application/vnd.oci.image.manifest.v1+json"
    );
    assert_eq!(
        manifest["platform"],
        json!({ "architecture": "amd64", "os": "linux" })
    );
    assert_eq!(
        manifest["annotations"],
        json!({ "org.opencontainers.image.ref.name": "latest" })
    );
    assert_eq!(
        layout.manifest()["config"]["mediaType"],
        "application/vnd.oci.image.config.v1+json"
    );
}

#[test]
fn the_machine_is_that_of_the_programs() {
    let folder = folder();
    folder.write("init", elf(183));
    contained(&folder, &["--oci", "image"]);

    let layout = Layout::read(&folder.path("image"));

    assert_eq!(layout.config()["architecture"], "arm64");
    assert_eq!(
        layout.index()["manifests"][0]["platform"]["architecture"],
        "arm64"
    );
}

#[test]
fn a_layer_is_packed_as_asked_for_and_says_how() {
    let folder = folder();
    for (words, suffix) in [
        (&[][..], "+gzip"),
        (&["--compress", "none"], ""),
        (&["--compress", "gzip"], "+gzip"),
        (&["--compress", "zstd"], "+zstd"),
    ] {
        contained(&folder, &[words, &["--oci", "image"]].concat());

        let layout = Layout::read(&folder.path("image"));

        assert_eq!(
            layout.manifest()["layers"][0]["mediaType"],
            format!("application/vnd.oci.image.layer.v1.tar{suffix}")
        );
        assert_eq!(
            layout.config()["rootfs"]["diff_ids"][0],
            sha256(&layout.tar())
        );
    }
}

#[test]
fn the_files_do_not_depend_on_the_day_or_the_hand() {
    let folder = folder();
    for compression in ["none", "gzip", "zstd"] {
        contained(&folder, &["--compress", compression, "--oci", "one"]);
        // Another umask, another order of options, over another image.
        contained(&folder, &["--dir", "/other", "--oci", "two"]);
        let mut pairs: Vec<&[&str]> = IMAGE.chunks(2).collect();
        pairs.reverse();
        let again = Command::new("sh")
            .args(["-c", "umask 077; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_image"))
            .args(["--oci", "two", "--compress", compression])
            .args(pairs.concat())
            .current_dir(folder.path(""))
            .env_remove("SOURCE_DATE_EPOCH")
            .output()
            .unwrap();
        assert!(again.status.success());

        let one = files(&folder.path("one"));

        assert_eq!(one, files(&folder.path("two")));
        assert_eq!(one.len(), 5);
    }
}

#[test]
fn the_time_of_entries_is_asked_for_as_distributions_do() {
    let folder = folder();
    let words = [&IMAGE[..], &["--oci", "image"]].concat();

    let output = folder
        .command(&words)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap();

    assert!(output.status.success());
    let layer = entries(&Layout::read(&folder.path("image")).tar());
    assert!(layer.iter().all(|record| record.mtime == 1_700_000_000));
}

#[test]
fn a_manifest_asks_for_a_container_image() {
    let folder = folder();
    folder.write(
        "in/image.toml",
        "init = '../init'\nhost = '../init'\noci = 'image'\n",
    );

    let output = folder.image(&["--manifest", "in/image.toml"]);

    assert_eq!(text(&output.stderr), "");
    Layout::read(&folder.path("in/image")).config();
}

#[test]
fn a_folder_that_is_no_image_layout_stays_as_it_is() {
    let folder = folder();
    folder.write("mine/notes", "mine");
    fs::create_dir(folder.path("empty")).unwrap();
    for (name, reason) in [
        ("mine", "it is no image layout, and not empty"),
        ("motd", "not a directory"),
    ] {
        let output = folder.image(&[&IMAGE[..], &["--oci", name]].concat());

        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            text(&output.stderr),
            format!("image: write {name}: {reason}\n")
        );
    }
    assert_eq!(files(&folder.path("mine")).len(), 1);

    contained(&folder, &["--oci", "empty"]);

    Layout::read(&folder.path("empty")).config();
}

#[test]
fn an_image_that_cannot_be_made_leaves_the_old_one() {
    let folder = folder();
    contained(&folder, &["--oci", "image"]);
    let before = files(&folder.path("image"));
    folder.write("script", "#!/usr/bin/init\n");
    folder.write("riscv", elf(243));
    for (words, expected) in [
        (
            &["--init", "script", "--host", "init:/usr/bin/init"][..],
            "use /init: it is no ELF program, which would say what machine it is for",
        ),
        (
            &["--init", "riscv", "--host", "riscv:/h"],
            "use /init: it is for riscv, and a container is for x86-64 or aarch64",
        ),
        (
            &["--init", "init", "--host", "init:/h", "--dir", "/a/.wh.b"],
            "add /a/.wh.b: in a container image a name with .wh. before it takes a file away",
        ),
    ] {
        let output = folder.image(&[words, &["--oci", "image"]].concat());

        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stderr), format!("image: {expected}\n"));
        assert_eq!(files(&folder.path("image")), before);
    }
}
