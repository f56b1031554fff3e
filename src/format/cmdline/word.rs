//! The words of the kernel command line.
//!
//! The rules are the kernel's (`kernel-parameters` in its documentation,
//! `next_arg` in its source): white space parts words, `"` keeps it inside one,
//! `-` and `_` are the same in a name, `--` ends what is the kernel's. What
//! stands behind `--` the kernel hands to init as arguments, so it is not read
//! here. One rule is left out: the kernel takes byte 0xa0 for a space, which
//! would cut an `à` of UTF-8 in two.

/// A word of the command line, as bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word<'a> {
    /// What stands before the `=`; compare with [`Word::is_named`].
    pub name: &'a [u8],
    /// What stands behind it, without the quotes around it.
    pub value: Option<&'a [u8]>,
}

/// The words up to `--` or the end.
pub fn words(text: &[u8]) -> impl Iterator<Item = Word<'_>> {
    Words { rest: text }.take_while(|word| word.name != b"--" || word.value.is_some())
}

impl Word<'_> {
    /// Whether the name is this one; `-` and `_` are the same.
    pub fn is_named(&self, name: &[u8]) -> bool {
        self.name.len() == name.len() && self.starts_with(name)
    }

    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        let folded = |byte: u8| if byte == b'-' { b'_' } else { byte };
        self.name.len() >= prefix.len()
            && self
                .name
                .iter()
                .zip(prefix)
                .all(|(ours, theirs)| folded(*ours) == folded(*theirs))
    }
}

struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.rest.iter().position(|byte| !is_space(*byte))?;
        let (word, rest) = split_word(self.rest.get(start..)?);
        self.rest = rest;
        Some(word)
    }
}

/// The first word of a text that starts with one, and what is behind it.
fn split_word(text: &[u8]) -> (Word<'_>, &[u8]) {
    let (text, is_quoted) = match text.strip_prefix(b"\"") {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let mut in_quotes = is_quoted;
    let end = text.iter().position(|byte| {
        in_quotes ^= *byte == b'"';
        is_space(*byte) && !in_quotes
    });
    let (whole, rest) = text
        .split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, b""));
    // An `=` at the very start belongs to the name.
    let equals = whole.iter().skip(1).position(|byte| *byte == b'=');
    let word = match equals.and_then(|index| whole.split_at_checked(index.saturating_add(1))) {
        Some((name, value)) => Word {
            name,
            value: Some(unquote(
                value.strip_prefix(b"=").unwrap_or(value),
                is_quoted,
            )),
        },
        None => Word {
            name: strip_quote(whole, is_quoted),
            value: None,
        },
    };
    (word, rest)
}

/// A value without the quotes around it, or the one that closes the word's.
fn unquote(value: &[u8], is_quoted: bool) -> &[u8] {
    match value.strip_prefix(b"\"") {
        Some(inner) => strip_quote(inner, true),
        None => strip_quote(value, is_quoted),
    }
}

fn strip_quote(text: &[u8], is_quoted: bool) -> &[u8] {
    match text.strip_suffix(b"\"") {
        Some(inner) if is_quoted => inner,
        Some(_) | None => text,
    }
}

/// White space as C sees it.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's `next_arg` and the loop of `parse_args`, line by line.
    fn kernel_words(text: &[u8]) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let mut args = text.to_vec();
        args.extend([0, 0]);
        let c_string = |args: &[u8], start: usize| -> Vec<u8> {
            args[start..]
                .iter()
                .copied()
                .take_while(|byte| *byte != 0)
                .collect()
        };
        let skip_spaces = |args: &[u8], mut at: usize| {
            while is_space(args[at]) {
                at += 1;
            }
            at
        };
        let mut found = Vec::new();
        let mut at = skip_spaces(&args, 0);
        while args[at] != 0 {
            let (mut equals, mut in_quote, mut quoted) = (0, false, false);
            if args[at] == b'"' {
                at += 1;
                in_quote = true;
                quoted = true;
            }
            let mut i = 0;
            while args[at + i] != 0 {
                if is_space(args[at + i]) && !in_quote {
                    break;
                }
                if equals == 0 && args[at + i] == b'=' {
                    equals = i;
                }
                if args[at + i] == b'"' {
                    in_quote = !in_quote;
                }
                i += 1;
            }
            let mut value = None;
            if equals != 0 {
                args[at + equals] = 0;
                let mut start = at + equals + 1;
                if args[start] == b'"' {
                    start += 1;
                    if args[at + i - 1] == b'"' {
                        args[at + i - 1] = 0;
                    }
                }
                value = Some(start);
            }
            if quoted && i > 0 && args[at + i - 1] == b'"' {
                args[at + i - 1] = 0;
            }
            let next = if args[at + i] == 0 {
                at + i
            } else {
                args[at + i] = 0;
                at + i + 1
            };
            let name = c_string(&args, at);
            let value = value.map(|start| c_string(&args, start));
            if name == b"--" && value.is_none() {
                break;
            }
            found.push((name, value));
            at = skip_spaces(&args, next);
        }
        found
    }

    fn our_words(text: &[u8]) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        words(text)
            .map(|word| (word.name.to_vec(), word.value.map(<[u8]>::to_vec)))
            .collect()
    }

    #[test]
    fn words_are_the_kernels() {
        for text in [
            &b""[..],
            b"  \n",
            b"quiet console=ttyS0,115200n8 root=/dev/vda ro\n",
            b"a=\"b c\" \"d=e f\" \"g h\" i\"j k\"l",
            b"a=\"b a=\"\" \"\" \" = =a =a=b a== a=b=c \"a=\"",
            b"a -- b=c",
            b"a \"--\" b",
            b"a --=1 b",
            b"---",
        ] {
            assert_eq!(
                our_words(text),
                kernel_words(text),
                "{}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn words_of_any_text_are_the_kernels() {
        let mut state = 0xdead_beef_cafe_f00d_u64;
        for _ in 0..50_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let length = usize::from(state.to_le_bytes()[7] % 16);
            let text: Vec<u8> = (0..length)
                .map(|index| {
                    b"\"\" =-a\t_"[usize::from(state.to_le_bytes()[index % 7] >> (index / 7)) % 8]
                })
                .collect();

            assert_eq!(
                our_words(&text),
                kernel_words(&text),
                "{}",
                text.escape_ascii()
            );
        }
    }
}
