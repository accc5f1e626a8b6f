//! The project's own request lines: one JSON object each.

use super::json::Json;
use super::{BadLine, Strangers, moment, number};
use crate::Record;

/// Reads request lines of the design's form.
#[derive(Debug, Default)]
pub struct JsonLines {
    scratch: String,
    strangers: Strangers,
}

/// The fields that a request line may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Time,
    Ip,
    Method,
    Path,
    Headers,
    Body,
    Cost,
    Status,
    Duration,
}

impl Field {
    fn of(name: &str) -> Option<Field> {
        Some(match name {
            "time" => Field::Time,
            "ip" => Field::Ip,
            "method" => Field::Method,
            "path" => Field::Path,
            "headers" => Field::Headers,
            "body" => Field::Body,
            "cost" => Field::Cost,
            "status" => Field::Status,
            "duration" => Field::Duration,
            _ => return None,
        })
    }

    /// Its bit among those that were seen.
    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl JsonLines {
    /// Reads one line into `record`.
    ///
    /// # Errors
    /// [`BadLine`], with what is wrong and what would be right.
    pub fn read(&mut self, line: &str, record: &mut Record) -> Result<(), BadLine> {
        record.clear();
        let mut seen = 0u16;
        let mut json = Json::new(line);
        json.object(|json, name| {
            let Some(known) = Field::of(name) else {
                self.strangers.note(name);
                return json.skip();
            };
            if seen & known.bit() != 0 {
                return Err(BadLine::new(format!("`{name}` is given twice; give it once")));
            }
            seen |= known.bit();
            if known != Field::Time && json.null() {
                return Ok(());
            }
            field(json, known, &mut self.scratch, record).map_err(|error| error.of(name))
        })?;
        json.end()?;
        if seen & Field::Time.bit() == 0 {
            return Err(BadLine::new(
                "`time` is missing; every request needs one, such as \"time\": 1767225600.25",
            ));
        }
        Ok(())
    }

    /// Names of fields that had no influence.
    #[must_use]
    pub fn strangers(&self) -> &Strangers {
        &self.strangers
    }
}

fn field(
    json: &mut Json<'_>,
    field: Field,
    scratch: &mut String,
    record: &mut Record,
) -> Result<(), BadLine> {
    match field {
        Field::Time if json.peek() == Some(b'"') => {
            let text = json.string(scratch)?;
            record.time = moment::rfc3339(text).map_err(|why| BadLine::of_value(text, &why))?;
        }
        Field::Time => record.time = super::timestamp(json.number()?)?,
        Field::Ip => record.peer = Some(super::address(json.string(scratch)?)?),
        Field::Method => record.set_method(json.string(scratch)?),
        Field::Path => record.set_target(json.string(scratch)?),
        Field::Headers => headers(json, scratch, record)?,
        Field::Body => record.set_body(json.string(scratch)?),
        Field::Cost => record.cost = Some(super::cost(json.number()?)?),
        Field::Status => record.status = super::status(json.number()?)?,
        Field::Duration => record.duration = seconds(json.number()?)?,
    }
    Ok(())
}

fn seconds(text: &str) -> Result<tollgate_core::Micros, BadLine> {
    number::seconds(text).map_err(|error| BadLine::of_value(text, &error))
}

/// An object of strings, or of numbers as they are written; a repeated field is a list of them.
fn headers(json: &mut Json<'_>, scratch: &mut String, record: &mut Record) -> Result<(), BadLine> {
    json.object(|json, name| {
        if json.peek() == Some(b'[') {
            return json.array(|json| header(json, name, scratch, record));
        }
        if json.null() { Ok(()) } else { header(json, name, scratch, record) }
    })
}

fn header(
    json: &mut Json<'_>,
    name: &str,
    scratch: &mut String,
    record: &mut Record,
) -> Result<(), BadLine> {
    let number = matches!(json.peek(), Some(b'-' | b'0'..=b'9'));
    record.add_header(name, if number { json.number()? } else { json.string(scratch)? });
    Ok(())
}
