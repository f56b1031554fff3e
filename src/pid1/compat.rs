//! The files of a launcher script: what a host comes with from it, and what people and
//! programs that know these files read of it since.
//!
//! Each file is whole at every moment, also over a power cut. They are written one
//! after the other, after the record: where they disagree, the record counts, and the
//! next write puts them right.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::level::Level;
use crate::format::launcher::{self, ATTEMPTS, HALTED, TAKEN_BACK};
use crate::pid1::log::{Log, Part};
use crate::policy::trial::{Mark, Version};
use crate::sys::{Fd, Result, files};

/// Bytes of a file that are looked at.
const LOOKED_AT: usize = 256;

/// What a file is written as until it has its name.
const ASIDE: &CStr = c".host-init-launcher";

/// What the launcher has left of this version; none when that is nothing.
pub fn import(path: &CStr, version: Version, log: &Log) -> Option<Mark> {
    let directory = match files::open_directory(path) {
        Ok(directory) => directory,
        Err(errno) => {
            if errno != Errno::ENOENT {
                log.failed(Level::Warning, "read", path.to_bytes(), errno);
            }
            return None;
        }
    };
    let mut buffer = [0; LOOKED_AT];
    let mut mark = Mark {
        failures: launcher::attempts(read(&directory, ATTEMPTS, &mut buffer, log)),
        version,
        ..Mark::default()
    };
    let is_taken_back = files::exists_at(&directory, TAKEN_BACK);
    if is_taken_back {
        mark.condemned.remember(version);
    }
    let mut reason: &[u8] = b"";
    if files::exists_at(&directory, HALTED) {
        reason = read(&directory, HALTED, &mut buffer, log);
        mark.halted = Some(launcher::halt(reason));
    }
    if mark.failures == 0 && mark.halted.is_none() && !is_taken_back {
        return None;
    }
    let halted = if mark.halted.is_some() {
        ", halted: "
    } else {
        ""
    };
    log.say(
        Level::Notice,
        &[
            Part::Text("launcher: "),
            Part::Number(mark.failures.into()),
            Part::Text(" failures"),
            Part::Text(if is_taken_back { ", taken back" } else { "" }),
            Part::Text(halted),
            Part::Bytes(reason.trim_ascii_end()),
        ],
    );
    Some(mark)
}

/// Writes what is true now, where a file says something else.
///
/// # Errors
///
/// The kernel's reasons of the first file that can't be written.
pub fn mirror(path: &CStr, mark: &Mark) -> Result<()> {
    let current = mark.version;
    let is_taken_back = mark.condemned.contains(current) || mark.going == Some(current);
    let directory = match files::open_directory(path) {
        Err(Errno::ENOENT) if mark.failures == 0 && mark.halted.is_none() && !is_taken_back => {
            return Ok(());
        }
        Err(Errno::ENOENT) => {
            files::make_directories(path, 0o755)?;
            files::open_directory(path)?
        }
        opened => opened?,
    };
    write_attempts(&directory, mark.failures)?;
    write_presence(&directory, TAKEN_BACK, is_taken_back.then_some(None))?;
    write_presence(&directory, HALTED, mark.halted.map(launcher::reason))
}

fn write_attempts(directory: &Fd, failures: u32) -> Result<()> {
    let mut buffer = [0; LOOKED_AT];
    let text = launcher::spell_attempts(failures);
    match files::read_start_at(directory, ATTEMPTS, &mut buffer) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Err(Errno::ENOENT) if failures == 0 => Ok(()),
        Ok(_) | Err(_) => files::replace_durably(directory, ATTEMPTS, ASIDE, text.as_bytes()),
    }
}

/// Has a file there or not. Whatever it says is as good as nothing that it is to say.
fn write_presence(directory: &Fd, name: &CStr, wanted: Option<Option<&str>>) -> Result<()> {
    let mut buffer = [0; LOOKED_AT];
    let is_there = files::exists_at(directory, name);
    match wanted {
        None if is_there => files::remove_durably(directory, name),
        Some(None) if is_there => Ok(()),
        Some(Some(text))
            if files::read_start_at(directory, name, &mut buffer) == Ok(text.as_bytes()) =>
        {
            Ok(())
        }
        Some(text) => {
            let text = text.unwrap_or_default().as_bytes();
            files::replace_durably(directory, name, ASIDE, text)
        }
        None => Ok(()),
    }
}

/// The start of a file; nothing of one that can't be read, which is said.
fn read<'b>(directory: &Fd, name: &CStr, buffer: &'b mut [u8], log: &Log) -> &'b [u8] {
    match files::read_start_at(directory, name, buffer) {
        Ok(text) => text,
        Err(errno) => {
            if errno != Errno::ENOENT {
                log.failed(Level::Warning, "read", name.to_bytes(), errno);
            }
            b""
        }
    }
}
