//! Single values: text, whole numbers, yes or no, spans, rates, and words of a choice.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::{Burst, Micros, Rate};

use super::duration::{DurationError, parse_duration};
use super::nearest::{listed, nearest};
use super::node::{Node, Value};
use super::rate::{parse_burst, parse_rate};
use super::shape::{Shape, into_schema};
use super::sink::Sink;

/// The text of a single value, or an error that says what is asked.
pub(crate) fn text_of<'n>(node: &'n Node, what: &str, sink: &mut Sink<'_>) -> Option<&'n str> {
    match &node.value {
        Value::Scalar(text) => Some(text),
        Value::Null => {
            let help = "quote it where the word itself is meant";
            sink.error(node.span, format!("{what} has no value"), help.to_owned());
            None
        }
        _ => {
            sink.error(node.span, format!("{what} is asked, and this is {}", node.kind()), None);
            None
        }
    }
}

/// The value of one of `words`.
pub(crate) fn choose<T: Clone>(
    node: &Node,
    what: &str,
    words: &[(&str, T)],
    sink: &mut Sink<'_>,
) -> Option<T> {
    let text = text_of(node, what, sink)?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Some(value.clone());
    }
    let all = format!("write one of {}", listed(words.iter().map(|(word, _)| *word)));
    let help = match nearest(text, words.iter().map(|(word, _)| *word)) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    };
    sink.error(node.span, format!("`{text}` is no {what}"), help);
    None
}

impl Shape for String {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<String> {
        text_of(node, "a text", sink).map(str::to_owned)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "type": ["string", "number", "boolean"] }))
    }
}

impl Shape for u64 {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<u64> {
        let text = text_of(node, "a whole number", sink)?;
        match whole(text) {
            Ok(number) => Some(number),
            Err((message, help)) => {
                sink.error(node.span, message, help);
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9]+$|\\$\\{" },
        ] }))
    }
}

/// A whole number, or what is wrong and what would be right.
fn whole(text: &str) -> Result<u64, (String, Option<String>)> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(|_| {
            (format!("`{text}` is too large"), Some(format!("at most {}", u64::MAX)))
        });
    }
    let bare: String = text.chars().filter(|c| *c != '_' && *c != ',').collect();
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err((format!("`{text}` is no number"), Some(format!("write `{bare}`"))));
    }
    if text == "unlimited" {
        let help = "write `unlimited` in place of all the parameters of a limit or class";
        return Err(("a whole number is asked here".to_owned(), Some(help.to_owned())));
    }
    if let Ok(number) = text.parse::<f64>() {
        return Err(if number < 0.0 {
            (format!("`{text}` is negative"), Some("write zero or more".to_owned()))
        } else {
            (format!("`{text}` is no whole number"), Some("write digits only".to_owned()))
        });
    }
    Err((format!("`{text}` is no number"), Some("write digits only, such as `30`".to_owned())))
}

impl Shape for bool {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<bool> {
        // YAML's own spellings of the two words; `yes` and `on` are text since YAML 1.2.
        match &node.value {
            Value::Scalar(text) if ["True", "TRUE"].contains(&text.as_str()) => Some(true),
            Value::Scalar(text) if ["False", "FALSE"].contains(&text.as_str()) => Some(false),
            _ => choose(node, "truth value", &[("true", true), ("false", false)], sink),
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(
            json!({ "anyOf": [{ "type": "boolean" }, { "enum": ["true", "false", "True", "False", "TRUE", "FALSE"] }] }),
        )
    }
}

/// Decodes a text by one of the parsers of spans and rates.
fn parsed<T>(
    node: &Node,
    what: &str,
    parse: fn(&str) -> Result<T, DurationError>,
    sink: &mut Sink<'_>,
) -> Option<T> {
    let text = text_of(node, what, sink)?;
    match parse(text) {
        Ok(value) => Some(value),
        Err(DurationError { message, help }) => {
            sink.error(node.span, message, help);
            None
        }
    }
}

impl Shape for Micros {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Micros> {
        parsed(node, "a duration", parse_duration, sink)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "const": 0 },
            { "type": "string", "pattern": "^ *[0-9]+ ?[a-z\u{b5}\u{3bc}]+|^ *0 *$|\\$\\{",
              "examples": ["250ms", "30s", "1h30m", "10d"] },
        ] }))
    }
}

impl Shape for Rate {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Rate> {
        parsed(node, "a rate", parse_rate, sink)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(
            json!({ "type": "string", "pattern": "^ *[0-9]+([eE][0-9]+)?( *\\/ *| +per +)[0-9a-z ]+$|\\$\\{",
            "examples": ["10/s", "100/minute", "5 per 10s"] }),
        )
    }
}

impl Shape for Burst {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Burst> {
        parsed(node, "a burst", parse_burst, sink)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^ *[0-9]+ ?[a-z]*|\\$\\{", "examples": ["2s"] },
        ] }))
    }
}
