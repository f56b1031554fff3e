//! The programs that host-init stands in for, and host-init under their names.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::OnceLock;

use qemu::tools;

/// An init of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Tini,
    DumbInit,
    Catatonit,
}

pub(crate) const PEERS: [Peer; 3] = [Peer::Tini, Peer::DumbInit, Peer::Catatonit];

impl Peer {
    /// What it is called, and so its package.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tini => "tini",
            Self::DumbInit => "dumb-init",
            Self::Catatonit => "catatonit",
        }
    }

    /// The real one. There is no test without it.
    pub(crate) fn program(self) -> Program {
        static PATHS: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
        let path = PATHS[self as usize].get_or_init(|| {
            tools::unpacked_program(self.name(), self.name())
                .unwrap_or_else(|error| panic!("{error}"))
        });
        Program {
            path: path.clone(),
            name: CString::new(self.name()).unwrap(),
            side: Side::Theirs,
        }
    }

    /// host-init under its name.
    pub(crate) fn ours(self) -> Program {
        Program::ours(self.name())
    }
}

/// Whose program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Theirs,
    Ours,
}

/// A program, and the name that it is run under.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) name: CString,
    pub(crate) side: Side,
}

impl Program {
    /// host-init under any name.
    pub(crate) fn ours(name: &str) -> Self {
        Self {
            path: PathBuf::from(env!("CARGO_BIN_EXE_host-init")),
            name: CString::new(name).unwrap(),
            side: Side::Ours,
        }
    }
}
