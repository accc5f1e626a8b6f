//! The shape of a request line, learnt from one and tried on the next.
//!
//! One program writes most traces, and between the values of its lines the bytes are always the same. A line with the
//! same bytes between values of the same kinds is read by comparing, and needs no names to be found; any other goes
//! through the reader that takes every line, and the next is tried on what that found. So a shape never says that a line
//! is wrong, only that it is not of this shape.

use std::ops::Range;

use tollgate_core::{Micros, Timestamp};

use super::cursor::{Cursor, Literal};
use super::moment;
use crate::Record;

/// What stands between the values of a line, and what they are.
#[derive(Debug, Default)]
pub(super) struct Shape {
    steps: Vec<Step>,
    /// What stands after the last value.
    end: Vec<u8>,
}

/// One value, and what stands before it.
#[derive(Debug)]
struct Step {
    before: Literal,
    value: Value,
}

/// What a value is. A string's quotes stand between the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// When it came, in seconds.
    Time,
    /// The same as RFC 3339.
    TimeText,
    /// The peer.
    Ip,
    /// The method.
    Method,
    /// The request's target.
    Path,
    /// A header field's value.
    Header {
        /// Where its name starts, counted backwards from the value.
        back: usize,
        /// How long its name is.
        length: usize,
        /// Its name has capitals.
        capitals: bool,
    },
    /// The body.
    Body,
    /// The cost.
    Cost,
    /// The status.
    Status,
    /// How long it ran, in seconds.
    Duration,
}

impl Shape {
    /// Reads `line` into `record`; `None`: it is not of this shape, and `record` holds nothing of use.
    pub(super) fn read(&self, line: &str, record: &mut Record) -> Option<()> {
        record.hold(line);
        let mut cursor = Cursor::new(line.as_bytes());
        for step in &self.steps {
            cursor.take(&step.before)?;
            step.value.read(line, &mut cursor, record)?;
        }
        (cursor.rest() == self.end).then_some(())
    }
}

impl Value {
    #[inline]
    fn read(self, line: &str, cursor: &mut Cursor<'_>, record: &mut Record) -> Option<()> {
        match self {
            Value::Time => record.time = Timestamp::from_micros(cursor.moment()?),
            Value::TimeText => record.time = moment::rfc3339(line.get(cursor.string()?)?).ok()?,
            Value::Ip => record.peer = Some(cursor.address()?),
            Value::Method => record.method_at(cursor.string()?),
            Value::Path => {
                let path = cursor.path()?;
                let query = match cursor.rest() {
                    [b'?', ..] => Some(cursor.string()?),
                    _ => None,
                };
                record.target_at(path, query);
            }
            Value::Header { back, length, capitals } => {
                let value = cursor.string()?;
                let name = value.start.checked_sub(back)?;
                record.header_at(name..name + length, value, capitals);
            }
            Value::Body => record.body_at(cursor.string()?),
            Value::Cost => record.cost = Some(cursor.whole()?),
            Value::Status => record.status = status(cursor)?,
            Value::Duration => record.duration = Micros::new(cursor.micros()?),
        }
        Some(())
    }
}

/// A status that there is, or 0 for none.
#[inline]
fn status(cursor: &mut Cursor<'_>) -> Option<Option<u16>> {
    let status = match cursor.three_digits() {
        Some(status) => status,
        None => cursor.whole().filter(|status| *status == 0)?,
    };
    Some((status > 0).then_some(status as u16))
}

/// Finds the shape of a line while it is read.
#[derive(Debug)]
pub(super) struct Learner<'a> {
    line: &'a [u8],
    shape: Shape,
    /// Where the last value ended.
    end: usize,
    /// Nothing came that a shape cannot tell.
    usual: bool,
}

impl<'a> Learner<'a> {
    pub(super) fn new(line: &'a str) -> Learner<'a> {
        Learner { line: line.as_bytes(), shape: Shape::default(), end: 0, usual: true }
    }

    /// The bytes at `token` are a value, with its quotes if it is a string.
    pub(super) fn value(&mut self, value: Value, token: Range<usize>) {
        let quote = usize::from(self.line.get(token.start) == Some(&b'"'));
        let between = self.line.get(self.end..token.start + quote).unwrap_or_default();
        self.shape.steps.push(Step { before: Literal::new(between), value });
        self.end = token.end - quote;
    }

    /// The bytes at `token` are the value of the header field called `name`, which stands before it.
    pub(super) fn header(&mut self, name: &str, token: Range<usize>) {
        let before = self.line.get(self.end..token.start).unwrap_or_default();
        let quote = before.iter().rposition(|byte| *byte == b'"').unwrap_or(0);
        let found = before.get(..quote).is_some_and(|before| before.ends_with(name.as_bytes()));
        // Written with escapes, it is not there as it is read.
        self.usual &= found;
        let back = before.len() - quote + name.len() + 1;
        let capitals = name.bytes().any(|byte| byte.is_ascii_uppercase());
        self.value(Value::Header { back, length: name.len(), capitals }, token);
    }

    /// Something came that has to be read in full each time.
    pub(super) fn give_up(&mut self) {
        self.usual = false;
    }

    /// The shape of the line, which was read to its end without an error.
    pub(super) fn shape(mut self) -> Option<Shape> {
        self.shape.end = self.line.get(self.end..).unwrap_or_default().to_vec();
        self.usual.then_some(self.shape)
    }
}
