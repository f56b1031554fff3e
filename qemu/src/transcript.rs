//! Everything a guest has said on its console, and where its lines end.

/// The console from the first byte to the last that came.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    bytes: Vec<u8>,
    /// Where the line that is still being written began.
    unfinished: usize,
    is_closed: bool,
}

impl Transcript {
    /// Adds what came, and shows every line that it finished.
    pub(crate) fn push(&mut self, bytes: &[u8], mut finished: impl FnMut(&str)) {
        self.bytes.extend_from_slice(bytes);
        while let Some(end) = find(&self.bytes[self.unfinished..], b"\n") {
            let end = self.unfinished + end;
            finished(&clean(&self.bytes[self.unfinished..end]));
            self.unfinished = end + 1;
        }
    }

    /// No more will come: what there is of a last line is a line.
    pub(crate) const fn close(&mut self) {
        self.is_closed = true;
    }

    /// The line at a position, and where the one after it begins.
    ///
    /// A line that is still being written is none yet.
    pub(crate) fn line(&self, from: usize) -> Option<(String, usize)> {
        let rest = self.bytes.get(from..)?;
        match find(rest, b"\n") {
            Some(end) => Some((clean(&rest[..end]), from + end + 1)),
            None if self.is_closed && !rest.is_empty() => Some((clean(rest), self.bytes.len())),
            None => None,
        }
    }

    /// Where a text ends that is somewhere after a position, in a finished line
    /// or not.
    pub(crate) fn text(&self, from: usize, text: &str) -> Option<usize> {
        let start = find(self.bytes.get(from..)?, text.as_bytes())?;
        Some(from + start + text.len())
    }

    /// How many bytes came.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// All of it, as text.
    pub(crate) fn whole(&self) -> String {
        clean(&self.bytes)
    }
}

/// Text without the carriage returns that a terminal wants.
fn clean(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\r', "")
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    if wanted.is_empty() {
        return Some(0);
    }
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(parts: &[&str]) -> (Transcript, Vec<String>) {
        let mut transcript = Transcript::default();
        let mut lines = Vec::new();
        for part in parts {
            transcript.push(part.as_bytes(), |line| lines.push(line.to_owned()));
        }
        (transcript, lines)
    }

    #[test]
    fn a_line_that_comes_in_pieces_is_finished_once() {
        let (_, lines) = transcript(&["he", "llo\r", "\nwor", "ld\n", "!"]);

        assert_eq!(lines, ["hello", "world"]);
    }

    #[test]
    fn an_unfinished_line_is_a_line_once_the_console_closes() {
        let (mut transcript, _) = transcript(&["one\ntwo"]);
        let (_, next) = transcript.line(0).unwrap();

        assert_eq!(transcript.line(next), None);

        transcript.close();

        assert_eq!(transcript.line(next), Some(("two".into(), 7)));
    }

    #[test]
    fn a_text_is_found_in_an_unfinished_line_and_only_after_the_position() {
        let (transcript, _) = transcript(&["/ # \n/ # "]);

        let first = transcript.text(0, "/ # ").unwrap();
        let second = transcript.text(first, "/ # ").unwrap();

        assert_eq!((first, second), (4, 9));
        assert_eq!(transcript.text(second, "/ # "), None);
    }

    #[test]
    fn bytes_that_are_not_text_are_kept_from_hiding_the_rest() {
        let mut transcript = Transcript::default();

        transcript.push(b"\xffok\n", |_| {});

        assert!(transcript.whole().ends_with("ok\n"));
    }
}
