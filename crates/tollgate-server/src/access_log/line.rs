//! How a line looks: the layout is prepared once, a line only fills it in.

use std::io::Write as _;
use std::net::IpAddr;

use tollgate_policy::settings::{LogField, LogFormat, LogPart};

use super::escape;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// There is none: `null`, or `-` in a template.
    Nothing,
    /// Text that somebody else wrote.
    Text(&'a [u8]),
    /// A word of our own, which needs no escapes.
    Word(&'a str),
    Number(u64),
    Address(IpAddr),
    /// Microseconds since the epoch.
    Time(u64),
    Hash([u8; 16]),
}

/// A format, taken to pieces.
#[derive(Debug)]
pub(super) struct Layout {
    pieces: Vec<Piece>,
    end: &'static [u8],
    json: bool,
}

/// A field, and the bytes before its value.
#[derive(Debug)]
struct Piece {
    before: Vec<u8>,
    field: Option<LogField>,
}

impl Layout {
    pub(super) fn new(format: &LogFormat) -> Layout {
        match format {
            LogFormat::Json(fields) => Layout::json(fields),
            LogFormat::Template(parts) => Layout::template(parts),
        }
    }

    fn json(fields: &[LogField]) -> Layout {
        let piece = |(place, field): (usize, &LogField)| {
            let begin = if place == 0 { "{" } else { "," };
            let before = format!("{begin}\"{}\":", field.name()).into_bytes();
            Piece { before, field: Some(*field) }
        };
        let pieces = fields.iter().enumerate().map(piece).collect();
        Layout { pieces, end: b"}\n", json: true }
    }

    fn template(parts: &[LogPart]) -> Layout {
        let piece = |part: &LogPart| match part {
            LogPart::Text(text) => Piece { before: text.clone().into_bytes(), field: None },
            LogPart::Field(field) => Piece { before: Vec::new(), field: Some(*field) },
        };
        Layout { pieces: parts.iter().map(piece).collect(), end: b"\n", json: false }
    }

    /// Appends a line whose fields have the values that `value` says.
    pub(super) fn write<'a>(&self, line: &mut Vec<u8>, value: impl Fn(LogField) -> Value<'a>) {
        for piece in &self.pieces {
            line.extend_from_slice(&piece.before);
            if let Some(field) = piece.field {
                self.value(value(field), line);
            }
        }
        line.extend_from_slice(self.end);
    }

    fn value(&self, value: Value<'_>, line: &mut Vec<u8>) {
        let quote: &[u8] = if self.json { b"\"" } else { b"" };
        // Writing to a vector cannot fail.
        let _ = match value {
            Value::Nothing => line.write_all(if self.json { b"null" } else { b"-" }),
            Value::Number(number) => write!(line, "{number}"),
            _ => {
                line.extend_from_slice(quote);
                self.quoted(value, line);
                line.write_all(quote)
            }
        };
    }

    fn quoted(&self, value: Value<'_>, line: &mut Vec<u8>) {
        let _ = match value {
            Value::Nothing | Value::Number(_) => return,
            Value::Text(text) if self.json => return escape::json(text, line),
            // An empty field of a template would move those behind it.
            Value::Text(b"") => line.write_all(b"-"),
            Value::Text(text) => return escape::template(text, line),
            Value::Word(word) => line.write_all(word.as_bytes()),
            Value::Address(address) => write!(line, "{address}"),
            Value::Time(micros) => time(micros, line),
            Value::Hash(bytes) => write!(line, "{:032x}", u128::from_be_bytes(bytes)),
        };
    }
}

/// RFC 3339 in UTC, always with six decimals, so that lines sort by it.
fn time(micros: u64, line: &mut Vec<u8>) -> std::io::Result<()> {
    let moment =
        i64::try_from(micros).ok().and_then(|at| jiff::Timestamp::from_microsecond(at).ok());
    write!(line, "{:.6}", moment.unwrap_or(jiff::Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &LogFormat) -> String {
        let mut line = Vec::new();
        Layout::new(format).write(&mut line, |field| match field {
            LogField::Time => Value::Time(1_767_225_600_250_000),
            LogField::Path => Value::Text(b"/a\"b\n"),
            LogField::Status => Value::Number(429),
            LogField::Decision => Value::Word("refuse"),
            LogField::Client => Value::Address(IpAddr::from([203, 0, 113, 9])),
            LogField::Key => Value::Hash([1; 16]),
            LogField::Host => Value::Text(b""),
            _ => Value::Nothing,
        });
        String::from_utf8(line).expect("text")
    }

    #[test]
    fn a_line_of_json() {
        use LogField::{Client, Decision, Host, Key, Path, Route, Status, Time};
        let fields = vec![Time, Client, Path, Status, Decision, Key, Route, Host];
        assert_eq!(
            written(&LogFormat::Json(fields)),
            "{\"time\":\"2026-01-01T00:00:00.250000Z\",\"client\":\"203.0.113.9\",\"path\":\"/a\\\"b\\n\",\"status\":429,\
             \"decision\":\"refuse\",\"key\":\"01010101010101010101010101010101\",\"route\":null,\"host\":\"\"}\n"
        );
    }

    #[test]
    fn a_line_of_a_template() {
        let parts = [
            LogPart::Field(LogField::Client),
            LogPart::Text(" \"".to_owned()),
            LogPart::Field(LogField::Path),
            LogPart::Text("\" ".to_owned()),
            LogPart::Field(LogField::Status),
            LogPart::Text(" ".to_owned()),
            LogPart::Field(LogField::Host),
            LogPart::Text(" ".to_owned()),
            LogPart::Field(LogField::Route),
        ];
        assert_eq!(
            written(&LogFormat::Template(parts.to_vec())),
            "203.0.113.9 \"/a\\x22b\\x0a\" 429 - -\n"
        );
    }
}
