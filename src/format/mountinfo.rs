//! The mount table of the kernel: `/proc/self/mountinfo`, one line a mount.
//!
//! See `proc_pid_mountinfo(5)`. Fields are parted by single spaces and may be
//! empty; space, tab, newline, backslash and (in a source) `#` inside a field
//! are octal escapes. The slices here are still escaped: compare an escaped
//! with an escaped one, or decode with [`unescape`].

/// One mount. Every slice is as the kernel wrote it, escapes included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    /// The mount's number; used again after it is unmounted.
    pub id: u32,
    /// The mount under it; itself at the top of the tree.
    pub parent: u32,
    /// Major number of the device.
    pub major: u32,
    /// Minor number of the device.
    pub minor: u32,
    /// What of the filesystem is mounted: `/`, or the source of a bind mount;
    /// with `//deleted` at its end when that was removed since.
    pub root: &'a [u8],
    /// Where it is mounted, as seen from this process's root. Not unique:
    /// a later line covers an earlier one.
    pub target: &'a [u8],
    /// Options of this mount (`ro`, `nosuid`).
    pub options: &'a [u8],
    /// The optional fields (`shared:1 master:2`), often empty.
    pub optional: &'a [u8],
    /// The filesystem type.
    pub kind: &'a [u8],
    /// A device, or whatever the type calls its source; may be empty.
    pub source: &'a [u8],
    /// Options of the filesystem, which all its mounts share.
    pub super_options: &'a [u8],
}

/// One line without its newline; none when it is not whole.
pub fn parse_line(line: &[u8]) -> Option<Entry<'_>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (id, rest) = split(line, b' ')?;
    let (parent, rest) = split(rest, b' ')?;
    let (device, rest) = split(rest, b' ')?;
    let (major, minor) = split(device, b':')?;
    let (root, rest) = split(rest, b' ')?;
    let (target, rest) = split(rest, b' ')?;
    let (options, rest) = split(rest, b' ')?;
    let (optional, rest) = split_optional(rest)?;
    let (kind, rest) = split(rest, b' ')?;
    // Some filesystems write a space in their options: the rest is theirs.
    let (source, super_options) = split(rest, b' ')?;
    Some(Entry {
        id: number(id)?,
        parent: number(parent)?,
        major: number(major)?,
        minor: number(minor)?,
        root,
        target,
        options,
        optional,
        kind,
        source,
        super_options,
    })
}

/// Decodes the escapes of a field into `buffer`; none when it does not fit.
///
/// A backslash that starts no escape stands for itself. The answer is never
/// longer than `raw`.
pub fn unescape<'b>(raw: &[u8], buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let mut rest = raw;
    let mut length = 0_usize;
    while let Some((byte, after)) = next_byte(rest) {
        *buffer.get_mut(length)? = byte;
        length = length.saturating_add(1);
        rest = after;
    }
    buffer.get(..length)
}

/// The byte at the start of an escaped field, and what is behind it.
fn next_byte(raw: &[u8]) -> Option<(u8, &[u8])> {
    if let [
        b'\\',
        high @ b'0'..=b'3',
        middle @ b'0'..=b'7',
        low @ b'0'..=b'7',
        rest @ ..,
    ] = raw
    {
        let byte = (high & 3) << 6 | (middle & 7) << 3 | (low & 7);
        return Some((byte, rest));
    }
    raw.split_first().map(|(byte, rest)| (*byte, rest))
}

/// The optional fields, and what is behind the `-` that ends them.
fn split_optional(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(after) = rest.strip_prefix(b"- ") {
        return Some((&[], after));
    }
    let end = rest.windows(3).position(|window| window == b" - ")?;
    Some((rest.get(..end)?, rest.get(end.saturating_add(3)..)?))
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == at)?;
    Some((text.get(..end)?, text.get(end.saturating_add(1)..)?))
}

