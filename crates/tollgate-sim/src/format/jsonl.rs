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

/// Where a name stands in this list is its bit among those that were seen.
const FIELDS: [&str; 9] =
    ["time", "ip", "method", "path", "headers", "body", "cost", "status", "duration"];

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
            let Some(place) = FIELDS.iter().position(|known| *known == name) else {
                self.strangers.note(name);
                return json.skip();
            };
            if seen & 1 << place != 0 {
                return Err(BadLine::new(format!("`{name}` is given twice; give it once")));
            }
            seen |= 1 << place;
            if name != "time" && json.null() {
                return Ok(());
            }
            field(json, name, &mut self.scratch, record).map_err(|error| error.of(name))
        })?;
        json.end()?;
        if seen & 1 == 0 {
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
    name: &str,
    scratch: &mut String,
    record: &mut Record,
) -> Result<(), BadLine> {
    match name {
        "time" if json.peek() == Some(b'"') => {
            let text = json.string(scratch)?;
            record.time = moment::rfc3339(text).map_err(|why| BadLine::of_value(text, &why))?;
        }
        "time" => record.time = super::timestamp(json.number()?)?,
        "ip" => record.peer = Some(super::address(json.string(scratch)?)?),
        "method" => record.set_method(json.string(scratch)?),
        "path" => record.set_target(json.string(scratch)?),
        "headers" => headers(json, scratch, record)?,
        "body" => record.set_body(json.string(scratch)?),
        "cost" => record.cost = Some(super::cost(json.number()?)?),
        "status" => record.status = super::status(json.number()?)?,
        _ => record.duration = seconds(json.number()?)?,
    }
    Ok(())
}

fn seconds(text: &str) -> Result<tollgate_core::Micros, BadLine> {
    number::seconds(text).map_err(|error| BadLine::of_value(text, &error))
}

/// An object of strings; a repeated field is a list of them.
fn headers(json: &mut Json<'_>, scratch: &mut String, record: &mut Record) -> Result<(), BadLine> {
    json.object(|json, name| {
        if json.peek() == Some(b'[') {
            return json.array(|json| {
                record.add_header(name, json.string(scratch)?);
                Ok(())
            });
        }
        if !json.null() {
            record.add_header(name, json.string(scratch)?);
        }
        Ok(())
    })
}
