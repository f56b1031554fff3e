//! The words of a source file, without its comments, strings and characters.

/// A word of a source file, and its line from 1: an identifier, or one character
/// that is not part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) line: usize,
}

/// Whether the path separator or word is at this place.
pub(crate) fn is(tokens: &[Token<'_>], index: usize, text: &str) -> bool {
    match text {
        "::" => is(tokens, index, ":") && is(tokens, index + 1, ":"),
        text => tokens.get(index).is_some_and(|token| token.text == text),
    }
}

/// Which words belong to items under `#[cfg(test)]`.
pub(crate) fn test_code(tokens: &[Token<'_>]) -> Vec<bool> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut marked = vec![false; tokens.len()];
    let mut index = 0;
    while index < tokens.len() {
        let is_mark = MARK
            .iter()
            .enumerate()
            .all(|(offset, text)| is(tokens, index + offset, text));
        if !is_mark {
            index += 1;
            continue;
        }
        // The item ends with its block, or with a semicolon before any.
        let mut depth = 0_usize;
        let mut end = index + MARK.len();
        while let Some(token) = tokens.get(end) {
            match token.text {
                "{" => depth += 1,
                "}" if depth <= 1 => break,
                "}" => depth -= 1,
                ";" if depth == 0 => break,
                _ => {}
            }
            end += 1;
        }
        let end = (end + 1).min(tokens.len());
        marked[index..end].fill(true);
        index = end;
    }
    marked
}

/// The modules that a file has in files of their own for its tests.
pub(crate) fn test_modules(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    let marked = test_code(&tokens);
    (0..tokens.len())
        .filter(|index| {
            marked[*index] && tokens[*index].text == "mod" && is(&tokens, index + 2, ";")
        })
        .map(|index| tokens[index + 1].text)
        .collect()
}

/// The words of a source file without its comments, strings and characters.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut index, mut line) = (0, 1);
    while let Some(byte) = bytes.get(index) {
        let rest = &text[index..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let Some(length) = string(rest) {
            length
        } else if *byte == b'\'' {
            character(rest)
        } else if byte.is_ascii_alphanumeric() || *byte == b'_' {
            let length = rest
                .find(|character: char| !character.is_alphanumeric() && character != '_')
                .unwrap_or(rest.len());
            let text = &rest[..length];
            tokens.push(Token { text, line });
            length
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            let text = &rest[..length];
            if !text.trim().is_empty() {
                tokens.push(Token { text, line });
            }
            length
        };
        line += rest[..length].matches('\n').count();
        index += length;
    }
    tokens
}

/// The length of a comment, which may have others in it.
fn comment(text: &str) -> usize {
    let (mut depth, mut index) = (0_usize, 0);
    while index < text.len() {
        let rest = &text.as_bytes()[index..];
        if rest.starts_with(b"/*") {
            depth += 1;
            index += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            index += 2;
            if depth == 0 {
                break;
            }
        } else {
            index += 1;
        }
    }
    index
}

/// The length of a string of any kind, if one begins here.
fn string(text: &str) -> Option<usize> {
    let prefix = text.find(|character: char| !matches!(character, 'b' | 'c' | 'r'))?;
    let is_raw = text[..prefix].ends_with('r');
    let hashes = text[prefix..]
        .bytes()
        .take_while(|byte| *byte == b'#')
        .count();
    if prefix > 2 || (hashes > 0 && !is_raw) || !text[prefix + hashes..].starts_with('"') {
        return None;
    }
    let start = prefix + hashes + 1;
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        let length = text[start..].find(&end)?;
        return Some(start + length + end.len());
    }
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(index + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// The length of a character, or of the mark of a lifetime.
fn character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            // What is escaped, even a quote, and then up to the end.
            let after = characters.nth(1).map_or(text.len(), |(index, _)| index);
            after + text[after..].find('\'').map_or(0, |end| end) + 1
        }
        Some(_) => match characters.next() {
            Some((index, '\'')) => index + 1,
            _ => 1,
        },
        None => 1,
    }
}
