//! The forms that recorded requests come in, each in its own file.

mod csv;
mod cursor;
mod envoy;
mod json;
mod jsonl;
mod moment;
mod nginx;
mod number;
mod shape;
mod strangers;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use tollgate_core::Timestamp;

pub use self::csv::CsvLines;
pub use envoy::EnvoyLines;
pub use jsonl::JsonLines;
pub use moment::{moment, rfc3339, time_local, to_rfc3339};
pub use nginx::NginxLines;
pub use number::{SecondsError, seconds};
pub use strangers::Strangers;

use crate::Record;

/// A form of recorded requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The project's own: a JSON object a line.
    #[default]
    Jsonl,
    /// nginx's and Apache's combined access log.
    Nginx,
    /// Envoy's access log in JSON.
    Envoy,
    /// Comma-separated values under a row of names.
    Csv,
}

impl Format {
    /// Every form, by the name that the command line knows.
    pub const ALL: [(&'static str, Format); 4] = [
        ("jsonl", Format::Jsonl),
        ("nginx", Format::Nginx),
        ("envoy", Format::Envoy),
        ("csv", Format::Csv),
    ];

    /// A reader of one file's lines.
    #[must_use]
    pub fn reader(self) -> LineReader {
        match self {
            Format::Jsonl => LineReader::Jsonl(JsonLines::default()),
            Format::Nginx => LineReader::Nginx(NginxLines::default()),
            Format::Envoy => LineReader::Envoy(EnvoyLines::default()),
            Format::Csv => LineReader::Csv(CsvLines::default()),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, format)| *format)
            .ok_or_else(|| format!("'{name}' is no format; there are jsonl, nginx, envoy and csv"))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            Format::ALL.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// Reads the lines of one file, in order.
#[derive(Debug)]
pub enum LineReader {
    /// See [`JsonLines`].
    Jsonl(JsonLines),
    /// See [`NginxLines`].
    Nginx(NginxLines),
    /// See [`EnvoyLines`].
    Envoy(EnvoyLines),
    /// See [`CsvLines`].
    Csv(CsvLines),
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A request, now in the record.
    Request,
    /// Something that stands before requests, such as a row of names.
    Preamble,
}

impl LineReader {
    /// Reads one line into `record`.
    ///
    /// # Errors
    /// [`BadLine`], with what is wrong and what would be right; `record` then holds nothing of use.
    pub fn read(&mut self, line: &str, record: &mut Record) -> Result<Read, BadLine> {
        match self {
            LineReader::Jsonl(lines) => lines.read(line, record).map(|()| Read::Request),
            LineReader::Nginx(lines) => lines.read(line, record).map(|()| Read::Request),
            LineReader::Envoy(lines) => lines.read(line, record).map(|()| Read::Request),
            LineReader::Csv(lines) => lines.read(line, record),
        }
    }

    /// Names of fields that had no influence.
    #[must_use]
    pub fn strangers(&self) -> Option<&Strangers> {
        match self {
            LineReader::Jsonl(lines) => Some(lines.strangers()),
            LineReader::Csv(lines) => Some(lines.strangers()),
            // Access logs say much that no policy asks for.
            LineReader::Nginx(_) | LineReader::Envoy(_) => None,
        }
    }
}

/// Why a line is no request: what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine(String);

impl BadLine {
    pub(crate) fn new(why: impl Into<String>) -> BadLine {
        BadLine(why.into())
    }

    /// A line of more than `longest` bytes.
    pub(crate) fn too_long(longest: usize) -> BadLine {
        BadLine(format!("the line is longer than {longest} bytes"))
    }

    /// A line whose bytes from `at` (counted from 0) are not UTF-8.
    pub(crate) fn not_text(at: usize) -> BadLine {
        BadLine(format!("column {}: the line is not UTF-8 text", at + 1))
    }

    /// `why` is read after the value.
    pub(crate) fn of_value(value: &str, why: &dyn fmt::Display) -> BadLine {
        BadLine(format!("{} {why}", quoted(value)))
    }

    /// Names the field where it was found.
    pub(crate) fn of(self, field: &str) -> BadLine {
        BadLine(format!("{}: {}", shortened(field), self.0))
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadLine {}

/// A value as an error shows it: bounded, and without control characters.
fn quoted(value: &str) -> String {
    format!("`{}`", shortened(value))
}

fn shortened(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if value.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

fn timestamp(text: &str) -> Result<Timestamp, BadLine> {
    match seconds(text) {
        Ok(micros) => Ok(Timestamp::from_micros(micros.get())),
        Err(error) => Err(BadLine::of_value(text, &error)),
    }
}

/// An address, perhaps with a port, as a socket's peer has one; a zone (`fe80::1%eth0`) names an interface of the machine
/// that wrote the log, and is dropped.
fn address(text: &str) -> Result<IpAddr, BadLine> {
    let bare =
        text.split_once('%').filter(|(bare, _)| bare.contains(':')).map_or(text, |(bare, _)| bare);
    let with_port = || text.parse::<SocketAddr>().map(|peer| peer.ip());
    bare.parse().or_else(|_| with_port()).map_err(|_| {
        BadLine::of_value(text, &"is no IP address, such as 203.0.113.9 or 2001:db8::1")
    })
}

fn cost(text: &str) -> Result<u64, BadLine> {
    whole(text).ok_or_else(|| {
        BadLine::of_value(text, &"is no whole number from 0 to 18446744073709551615")
    })
}

/// An HTTP status; 0 is how logs say that there was no answer.
fn status(text: &str) -> Result<Option<u16>, BadLine> {
    match whole(text).and_then(|status| u16::try_from(status).ok()) {
        Some(0) => Ok(None),
        Some(status @ 100..=999) => Ok(Some(status)),
        _ => Err(BadLine::of_value(
            text,
            &"is no HTTP status, such as 200 (0: it was never answered)",
        )),
    }
}

/// Decimal digits and nothing else.
fn whole(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
