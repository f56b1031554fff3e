//! The inits of a comparison: their files, and what each is told.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use crate::programs::Programs;

/// An init, and all that an image needs for it to do the job.
pub(crate) struct Contestant {
    /// What the tables call it.
    pub(crate) name: &'static str,
    /// Its files: where in the image, which mode, and from where.
    pub(crate) files: Vec<(&'static str, u32, Content)>,
}

/// What is in a file of an image.
pub(crate) enum Content {
    /// The bytes of a file of this machine.
    Copy(PathBuf),
    /// A text.
    Text(&'static str),
}

/// host-init's own: the boot job is built in, and everything else has a default.
/// No delay between starts, and the grace of the others.
const CONFIG: &str = "\
hostname = \"bench\"

[host]
command = [\"/host\"]
stop-grace = \"1s\"
backoff = \"0s\"
";

/// busybox init's.
const INITTAB: &str = "\
::sysinit:/job
::respawn:/host
";

/// All of them, the floor first: the others are measured against it.
pub(crate) fn all(programs: &Programs) -> Result<Vec<Contestant>, Box<dyn Error>> {
    let init = |path| ("/init", 0o755, Content::Copy(path));
    Ok(vec![
        Contestant {
            name: "floor",
            files: vec![init(programs.path("floor"))],
        },
        Contestant {
            name: "floor-autoreap",
            files: vec![init(programs.path("floor-autoreap"))],
        },
        Contestant {
            name: "host-init",
            files: vec![
                init(programs.path("host-init")),
                ("/etc/host-init.toml", 0o644, Content::Text(CONFIG)),
            ],
        },
        Contestant {
            name: "busybox init",
            files: vec![
                init(qemu::tools::busybox()?),
                ("/etc/inittab", 0o644, Content::Text(INITTAB)),
                ("/job", 0o755, Content::Copy(programs.path("job"))),
            ],
        },
    ])
}

impl Content {
    /// The bytes themselves.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        match self {
            Self::Copy(path) => {
                fs::read(path).map_err(|error| format!("read {}: {error}", path.display()).into())
            }
            Self::Text(text) => Ok(text.as_bytes().to_vec()),
        }
    }
}
