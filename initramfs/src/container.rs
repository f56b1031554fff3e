//! A container image: a tree as an OCI image layout.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::archive::Archive;
use crate::blob::{Blob, Digest};
use crate::compression::Compression;
use crate::documents::{Config, Execution, Index, LAYOUT, Manifest};
use crate::entry::Content;
use crate::error::{Error, reason, shown};
use crate::layer::Layer;
use crate::layout::Layout;
use crate::program::Program;
use crate::recipe::INIT;
use crate::replacement;

/// How a container starts: the first process, which reads its configuration.
/// `PATH` is the one that the first process would give its host by itself.
const EXECUTION: Execution = Execution {
    entrypoint: [INIT],
    env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    stop_signal: "SIGTERM",
    working_dir: "/",
};

/// The file that makes a folder an image layout.
const MARK: &str = "oci-layout";

/// Where blobs are in it.
const BLOBS: &str = "blobs/sha256";

/// A container image with one layer, which starts the tree's `/init`.
///
/// The layer is what the archive is, with the same order, owners and times, but
/// without the device nodes in `/dev`: a runtime mounts its own `/dev`. Nothing
/// else gets in, so the same archive gives the same bytes.
pub struct Container {
    /// Each after those that it refers to.
    blobs: [Blob; 3],
    index: Vec<u8>,
    entries: usize,
}

impl Container {
    /// Makes the image in memory.
    ///
    /// Refuses a tree whose `/init` is no program for a machine that containers
    /// are made for (x86-64, aarch64), and a name that starts with `.wh.`, which
    /// would take a file away.
    pub fn new(archive: &Archive, compression: Compression) -> Result<Self, Error> {
        let layout = archive.layout()?;
        let architecture = architecture(&layout)?;
        let layer = Layer::new(&layout, archive.time())?;
        let entries = layer.entries();
        let tar = layer.finish()?;
        let digest = Digest::of(&tar);
        let mut packed = Vec::new();
        compression
            .pack(&mut packed, |packer| packer.write_all(&tar))
            .map_err(|error| Error::new("pack", "the layer", reason(&error)))?;

        let layer = Blob::new(packed);
        let config = Blob::new(spelled(&Config::new(architecture, EXECUTION, &digest)));
        let manifest = Blob::new(spelled(&Manifest::new(&config, &layer, compression)));
        let index = spelled(&Index::new(&manifest, architecture));
        Ok(Self {
            blobs: [layer, config, manifest],
            index,
            entries,
        })
    }

    /// How many entries the layer has.
    #[must_use]
    pub const fn entries(&self) -> usize {
        self.entries
    }

    /// How many bytes there are to pull: the layer, packed, and its documents.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let sizes = self.blobs.iter().map(|blob| blob.bytes().len() as u64);
        sizes.sum()
    }

    /// Writes the image to a folder, which is made if it is not there. An image
    /// layout that is there becomes this one, and whatever images it had are gone;
    /// any other folder with something in it is refused.
    ///
    /// Until everything else is there the old image is what its index says.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        let wrong = |error: io::Error| Error::io("write", folder, &error);
        if !is_ours(folder).map_err(wrong)? {
            let reason = "it is no image layout, and not empty";
            return Err(Error::new("write", shown(folder), reason));
        }
        self.write(folder).map_err(wrong)
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let put =
            |path: &Path, bytes: &[u8]| replacement::write(path, |file| file.write_all(bytes));
        // First: a folder that was left half written is still known as ours.
        put(&folder.join(MARK), LAYOUT.as_bytes())?;
        let blobs = folder.join(BLOBS);
        for blob in &self.blobs {
            put(&blobs.join(blob.digest().hex()), blob.bytes())?;
        }
        put(&folder.join("index.json"), &self.index)?;

        for entry in fs::read_dir(&blobs)? {
            let entry = entry?;
            let name = entry.file_name();
            if !self.blobs.iter().any(|blob| name == blob.digest().hex()) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Whether a folder may be written to.
fn is_ours(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(folder.join(MARK).is_file() || entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// The machine of the first process, and so of every program that was checked.
fn architecture(layout: &Layout<'_>) -> Result<&'static str, Error> {
    let refuse = |reason: String| Err(Error::new("use", INIT, reason));
    let Some((_, entry)) = layout.find(&INIT.parse()?) else {
        return refuse("it is not in the tree".to_owned());
    };
    let program = match &entry.content {
        Content::File(bytes) => Program::read(bytes),
        Content::Directory | Content::Symlink(_) | Content::Device { .. } => Program::Unknown,
    };
    match program {
        Program::Elf(object) => match object.machine.architecture() {
            Some(architecture) => Ok(architecture),
            None => refuse(format!(
                "it is for {}, and a container is for x86-64 or aarch64",
                object.machine
            )),
        },
        Program::Script { .. } | Program::Unknown => {
            refuse("it is no ELF program, which would say what machine it is for".to_owned())
        }
    }
}

fn spelled(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("its keys are text, and its values can't fail")
}
