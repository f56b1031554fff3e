//! Entrypoints beside others: their guests, and what each is told.

use std::error::Error;
use std::path::PathBuf;

use initramfs::{Compression, Host, Item, Libraries, Owner, Recipe, What};

use crate::guest::{self, Said};
use crate::programs::Programs;

/// An entrypoint.
pub(crate) struct Entrypoint {
    /// What the tables call it.
    pub(crate) name: &'static str,
    /// Its program.
    pub(crate) path: PathBuf,
    /// Options that have a command killed a second after it was asked to end; none
    /// where there are no such options.
    pub(crate) kill_after: &'static [&'static str],
}

/// All of them, the floor first: the others are measured against it.
pub(crate) fn all(programs: &Programs) -> Result<Vec<Entrypoint>, Box<dyn Error>> {
    let ours = |name, program| Entrypoint {
        name,
        path: programs.path(program),
        kill_after: &[],
    };
    let mut all = vec![
        ours("floor", "least"),
        ours("floor-autoreap", "least-autoreap"),
        Entrypoint {
            kill_after: &["--kill-after", "1s"],
            ..ours("host-init", "host-init")
        },
    ];
    for (name, package) in [
        ("tini-static", "tini"),
        ("tini", "tini"),
        ("catatonit", "catatonit"),
        ("dumb-init", "dumb-init"),
    ] {
        all.push(Entrypoint {
            name,
            path: qemu::tools::unpacked_program(name, package)?,
            kill_after: &[],
        });
    }
    Ok(all)
}

impl Entrypoint {
    /// Boots a guest in which it is measured.
    pub(crate) fn measure(&self, programs: &Programs) -> Result<Said, Box<dyn Error>> {
        guest::run(self.image(programs, &[])?, "")
    }

    /// Boots a guest that tells the kernel's trace of one run.
    pub(crate) fn trace(&self, programs: &Programs, words: &str) -> Result<Said, Box<dyn Error>> {
        let mark = item("/trace", What::Text(String::new()))?;
        guest::run(self.image(programs, &[mark])?, words)
    }

    /// An image with the program that measures, the entrypoint and its libraries, and
    /// its commands.
    fn image(&self, programs: &Programs, more: &[Item]) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut recipe = Recipe::new(programs.path("runner"));
        recipe.host = Some(Host {
            path: Some("/entry".parse()?),
            ..Host::new(&self.path)
        });
        recipe.libraries = Libraries::Copy;
        let mut options = String::new();
        for word in self.kill_after {
            options.push_str(word);
            options.push('\0');
        }
        recipe.items = vec![
            item("/options", What::Text(options))?,
            item("/end", What::File(programs.path("end")))?,
            item("/command", What::File(programs.path("command")))?,
        ];
        recipe.items.extend_from_slice(more);
        Ok(recipe.archive()?.write(Compression::None)?)
    }
}

fn item(path: &str, what: What) -> Result<Item, Box<dyn Error>> {
    Ok(Item {
        path: path.parse()?,
        what,
        mode: None,
        owner: Owner::ROOT,
    })
}
