//! The documents of a container image, as the OCI image specification spells them.
//!
//! The order of the fields is the order of the bytes, and so part of the digests.

use serde::Serialize;

use crate::blob::{Blob, Digest};
use crate::compression::Compression;

/// The file that says which layout a folder has.
pub(crate) const LAYOUT: &str = r#"{"imageLayoutVersion":"1.0.0"}"#;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";

/// What every manifest and index of version 1 says of itself.
const SCHEMA_VERSION: u8 = 2;

/// What tools ask for that were told no tag.
const TAG: &str = "latest";

/// What of a folder is an image: here one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Index {
    schema_version: u8,
    media_type: &'static str,
    manifests: [Tagged; 1],
}

impl Index {
    pub(crate) fn new(manifest: &Blob, architecture: &'static str) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            media_type: INDEX,
            manifests: [Tagged {
                descriptor: Descriptor::new(MANIFEST, manifest),
                platform: Platform::linux(architecture),
                annotations: Annotations { tag: TAG },
            }],
        }
    }
}

/// The parts of an image.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    schema_version: u8,
    media_type: &'static str,
    config: Descriptor,
    layers: [Descriptor; 1],
}

impl Manifest {
    pub(crate) fn new(config: &Blob, layer: &Blob, compression: Compression) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            media_type: MANIFEST,
            config: Descriptor::new(CONFIG, config),
            layers: [Descriptor::new(layer_type(compression), layer)],
        }
    }
}

/// What an image is for and how it is started.
#[derive(Serialize)]
pub(crate) struct Config {
    #[serde(flatten)]
    platform: Platform,
    config: Execution,
    rootfs: Rootfs,
}

impl Config {
    /// `layer` is the digest of the layer before it was packed.
    pub(crate) fn new(architecture: &'static str, execution: Execution, layer: &Digest) -> Self {
        Self {
            platform: Platform::linux(architecture),
            config: execution,
            rootfs: Rootfs {
                kind: "layers",
                diff_ids: [layer.to_string()],
            },
        }
    }
}

/// What a container is started with when nobody says otherwise.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Execution {
    pub(crate) entrypoint: [&'static str; 1],
    pub(crate) env: [&'static str; 1],
    pub(crate) stop_signal: &'static str,
    pub(crate) working_dir: &'static str,
}

#[derive(Serialize)]
struct Rootfs {
    #[serde(rename = "type")]
    kind: &'static str,
    diff_ids: [String; 1],
}

#[derive(Serialize)]
struct Platform {
    architecture: &'static str,
    os: &'static str,
}

impl Platform {
    const fn linux(architecture: &'static str) -> Self {
        Self {
            architecture,
            os: "linux",
        }
    }
}

/// What an index knows of an image beside where it is.
#[derive(Serialize)]
struct Tagged {
    #[serde(flatten)]
    descriptor: Descriptor,
    platform: Platform,
    annotations: Annotations,
}

#[derive(Serialize)]
struct Annotations {
    #[serde(rename = "org.opencontainers.image.ref.name")]
    tag: &'static str,
}

/// A reference to a blob.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: &'static str,
    digest: String,
    size: usize,
}

impl Descriptor {
    fn new(media_type: &'static str, blob: &Blob) -> Self {
        Self {
            media_type,
            digest: blob.digest().to_string(),
            size: blob.bytes().len(),
        }
    }
}

const fn layer_type(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "application/vnd.oci.image.layer.v1.tar",
        Compression::Gzip => "application/vnd.oci.image.layer.v1.tar+gzip",
        Compression::Zstd => "application/vnd.oci.image.layer.v1.tar+zstd",
    }
}
