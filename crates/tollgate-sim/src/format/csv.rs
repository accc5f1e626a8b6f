//! Comma-separated values (RFC 4180) under a row of names: `time`, `ip`, `method`, `path`, `status`, `duration`, `cost`,
//! `body` and `header.<name>`, in any order. An empty field is an absent one.
//!
//! A record is one line: a line break within quotes is not taken. Other names have no influence.

use super::{BadLine, Read, Strangers, moment, number};
use crate::Record;

/// Reads the lines of one CSV file.
#[derive(Debug, Default)]
pub struct CsvLines {
    columns: Option<Vec<Column>>,
    field: String,
    strangers: Strangers,
}

/// The most columns that a file may have.
const MOST_COLUMNS: usize = 1_000;

/// What a column says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    Time,
    Ip,
    Method,
    Path,
    Status,
    Duration,
    Cost,
    Body,
    Header(String),
    Other(String),
}

impl CsvLines {
    /// Reads one line into `record`; the first is the row of names.
    ///
    /// # Errors
    /// [`BadLine`], with what is wrong and what would be right.
    pub fn read(&mut self, line: &str, record: &mut Record) -> Result<Read, BadLine> {
        record.clear();
        let Some(columns) = self.columns.take() else {
            self.columns = Some(self.names(line)?);
            return Ok(Read::Preamble);
        };
        let outcome = self.values(&columns, line, record);
        self.columns = Some(columns);
        outcome.map(|()| Read::Request)
    }

    /// Names of columns that had no influence.
    #[must_use]
    pub fn strangers(&self) -> &Strangers {
        &self.strangers
    }

    fn names(&mut self, line: &str) -> Result<Vec<Column>, BadLine> {
        let mut columns = Vec::new();
        let mut rest = Some(line.trim_end_matches('\r'));
        while let Some(text) = rest {
            rest = take_field(text, &mut self.field)?;
            let column = Column::of(self.field.trim());
            if columns.contains(&column) && !matches!(column, Column::Header(_) | Column::Other(_))
            {
                return Err(BadLine::new(format!(
                    "the column {} is there twice; keep one",
                    self.field
                )));
            }
            columns.push(column);
            if columns.len() > MOST_COLUMNS {
                return Err(BadLine::new(format!("more than {MOST_COLUMNS} columns")));
            }
        }
        if !columns.contains(&Column::Time) {
            return Err(BadLine::new(
                "the first line names the columns, and `time` must be among them",
            ));
        }
        Ok(columns)
    }

    fn values(
        &mut self,
        columns: &[Column],
        line: &str,
        record: &mut Record,
    ) -> Result<(), BadLine> {
        let mut rest = Some(line.trim_end_matches('\r'));
        let mut count = 0;
        while let Some(text) = rest {
            rest = take_field(text, &mut self.field)?;
            if let Some(column) = columns.get(count) {
                column
                    .take(&self.field, record, &mut self.strangers)
                    .map_err(|error| error.of(column.name()))?;
            }
            count += 1;
        }
        if count == columns.len() {
            return Ok(());
        }
        Err(BadLine::new(format!(
            "{count} fields, where the first line names {} columns",
            columns.len()
        )))
    }
}

impl Column {
    fn of(name: &str) -> Column {
        match name.strip_prefix("header.") {
            Some(header) if !header.is_empty() => Column::Header(header.to_ascii_lowercase()),
            _ => match name {
                "time" => Column::Time,
                "ip" => Column::Ip,
                "method" => Column::Method,
                "path" => Column::Path,
                "status" => Column::Status,
                "duration" => Column::Duration,
                "cost" => Column::Cost,
                "body" => Column::Body,
                other => Column::Other(other.to_owned()),
            },
        }
    }

    fn name(&self) -> &str {
        match self {
            Column::Time => "time",
            Column::Ip => "ip",
            Column::Method => "method",
            Column::Path => "path",
            Column::Status => "status",
            Column::Duration => "duration",
            Column::Cost => "cost",
            Column::Body => "body",
            Column::Header(name) | Column::Other(name) => name,
        }
    }

    fn take(
        &self,
        text: &str,
        record: &mut Record,
        strangers: &mut Strangers,
    ) -> Result<(), BadLine> {
        if text.is_empty() && *self != Column::Time {
            return Ok(());
        }
        match self {
            Column::Time => {
                record.time = moment::moment(text).map_err(|why| BadLine::of_value(text, &why))?
            }
            Column::Ip => record.peer = Some(super::address(text)?),
            Column::Method => record.set_method(text),
            Column::Path => record.set_target(text),
            Column::Status => record.status = super::status(text)?,
            Column::Duration => {
                record.duration =
                    number::seconds(text).map_err(|why| BadLine::of_value(text, &why))?
            }
            Column::Cost => record.cost = Some(super::cost(text)?),
            Column::Body => record.set_body(text),
            Column::Header(name) => record.add_header(name, text),
            Column::Other(name) => strangers.note(name),
        }
        Ok(())
    }
}

/// Takes one field into `field`; what follows its comma, where there is one.
fn take_field<'a>(text: &'a str, field: &mut String) -> Result<Option<&'a str>, BadLine> {
    field.clear();
    let Some(mut inner) = text.strip_prefix('"') else {
        let (value, rest) =
            text.split_once(',').map_or((text, None), |(value, rest)| (value, Some(rest)));
        field.push_str(value);
        return Ok(rest);
    };
    loop {
        let unclosed = "a quote is not closed on its line; write \"\" for a quote within quotes";
        let (value, after) = inner.split_once('"').ok_or_else(|| BadLine::new(unclosed))?;
        field.push_str(value);
        match after.as_bytes().first() {
            None => return Ok(None),
            Some(b',') => return Ok(Some(&after[1..])),
            Some(b'"') => field.push('"'),
            Some(_) => return Err(BadLine::new("something follows a closing quote; a comma must")),
        }
        inner = &after[1..];
    }
}
