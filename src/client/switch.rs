//! `host-init switch`: another version of the host.

use core::ffi::CStr;
use core::fmt::Write;

use super::{Text, code, is_init_own, signal, with_config};
use crate::base::paths;
use crate::format::name::Name;
use crate::policy::config::Config;
use crate::policy::request;
use crate::sys::versions;

/// Makes the version current that the words name, durably, and has the host started
/// anew.
pub(super) fn switch(mut words: impl Iterator<Item = &'static CStr>) -> u8 {
    let mut path = paths::CONFIG;
    let mut word = words.next();
    if word == Some(c"--config") {
        match words.next() {
            Some(given) => path = given,
            None => return usage(),
        }
        word = words.next();
    }
    match (
        word.map(|word| (word, Name::new(word.to_bytes()))),
        words.next(),
    ) {
        (Some((word, Some(_))), None) if !word.to_bytes().starts_with(b"-") => {
            with_config(path, |config| switch_to(config, word))
        }
        _ => usage(),
    }
}

fn usage() -> u8 {
    let mut out = Text(2);
    out.bytes(b"host-init: switch: expected [--config FILE] and the name of a version\n");
    code::BAD
}

fn switch_to(config: &Config<'_>, version: &CStr) -> u8 {
    let mut out = Text(2);
    let Some(link) = config.host.as_ref().and_then(|host| host.current) else {
        out.bytes(b"host-init: switch: the config has no host.current\n");
        return code::BAD;
    };
    if !is_init_own("host-init: switch") {
        return code::FAILED;
    }
    if let Err(errno) = versions::switch(link, version.to_bytes()) {
        let _ = out.write_str("host-init: switch ");
        out.bytes(link.to_bytes());
        let _ = out.write_str(" to ");
        out.bytes(version.to_bytes());
        let _ = writeln!(out, ": {errno}");
        return code::FAILED;
    }
    signal("host-init: switch", request::RESTART)
}
