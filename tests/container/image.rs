//! An image of a host, made by the command as people do.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use qemu::tools;
use serde_json::Value;

use crate::tree::{HOST_INIT, Tree, done};

/// Says what it was given and stays until it is asked to end.
const HOST: &str = "\
#!/bin/sh
trap 'echo host: asked to end; exit 0' TERM
echo \"host: $PATH in $PWD, $1\"
sleep 1000 &
wait
";

/// What the host says when it is up.
pub(crate) const UP: &str =
    "host: /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin in /, an argument";

/// Makes the image, beside a tree.
pub(crate) fn made(tree: &Tree) -> PathBuf {
    let image = tree.beside("image");
    let host = tree.beside("host");
    fs::write(&host, HOST).unwrap();
    let busybox = tools::busybox().unwrap();
    let words = [
        "--init".into(),
        HOST_INIT.into(),
        "--host".into(),
        host.into_os_string(),
        "--add".into(),
        with(&busybox, ":/bin/busybox:0755"),
        "--symlink".into(),
        "busybox:/bin/sh".into(),
        "--symlink".into(),
        "busybox:/bin/sleep".into(),
        "--oci".into(),
        image.clone().into_os_string(),
        "--".into(),
        "an argument".into(),
    ];
    assert_eq!(initramfs::run(words), ExitCode::SUCCESS);
    image
}

fn with(path: &Path, rest: &str) -> OsString {
    let mut word = path.as_os_str().to_owned();
    word.push(rest);
    word
}

/// Unpacks an image in place of a tree; how it says that it is started.
pub(crate) fn unpacked(image: &Path, tree: &Tree) -> Value {
    let root = tree.root();
    fs::remove_dir_all(&root).unwrap();
    fs::create_dir(&root).unwrap();
    let index: Value = json(&image.join("index.json"));
    let manifest = json(&blob(image, &index["manifests"][0]));
    let layer = blob(image, &manifest["layers"][0]);
    done(
        Command::new("tar")
            .args(["--numeric-owner", "-xpf"])
            .arg(layer)
            .arg("-C")
            .arg(root),
    );
    json(&blob(image, &manifest["config"]))["config"].clone()
}

fn blob(image: &Path, descriptor: &Value) -> PathBuf {
    let digest = descriptor["digest"].as_str().unwrap();
    image.join("blobs").join(digest.replace(':', "/"))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}
