//! The project's own request lines: one JSON object each.

use super::json::Json;
use super::shape::{Learner, Shape, Value};
use super::{BadLine, Strangers, moment, number};
use crate::Record;

/// Reads request lines of the design's form.
#[derive(Debug, Default)]
pub struct JsonLines {
    scratch: String,
    strangers: Strangers,
    /// Of lines read before, the one that fitted last in front.
    shapes: Vec<Shape>,
}

/// How many shapes are remembered: fields that come in some lines only make a few.
const SHAPES: usize = 4;

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

    /// What its value is in a line's shape; header fields have one each.
    fn value(self, quoted: bool) -> Option<Value> {
        Some(match self {
            Field::Time if quoted => Value::TimeText,
            Field::Time => Value::Time,
            Field::Ip => Value::Ip,
            Field::Method => Value::Method,
            Field::Path => Value::Path,
            Field::Headers => return None,
            Field::Body => Value::Body,
            Field::Cost => Value::Cost,
            Field::Status => Value::Status,
            Field::Duration => Value::Duration,
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
        let fits = |shape: &Shape| shape.read(line, record).is_some();
        match self.shapes.iter().position(fits) {
            Some(0) => {}
            Some(place) => self.shapes.swap(0, place),
            None => {
                let mut learner = Learner::new(line);
                self.read_any(line, record, &mut learner)?;
                if let Some(shape) = learner.shape() {
                    self.shapes.truncate(SHAPES - 1);
                    self.shapes.insert(0, shape);
                }
            }
        }
        Ok(())
    }

    /// Reads one line of any shape.
    fn read_any(
        &mut self,
        line: &str,
        record: &mut Record,
        learner: &mut Learner<'_>,
    ) -> Result<(), BadLine> {
        record.clear();
        let mut seen = 0u16;
        let mut json = Json::new(line);
        json.object(|json, name| {
            let Some(known) = Field::of(name) else {
                learner.give_up();
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
            field(json, known, &mut self.scratch, record, learner).map_err(|error| error.of(name))
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
    learner: &mut Learner<'_>,
) -> Result<(), BadLine> {
    let quoted = json.peek() == Some(b'"');
    let start = json.at();
    match field {
        Field::Time if quoted => {
            let text = json.string(scratch)?;
            record.time = moment::rfc3339(text).map_err(|why| BadLine::of_value(text, &why))?;
        }
        Field::Time => record.time = super::timestamp(json.number()?)?,
        Field::Ip => record.peer = Some(super::address(json.string(scratch)?)?),
        Field::Method => record.set_method(json.string(scratch)?),
        Field::Path => record.set_target(json.string(scratch)?),
        Field::Headers => headers(json, scratch, record, learner)?,
        Field::Body => record.set_body(json.string(scratch)?),
        Field::Cost => record.cost = Some(super::cost(json.number()?)?),
        Field::Status => record.status = super::status(json.number()?)?,
        Field::Duration => record.duration = seconds(json.number()?)?,
    }
    if let Some(value) = field.value(quoted) {
        learner.value(value, start..json.at());
    }
    Ok(())
}

fn seconds(text: &str) -> Result<tollgate_core::Micros, BadLine> {
    number::seconds(text).map_err(|error| BadLine::of_value(text, &error))
}

/// An object of strings, or of numbers as they are written; a repeated field is a list of them.
fn headers(
    json: &mut Json<'_>,
    scratch: &mut String,
    record: &mut Record,
    learner: &mut Learner<'_>,
) -> Result<(), BadLine> {
    json.object(|json, name| {
        if json.peek() == Some(b'[') {
            learner.give_up();
            return json.array(|json| header(json, name, scratch, record));
        }
        if json.null() {
            return Ok(());
        }
        let start = json.at();
        if json.peek() != Some(b'"') {
            // A shape knows values in quotes only.
            learner.give_up();
        }
        header(json, name, scratch, record)?;
        learner.header(name, start..json.at());
        Ok(())
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
