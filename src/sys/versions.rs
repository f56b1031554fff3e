//! A link to the current version, beside which the others are.

use core::ffi::CStr;

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
    Ok(target
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default())
}

/// Makes the link lead to the version of this name beside the one that it leads to now,
/// at once and durably. The version must be there.
///
/// # Errors
///
/// The kernel's reasons; the link is then as before.
pub fn switch(link: &CStr, name: &[u8]) -> Result<()> {
    let mut buffer = [0; PATH_BYTES];
    let target = files::read_link(link, &mut buffer)?;
    let start = target.iter().rposition(|byte| *byte == b'/');
    let start = start.map_or(0, |at| at + 1);
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