fn number(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] =
        b"36 35 98:0 /mnt1 /mnt2 rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue";

    fn decoded(raw: &[u8]) -> Vec<u8> {
        unescape(raw, &mut vec![0; raw.len()]).unwrap().to_vec()
    }

    /// As the kernel's `seq_path` and `mangle` do.
    fn escaped(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for byte in bytes {
            if b" \t\n\\#".contains(byte) {
                out.extend(format!("\\{byte:03o}").bytes());
            } else {
                out.push(*byte);
            }
        }
        out
    }

    #[test]
    fn the_example_of_the_manual_page_is_read() {
        let entry = parse_line(PLAIN).unwrap();

        assert_eq!((entry.id, entry.parent), (36, 35));
        assert_eq!((entry.major, entry.minor), (98, 0));
        assert_eq!(entry.root, b"/mnt1");
        assert_eq!(entry.target, b"/mnt2");
        assert_eq!(entry.options, b"rw,noatime");
        assert_eq!(entry.optional, b"shared:1 master:2");
        assert_eq!(entry.kind, b"ext3");
        assert_eq!(entry.source, b"/dev/root");
        assert_eq!(entry.super_options, b"rw,errors=continue");
    }

    #[test]
    fn the_optional_fields_and_the_source_may_be_empty() {
        let entry = parse_line(b"1 1 0:2 / / rw - rootfs  rw\n").unwrap();

        assert_eq!(entry.optional, b"");
        assert_eq!(entry.kind, b"rootfs");
        assert_eq!(entry.source, b"");
        assert_eq!(entry.super_options, b"rw");
    }

    #[test]
    fn a_dash_that_is_a_name_does_not_end_the_optional_fields() {
        let entry = parse_line(b"1 1 0:2 /- /- rw - tmpfs - rw,- - x").unwrap();

        assert_eq!((entry.root, entry.target), (&b"/-"[..], &b"/-"[..]));
        assert_eq!(entry.optional, b"");
        assert_eq!(entry.source, b"-");
        assert_eq!(entry.super_options, b"rw,- - x");
    }

    #[test]
    fn a_line_that_is_cut_before_its_last_field_is_refused() {
        let whole = PLAIN.len() - b"rw,errors=continue".len();

        for end in 0..whole {
            assert_eq!(parse_line(&PLAIN[..end]), None, "{end}");
        }
        assert!(parse_line(&PLAIN[..whole]).is_some());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for line in [
            &b"+1 1 0:2 / / rw - t s rw"[..],
            b"1 -1 0:2 / / rw - t s rw",
            b" 1 0:2 / / rw - t s rw",
            b"1 1 0 / / rw - t s rw",
            b"1 4294967296 0:2 / / rw - t s rw",
        ] {
            assert_eq!(parse_line(line), None, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn escapes_are_decoded_and_anything_else_stands_for_itself() {
        assert_eq!(
            decoded(b"/a\\040b\\011c\\012d\\134e\\043f"),
            b"/a b\tc\nd\\e#f"
        );
        assert_eq!(decoded(b"\\377\\000"), [0xff, 0]);
        assert_eq!(decoded(b"\\400 \\08 \\8 \\04"), b"\\400 \\08 \\8 \\04");
        assert_eq!(decoded(b"\\134040"), b"\\040");
        assert_eq!(decoded(b"end\\"), b"end\\");
    }

    #[test]
    fn a_field_that_does_not_fit_is_refused() {
        assert_eq!(unescape(b"abc", &mut [0; 2]), None);
        assert_eq!(unescape(b"\\040b", &mut [0; 2]), Some(&b" b"[..]));
        assert_eq!(unescape(b"", &mut []), Some(&b""[..]));
    }

    #[test]
    fn any_names_come_back_as_they_went_in() {
        let mut state = 0x0123_4567_89ab_cdef_u64;
        for _ in 0..2_000 {
            let [root, target, source] = [(); 3].map(|()| {
                let mut name = b"/".to_vec();
                for _ in 0..12 {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let byte = state.to_le_bytes()[2];
                    let common = b" \t\n\\#-/01347:"[usize::from(byte % 13)];
                    name.push(if state & 1 == 0 { common } else { byte.max(1) });
                }
                name
            });
            let line = [
                b"7 1 8:1 ",
                &escaped(&root)[..],
                b" ",
                &escaped(&target),
                b" rw - ext4 ",
                &escaped(&source),
                b" rw\n",
            ]
            .concat();

            let entry = parse_line(&line).unwrap();

            assert_eq!(decoded(entry.root), root);
            assert_eq!(decoded(entry.target), target);
            assert_eq!(decoded(entry.source), source);
        }
    }
}
