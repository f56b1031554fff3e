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
/// As of [`files::replace_link`]; `ELOOP` for the link's own name, beside it.
pub fn switch(link: &CStr, name: &[u8]) -> Result<()> {
    let mut buffer = [0; PATH_BYTES];
    let target = files::read_link(link, &mut buffer)?;
    let start = self::name(target).start;
    let (beside, own) = link.to_bytes().split_at(self::name(link.to_bytes()).start);
    let is_beside = start == 0 || target.get(..start) == Some(beside);
    if is_beside && own == name {
        // It would lead to itself.
        return Err(Errno::ELOOP);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn a_link_leads_to_a_version_beside_the_one_before_and_never_to_itself() {
        let name = format!("host-init-versions-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        for version in ["1", "2"] {
            fs::create_dir_all(directory.join(version)).unwrap();
        }
        let link = directory.join("current");
        let path = CString::new(link.to_str().unwrap()).unwrap();
        let absolute = directory.join("1");
        for target in [Path::new("1"), Path::new("1/"), &absolute] {
            symlink(target, &link).unwrap();
            let mut buffer = [0; PATH_BYTES];
            assert_eq!(current(&path, &mut buffer).unwrap(), b"1");

            assert_eq!(switch(&path, b"current"), Err(Errno::ELOOP));
            assert_eq!(fs::read_link(&link).unwrap(), target);
            assert_eq!(switch(&path, b"3"), Err(Errno::ENOENT));

            switch(&path, b"2").unwrap();
            assert_eq!(current(&path, &mut buffer).unwrap(), b"2");
            fs::remove_file(&link).unwrap();
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
