//! The manifest's tables as structs: what serde can check, it checks.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};

use crate::compression::Compression;
use crate::entry::{DeviceKind, Mode, Owner};
use crate::path::ImagePath;
use crate::recipe::{Item, What};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Tables {
    #[serde(default, deserialize_with = "some_word")]
    pub(crate) compress: Option<Compression>,
    pub(crate) init: Option<PathBuf>,
    pub(crate) host: Option<PathBuf>,
    #[serde(default, deserialize_with = "some_word")]
    pub(crate) host_path: Option<ImagePath>,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) libraries: Option<bool>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) oci: Option<PathBuf>,
    #[serde(default)]
    pub(crate) directory: Vec<DirectoryTable>,
    #[serde(default)]
    pub(crate) file: Vec<FileTable>,
    #[serde(default)]
    pub(crate) tree: Vec<TreeTable>,
    #[serde(default)]
    pub(crate) symlink: Vec<SymlinkTable>,
    #[serde(default)]
    pub(crate) device: Vec<DeviceTable>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DirectoryTable {
    #[serde(deserialize_with = "word")]
    path: ImagePath,
    #[serde(default, deserialize_with = "some_word")]
    mode: Option<Mode>,
    #[serde(default)]
    uid: u32,
    #[serde(default)]
    gid: u32,
}

impl DirectoryTable {
    pub(crate) fn item(self) -> Item {
        Item {
            path: self.path,
            what: What::Directory,
            mode: self.mode,
            owner: owner(self.uid, self.gid),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(try_from = "FileFields")]
pub(crate) struct FileTable {
    path: ImagePath,
    bytes: Bytes,
    mode: Option<Mode>,
    owner: Owner,
}

enum Bytes {
    Source(PathBuf),
    Contents(String),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFields {
    #[serde(deserialize_with = "word")]
    path: ImagePath,
    source: Option<PathBuf>,
    contents: Option<String>,
    #[serde(default, deserialize_with = "some_word")]
    mode: Option<Mode>,
    #[serde(default)]
    uid: u32,
    #[serde(default)]
    gid: u32,
}

impl TryFrom<FileFields> for FileTable {
    type Error = String;

    fn try_from(fields: FileFields) -> Result<Self, String> {
        let bytes = match (fields.source, fields.contents) {
            (Some(source), None) => Bytes::Source(source),
            (None, Some(contents)) => Bytes::Contents(contents),
            (None, None) | (Some(_), Some(_)) => {
                return Err("a file has either `source` or `contents`".to_owned());
            }
        };
        Ok(Self {
            path: fields.path,
            bytes,
            mode: fields.mode,
            owner: owner(fields.uid, fields.gid),
        })
    }
}

impl FileTable {
    pub(crate) fn item(self, folder: &Path) -> Item {
        Item {
            path: self.path,
            what: match self.bytes {
                Bytes::Source(source) => What::File(folder.join(source)),
                Bytes::Contents(contents) => What::Text(contents),
            },
            mode: self.mode,
            owner: self.owner,
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreeTable {
    #[serde(deserialize_with = "word")]
    path: ImagePath,
    source: PathBuf,
    #[serde(default, deserialize_with = "some_word")]
    mode: Option<Mode>,
    #[serde(default)]
    uid: u32,
    #[serde(default)]
    gid: u32,
}

impl TreeTable {
    pub(crate) fn item(self, folder: &Path) -> Item {
        Item {
            path: self.path,
            what: What::Tree(folder.join(self.source)),
            mode: self.mode,
            owner: owner(self.uid, self.gid),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SymlinkTable {
    #[serde(deserialize_with = "word")]
    path: ImagePath,
    target: PathBuf,
    #[serde(default)]
    uid: u32,
    #[serde(default)]
    gid: u32,
}

impl SymlinkTable {
    pub(crate) fn item(self) -> Item {
        Item {
            path: self.path,
            what: What::Symlink(self.target),
            mode: None,
            owner: owner(self.uid, self.gid),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceTable {
    #[serde(deserialize_with = "word")]
    path: ImagePath,
    kind: KindWord,
    major: u32,
    minor: u32,
    #[serde(default, deserialize_with = "some_word")]
    mode: Option<Mode>,
    #[serde(default)]
    uid: u32,
    #[serde(default)]
    gid: u32,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindWord {
    Char,
    Block,
}

impl DeviceTable {
    pub(crate) fn item(self) -> Item {
        Item {
            path: self.path,
            what: What::Device {
                kind: match self.kind {
                    KindWord::Char => DeviceKind::Char,
                    KindWord::Block => DeviceKind::Block,
                },
                major: self.major,
                minor: self.minor,
            },
            mode: self.mode,
            owner: owner(self.uid, self.gid),
        }
    }
}

const fn owner(user: u32, group: u32) -> Owner {
    Owner { user, group }
}

/// A string that is read into a type of ours.
fn word<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(D::Error::custom)
}

fn some_word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    word(deserializer).map(Some)
}
