//! Who the command runs as.

use core::ffi::CStr;

use crate::base::errno::Errno;
use crate::base::limits;
use crate::entrypoint::voice::Speaker;
use crate::format::passwd;
use crate::sys::memory::{self, Scratch};
use crate::sys::spawn::Identity;
use crate::sys::{Result, files};

/// A user that was found.
pub struct Found {
    /// The numbers.
    pub identity: Identity,
    /// `HOME=` and the user's directory, when it is known.
    pub home: Option<&'static CStr>,
}

/// Finds `USER[:GROUP]`, each a name or a number; who can't be found is the end.
///
/// A user by number need not be known to the image, and keeps the group then.
pub fn find(wanted: &CStr, speaker: &Speaker) -> Found {
    let mut parts = wanted.to_bytes().splitn(2, |byte| *byte == b':');
    let (user, group) = (parts.next().unwrap_or_default(), parts.next());
    speaker.need("find the user", search(user, group))
}

fn search(user: &[u8], group: Option<&[u8]>) -> Result<Found> {
    let mut memory = Scratch::new(limits::USERS_BYTES)?;
    let known = passwd::user(read(c"/etc/passwd", &mut memory)?, user);
    let uid = known
        .map(|known| known.uid)
        .or_else(|| passwd::number(user));
    let mut identity = Identity {
        user: Some(uid.ok_or(Errno::ENOENT)?),
        group: known.map(|known| known.gid),
        groups: [0; limits::GROUPS],
        count: 0,
    };
    let mut memory = Scratch::new(limits::USERS_BYTES)?;
    let groups = read(c"/etc/group", &mut memory)?;
    let mut add = |gid: u32| {
        if let Some(place) = identity.groups.get_mut(identity.count) {
            *place = gid;
            identity.count += 1;
        }
    };
    match (group, known) {
        (Some(group), _) => {
            let gid = passwd::group(groups, group).or_else(|| passwd::number(group));
            let gid = gid.ok_or(Errno::ENOENT)?;
            add(gid);
            identity.group = Some(gid);
        }
        (None, Some(known)) => {
            add(known.gid);
            passwd::groups_of(groups, known.name, add);
        }
        (None, None) => {}
    }
    let home = match known {
        Some(known) => Some(memory::kept(&[b"HOME=", known.home])?),
        None => None,
    };
    Ok(Found { identity, home })
}

/// What a file of the image says; nothing where the image has none.
fn read<'m>(path: &CStr, memory: &'m mut Scratch) -> Result<&'m [u8]> {
    match files::read(path, memory.bytes()) {
        Ok(text) => Ok(text),
        Err(Errno::ENOENT) => Ok(&[]),
        Err(errno) => Err(errno),
    }
}

/// A number in decimal.
pub fn number_text(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789"[number as usize % 10];
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}
