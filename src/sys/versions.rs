//! A link to the current version, beside which the others are.

use core::ffi::CStr;
use core::ops::Range;

use super::{Result, files};
use crate::base::errno::Errno;
use crate::base::limits::PATH_BYTES;

/// The last word of where the link leads.
///
/// # Errors
///
/// The kernel's reasons: `ENOENT` for no link, `EINVAL` for what is none.
pub fn current<'b>(link: &CStr, buffer: &'b mut [u8; PATH_BYTES]) -> Result<&'b [u8]> {
    let target = files::read_link(link, buffer)?;
    let name = name(target);
    Ok(target.get(name).unwrap_or_default())
}

/// Makes the link lead to the version of this name beside the one that it leads to now,
/// at once and durably. The version must be there.
///
/// # Errors
///
/// As of [`files::replace_link`].
pub fn switch(link: &CStr, name: &[u8]) -> Result<()> {
    let mut buffer = [0; PATH_BYTES];
    let start = self::name(files::read_link(link, &mut buffer)?).start;
    let place = buffer.get_mut(start..).unwrap_or_default();
    // A null byte is behind the name.
    if place.len() <= name.len() {
        return Err(Errno::ENAMETOOLONG);
    }
    place.fill(0);
    for (place, byte) in place.iter_mut().zip(name) {
        *place = *byte;
    }
    let target = CStr::from_bytes_until_nul(&buffer).map_err(|_| Errno::ENAMETOOLONG)?;
    files::replace_link(link, target)
}

/// Where the last word of a path is; slashes behind it mean nothing.
fn name(path: &[u8]) -> Range<usize> {
    let is_slash = |byte: &u8| *byte == b'/';
    let end = path.iter().rposition(|byte| !is_slash(byte));
    let end = end.map_or(0, |at| at + 1);
    let start = path.iter().take(end).rposition(is_slash);
    start.map_or(0, |at| at + 1)..end
}
