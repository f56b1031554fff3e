//! What a bootable image for one program is made of.

use std::path::{Path, PathBuf};

use crate::archive::{Archive, contents};
use crate::check::{Named, check};
use crate::entry::{DeviceKind, Entry, Mode, Owner};
use crate::error::{Error, shown};
use crate::furniture::furnish;
use crate::libraries::Libraries;
use crate::path::ImagePath;
use crate::tree::{self, Look};

/// Where the kernel looks for the first process of an initramfs.
pub(crate) const INIT: &str = "/init";

/// Where the first process looks for its configuration.
const CONFIG: &str = "/etc/host-init.toml";

/// Where a host goes that is not told otherwise.
const PROGRAMS: &str = "/usr/bin";

/// A bootable image for one program.
///
/// It holds `/init`, the host, a configuration that runs it, the directories and
/// devices that a boot needs, and the items. An item at a path of those takes its
/// place, except for `/init`, the host and the configuration, which exist once.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The first process, which goes to `/init`.
    pub init: PathBuf,
    /// The program that the image exists for.
    pub host: Option<Host>,
    /// The file that goes to `/etc/host-init.toml`; without it, one that runs
    /// the host is made.
    pub config: Option<PathBuf>,
    /// What to do about shared libraries that are not in the image.
    pub libraries: Libraries,
    /// What else is in the image.
    pub items: Vec<Item>,
}

/// The program that an image exists for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    /// Where it is now.
    pub source: PathBuf,
    /// Where it goes; without it, `/usr/bin` and its name.
    pub path: Option<ImagePath>,
    /// What it is started with, its name aside.
    pub arguments: Vec<String>,
}

/// One thing that somebody wants in an image.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    /// Where it goes.
    pub path: ImagePath,
    /// What it is.
    pub what: What,
    /// Its mode. Without it: 0755 for a directory, 0600 for a device; for a file
    /// 0755 if its owner may execute the source, else 0644.
    pub mode: Option<Mode>,
    /// Who owns it and, for a tree, everything in it.
    pub owner: Owner,
}

/// What an [`Item`] is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    /// A directory.
    Directory,
    /// A file with the bytes of one on this machine. If it can be executed, it
    /// has to be able to start: see [`Recipe::archive`].
    File(PathBuf),
    /// A file with this text.
    Text(String),
    /// A directory of this machine with everything in it; the mode is that of
    /// its files. It is taken as it is: nothing in it has to be able to start.
    Tree(PathBuf),
    /// A symlink with this text.
    Symlink(PathBuf),
    /// A device node.
    Device {
        /// Char or block.
        kind: DeviceKind,
        /// The driver.
        major: u32,
        /// The driver's device.
        minor: u32,
    },
}

impl Recipe {
    /// An image with a first process and nothing to run.
    #[must_use]
    pub fn new(init: impl Into<PathBuf>) -> Self {
        Self {
            init: init.into(),
            host: None,
            config: None,
            libraries: Libraries::Refuse,
            items: Vec::new(),
        }
    }

    /// Reads everything and puts it in its place.
    ///
    /// Refuses an image that could not start: without a configuration; with a
    /// host, a first process or an executable file that is for another machine,
    /// whose loader or libraries are not there, or whose `#!` names a program
    /// that is not there.
    pub fn archive(&self) -> Result<Archive, Error> {
        let mut archive = Archive::new();
        let mut named = Vec::new();
        archive.add(INIT, Entry::file(contents(&self.init)?).mode(0o755))?;
        named.push(Named::required(&self.init, INIT.parse()?));
        if let Some(host) = &self.host {
            let path = host.path()?;
            let entry = Entry::file(contents(&host.source)?).mode(0o755);
            archive.place(path.clone(), entry)?;
            named.push(Named::required(&host.source, path));
        }
        self.configure(&mut archive)?;
        for item in &self.items {
            item.add(&mut archive)?;
            if let What::File(source) = &item.what {
                named.push(Named::optional(source, item.path.clone()));
            }
        }
        furnish(&mut archive)?;
        if archive.layout()?.find(&CONFIG.parse()?).is_none() {
            let reason = "nothing to run: it needs a host or a configuration";
            return Err(Error::new("make", "the image", reason));
        }
        check(&mut archive, &named, self.libraries)?;
        Ok(archive)
    }

    fn configure(&self, archive: &mut Archive) -> Result<(), Error> {
        if let Some(config) = &self.config {
            archive.file_from(CONFIG, 0o644, config)?;
        } else if let Some(host) = &self.host {
            archive.file(CONFIG, 0o644, host.config()?)?;
        }
        Ok(())
    }
}

impl Host {
    /// A program that goes to `/usr/bin` under its own name.
    #[must_use]
    pub fn new(source: impl Into<PathBuf>) -> Self {
        Self {
            source: source.into(),
            path: None,
            arguments: Vec::new(),
        }
    }

    fn path(&self) -> Result<ImagePath, Error> {
        if let Some(path) = &self.path {
            return Ok(path.clone());
        }
        match self.source.file_name() {
            Some(name) => ImagePath::parse(Path::new(PROGRAMS).join(name)),
            None => Err(Error::new("add", shown(&self.source), "it has no name")),
        }
    }

    /// The configuration that runs it and nothing else.
    fn config(&self) -> Result<String, Error> {
        let path = self.path()?.to_path_buf();
        let Some(path) = path.to_str() else {
            let reason = "a configuration cannot spell its name: give one with --config";
            return Err(Error::new("run", shown(&path), reason));
        };
        let words = std::iter::once(path).chain(self.arguments.iter().map(String::as_str));
        let words: Vec<String> = words
            .map(|word| toml::Value::from(word).to_string())
            .collect();
        Ok(format!("[host]\ncommand = [{}]\n", words.join(", ")))
    }
}

impl Item {
    fn add(&self, archive: &mut Archive) -> Result<(), Error> {
        let look = Look {
            mode: self.mode,
            owner: self.owner,
        };
        let entry = match &self.what {
            What::File(source) => return tree::add_file(archive, &self.path, source, look),
            What::Tree(source) => return tree::add(archive, &self.path, source, look),
            What::Directory => Entry::directory(),
            What::Text(text) => Entry::file(text.as_bytes()),
            What::Symlink(target) => Entry::symlink(target),
            What::Device { kind, major, minor } => Entry::device(*kind, *major, *minor),
        };
        let entry = match self.mode {
            Some(mode) => entry.mode(mode.bits()),
            None => entry,
        };
        archive.place(self.path.clone(), entry.owner(self.owner))?;
        Ok(())
    }
}
