//! Users and groups by name: `/etc/passwd` and `/etc/group` (`passwd(5)`, `group(5)`).

/// A user of `/etc/passwd`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct User<'t> {
    /// The user's number.
    pub uid: u32,
    /// The number of the user's own group.
    pub gid: u32,
    /// The name.
    pub name: &'t [u8],
    /// The home directory.
    pub home: &'t [u8],
}

/// The first user of this name, or of this number when there is none of the name.
/// Lines that are not right are passed over.
pub fn user<'t>(text: &'t [u8], wanted: &[u8]) -> Option<User<'t>> {
    let number = number(wanted);
    let mut users = lines(text).filter_map(user_of);
    let named = users.clone().find(|user| user.name == wanted);
    named.or_else(|| users.find(|user| Some(user.uid) == number))
}

/// The number of the first group of this name.
pub fn group(text: &[u8], wanted: &[u8]) -> Option<u32> {
    lines(text).find_map(|line| {
        let (name, gid, _) = group_of(line)?;
        (name == wanted).then_some(gid)
    })
}

/// Hands the number of each group that has this user for a member to `each`.
pub fn groups_of(text: &[u8], user: &[u8], mut each: impl FnMut(u32)) {
    for (_, gid, members) in lines(text).filter_map(group_of) {
        if members
            .split(|byte| *byte == b',')
            .any(|member| member == user)
        {
            each(gid);
        }
    }
}

/// A number as it is written for a user or a group.
pub fn number(text: &[u8]) -> Option<u32> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let number = core::str::from_utf8(text).ok().filter(|_| is_number)?;
    // The last one means "no change" to the kernel.
    number.parse().ok().filter(|number| *number != u32::MAX)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(|byte| *byte == b'\n')
}

fn user_of(line: &[u8]) -> Option<User<'_>> {
    let mut fields = line.split(|byte| *byte == b':');
    let name = fields.next().filter(|name| !name.is_empty())?;
    let uid = number(fields.nth(1)?)?;
    let gid = number(fields.next()?)?;
    let home = fields.nth(1)?;
    Some(User {
        uid,
        gid,
        name,
        home,
    })
}

fn group_of(line: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let mut fields = line.split(|byte| *byte == b':');
    let name = fields.next().filter(|name| !name.is_empty())?;
    let gid = number(fields.nth(1)?)?;
    Some((name, gid, fields.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/sh\n\
        bad line\n\
        www:x:33:34:a,b:/var/www:/usr/sbin/nologin\n\
        77:x:500:501::/home/77:/bin/sh\n";

    const GROUP: &[u8] =
        b"root:x:0:\nwww:x:34:\naudio:x:29:www,root\nnone:x:x:www\nvideo:x:44:www\n";

    #[test]
    fn a_name_is_stronger_than_a_number() {
        assert_eq!(
            user(PASSWD, b"root").map(|user| user.home),
            Some(&b"/root"[..])
        );
        assert_eq!(user(PASSWD, b"33").map(|user| user.gid), Some(34));
        assert_eq!(user(PASSWD, b"77").map(|user| user.uid), Some(500));
        assert_eq!(user(PASSWD, b"bad line"), None);
        assert_eq!(user(PASSWD, b""), None);
    }

    #[test]
    fn a_user_is_in_each_group_that_names_it() {
        let mut groups = Vec::new();

        groups_of(GROUP, b"www", |gid| groups.push(gid));

        assert_eq!(groups, [29, 44]);
        assert_eq!(group(GROUP, b"audio"), Some(29));
        assert_eq!(group(GROUP, b"none"), None);
    }

    #[test]
    fn a_number_is_digits_and_a_user_that_can_be() {
        assert_eq!(number(b"0"), Some(0));
        for text in [&b""[..], b"-1", b"+1", b"4294967295", b"4294967296", b"1 "] {
            assert_eq!(number(text), None);
        }
    }
}
