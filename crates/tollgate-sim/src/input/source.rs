//! The requests of one file, in its own order.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Consumed, Line, Lines, open};
use crate::format::{self, Format, LineReader, Strangers};
use crate::{Record, ReplayError};

/// What happens to a line that is no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadLine {
    /// It ends the replay.
    #[default]
    Stop,
    /// It is counted.
    Skip,
}

/// One file of requests; it holds the next of them.
pub struct Source {
    path: PathBuf,
    lines: Lines<Box<dyn Read + Send>>,
    reader: LineReader,
    on_bad_line: OnBadLine,
    skipped: u64,
    record: Record,
}

impl Source {
    /// Opens `path` (`-`: standard input).
    ///
    /// # Errors
    /// [`ReplayError::Open`].
    pub fn open(
        path: &Path,
        format: Format,
        on_bad_line: OnBadLine,
        consumed: &Consumed,
    ) -> Result<Source, ReplayError> {
        let opened = open(path, consumed)
            .map_err(|error| ReplayError::Open { path: path.to_owned(), error })?;
        Ok(Source::new(path, opened, format, on_bad_line))
    }

    /// Reads what `reader` gives; `path` is its name in errors.
    #[must_use]
    pub fn new(
        path: &Path,
        reader: Box<dyn Read + Send>,
        format: Format,
        on_bad_line: OnBadLine,
    ) -> Source {
        Source {
            path: path.to_owned(),
            lines: Lines::new(reader, Lines::<io::Empty>::LONGEST),
            reader: format.reader(),
            on_bad_line,
            skipped: 0,
            record: Record::default(),
        }
    }

    /// Moves to the next request; `false` after the last. Lines of nothing but space are passed over, and counted as lines.
    ///
    /// # Errors
    /// [`ReplayError::Read`] and, unless they are skipped, [`ReplayError::BadLine`].
    pub fn advance(&mut self) -> Result<bool, ReplayError> {
        loop {
            let line = match self.lines.advance() {
                Ok(Some(line)) => read_line(&line, &mut self.reader, &mut self.record),
                Ok(None) => return Ok(false),
                Err(error) => return Err(self.unreadable(error)),
            };
            match line {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(_) if self.on_bad_line == OnBadLine::Skip => self.skipped += 1,
                Err(why) => {
                    return Err(ReplayError::BadLine {
                        path: self.path.clone(),
                        line: self.line(),
                        why,
                    });
                }
            }
        }
    }

    fn unreadable(&self, error: io::Error) -> ReplayError {
        ReplayError::Read { path: self.path.clone(), line: self.line() + 1, error }
    }

    /// The request that [`advance`](Source::advance) moved to.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its line, counted from 1 in its own file.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// How many bad lines were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Fields that had no influence.
    #[must_use]
    pub fn strangers(&self) -> Option<&Strangers> {
        self.reader.strangers()
    }
}

/// Whether the line is a request, which is then in `record`.
fn read_line(
    line: &Line<'_>,
    reader: &mut LineReader,
    record: &mut Record,
) -> Result<bool, format::BadLine> {
    let Line::Text(bytes) = line else {
        return Err(format::BadLine::too_long(Lines::<io::Empty>::LONGEST));
    };
    // Not the standard library's check, which looks at a few bytes at a time; it then says where they are wrong.
    let text = simdutf8::basic::from_utf8(bytes).or_else(|_| std::str::from_utf8(bytes));
    let text = text.map_err(|error| format::BadLine::not_text(error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Ok(false);
    }
    reader.read(text, record).map(|read| read == format::Read::Request)
}
