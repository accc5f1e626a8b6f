//! Cuts bytes into lines of bounded length, without copying them.

use std::io::{self, Read};

use memchr::memchr;

/// How much is read at a time.
const CHUNK: usize = 256 * 1024;

/// The lines of a reader.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    longest: usize,
    number: u64,
    ended: bool,
}

/// One line, without its break.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes.
    Text(&'a [u8]),
    /// It is longer than lines may be, and was passed over.
    TooLong,
}

impl<R: Read> Lines<R> {
    /// The longest line that is taken unless said otherwise: 1 MiB.
    pub const LONGEST: usize = 1 << 20;

    /// The lines of `reader`, each of at most `longest` bytes.
    pub fn new(reader: R, longest: usize) -> Lines<R> {
        Lines { reader, buffer: vec![0; CHUNK], start: 0, end: 0, longest, number: 0, ended: false }
    }

    /// The number of the line that was given last; the first is 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` after the last. A last line needs no break.
    ///
    /// # Errors
    /// What the reader says.
    pub fn advance(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let found =
                memchr(b'\n', self.buffer.get(self.start + searched..self.end).unwrap_or_default());
            if let Some(at) = found {
                let line = self.start..self.start + searched + at;
                self.start = line.end + 1;
                return Ok(Some(self.give(line)));
            }
            searched = self.end - self.start;
            if searched > self.longest {
                return self.pass_over().map(Some);
            }
            if self.ended || !self.fill()? {
                let line = self.start..self.end;
                self.start = self.end;
                return Ok(if line.is_empty() { None } else { Some(self.give(line)) });
            }
        }
    }

    fn give(&mut self, line: std::ops::Range<usize>) -> Line<'_> {
        self.number += 1;
        if line.len() > self.longest { Line::TooLong } else { Line::Text(&self.buffer[line]) }
    }

    /// Forgets everything up to the next break.
    fn pass_over(&mut self) -> io::Result<Line<'_>> {
        self.number += 1;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                return Ok(Line::TooLong);
            }
            self.start = self.end;
            if !self.fill()? {
                return Ok(Line::TooLong);
            }
        }
    }

    /// Reads on; `false` at the end. What was not given yet moves to the buffer's start, and the buffer grows where that is
    /// all of it.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() - self.end < CHUNK / 2 {
            self.buffer.resize(self.buffer.len() + CHUNK, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    self.ended = count == 0;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reader that gives a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], step: usize, longest: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(Drip(text, step), longest);
        let mut found = Vec::new();
        while let Some(line) = lines.advance().expect("no I/O error") {
            found.push(match line {
                Line::Text(text) => Some(text.to_vec()),
                Line::TooLong => None,
            });
        }
        assert_eq!(lines.number(), found.len() as u64);
        found
    }

    #[test]
    fn long_lines_are_passed_over_and_counted() {
        let text = [b"ab\n".to_vec(), vec![b'x'; 3 * CHUNK], b"\ncd".to_vec()].concat();
        let expected = vec![Some(b"ab".to_vec()), None, Some(b"cd".to_vec())];
        assert_eq!(all(&text, usize::MAX, 10), expected);
        assert_eq!(all(&text, 4_096, 10), expected);
        assert_eq!(
            all(&text, usize::MAX, 3 * CHUNK).iter().flatten().count(),
            3,
            "as long as allowed"
        );
    }

    proptest! {
        #[test]
        fn lines_are_what_split_says(text in "[a\n]{0,60}", step in 1usize..7) {
            let mut expected: Vec<_> = text.split('\n').map(|line| (line.len() <= 5).then(|| line.as_bytes().to_vec())).collect();
            if expected.last() == Some(&Some(Vec::new())) {
                expected.pop();
            }
            prop_assert_eq!(all(text.as_bytes(), step, 5), expected);
        }
    }
}
