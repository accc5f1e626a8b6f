//! `access_log:`, a line for each request or for a share of them.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::collections::AtLeastOne;
use super::diagnostic::Span;
use super::nearest::{listed, nearest};
use super::node::Node;
use super::scalars::{choose, text_of};
use super::secrets::{SecretForm, look_up};
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use crate::settings::{
    AccessLogSettings, LogField, LogFormat, LogPart, LogSample, LogTarget, Secret, Share,
};

record! {
    /// A line for each request, or for a share of them.
    AccessLogForm, "`access_log`" {
        /// `stdout`, `stderr`, or a file, which is opened anew when it was renamed.
        required to: String,
        /// `json` (default), or a template with fields in braces, such as `{time} {client} {status}`.
        optional format: String,
        /// The members of a JSON line; all unless said otherwise.
        optional fields: AtLeastOne<LogField>,
        /// Whether `path` has the query with it; queries may hold secrets.
        optional query: bool,
        /// How many of the requests of each outcome have a line; all unless said otherwise.
        optional sample: SampleForm,
        /// What keys are hashed with: `{ env: NAME }` or `{ file: PATH }`. Without it, every start makes a secret of its own.
        optional secret: SecretForm,
    }
}

record! {
    /// How many of the requests of each outcome have a line, in per cent.
    SampleForm, "`sample`" {
        /// Of those that passed.
        optional admitted: Share,
        /// Of those that this gateway refused.
        optional refused: Share,
        /// Of those whose answer has a status of 500 and above, or never came.
        optional errors: Share,
    }
}

impl Shape for LogField {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<LogField> {
        let words = LogField::ALL.map(|field| (field.name(), field));
        choose(node, "field of the access log", &words, sink)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "enum": LogField::ALL.map(LogField::name) }))
    }
}

impl Shape for Share {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Share> {
        let text = text_of(node, "a share in per cent", sink)?;
        let share = millionths(text.strip_suffix('%').unwrap_or(text).trim_end());
        if share.is_none() {
            let help =
                "write per cent from 0 to 100 with at most four decimals, such as `1%` or `0.01%`";
            sink.error(node.span, format!("`{text}` is no share"), help.to_owned());
        }
        share
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 100 },
            { "type": "string", "pattern": "^[0-9]{1,3}(\\.[0-9]{1,4})? ?%?$|\\$\\{", "examples": ["1%", "0.01%"] },
        ] }))
    }
}

/// Per cent as a share: a millionth is a ten-thousandth of one.
fn millionths(text: &str) -> Option<Share> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most: usize| {
        let fine =
            !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
        fine.then(|| text.parse::<u32>().ok()).flatten()
    };
    let share = digits(whole, 3)? * 10_000 + digits(&format!("{decimals:0<4}"), 4)?;
    Some(Share(share)).filter(|share| *share <= Share::ALL && !decimals.is_empty())
}

/// The section's meaning.
pub(crate) fn access_log(
    section: Option<&At<AccessLogForm>>,
    sink: &mut Sink<'_>,
) -> Option<AccessLogSettings> {
    let form = &section?.value;
    let to = form.to.as_ref()?;
    let sample = form.sample.as_ref().map(|sample| &sample.value);
    let share = |field: fn(&SampleForm) -> &Option<At<Share>>| {
        sample.and_then(|sample| field(sample).as_ref()).map_or(Share::ALL, |share| share.value)
    };
    Some(AccessLogSettings {
        to: target(to, sink)?,
        format: format(form, sink)?,
        query: form.query.as_ref().is_some_and(|query| query.value),
        sample: LogSample {
            admitted: share(|sample| &sample.admitted),
            refused: share(|sample| &sample.refused),
            errors: share(|sample| &sample.errors),
        },
        secret: form.secret.as_ref().and_then(|form| secret(form, sink)),
    })
}

/// The secret; where the policy is only checked, this may be a machine that does not have it.
fn secret(form: &At<SecretForm>, sink: &mut Sink<'_>) -> Option<Secret> {
    match look_up(form, sink)? {
        Ok(secret) => Some(secret),
        Err(absent) if sink.surroundings.is_serving() => {
            sink.error(absent.at, absent.message, absent.help);
            None
        }
        Err(absent) => {
            sink.warn(absent.at, absent.message, &absent.help);
            None
        }
    }
}

fn target(to: &At<String>, sink: &mut Sink<'_>) -> Option<LogTarget> {
    match to.value.as_str() {
        "stdout" => Some(LogTarget::Stdout),
        "stderr" => Some(LogTarget::Stderr),
        "" => {
            let help = "write `stdout`, `stderr` or the path of a file";
            sink.error(to.span, "lines must go somewhere".to_owned(), help.to_owned());
            None
        }
        file => Some(LogTarget::File(sink.surroundings.path(file))),
    }
}

fn format(form: &AccessLogForm, sink: &mut Sink<'_>) -> Option<LogFormat> {
    let template = form.format.as_ref().filter(|format| format.value != "json");
    if let (Some(_), Some(fields)) = (template, &form.fields) {
        let help = "leave `fields` out: the template names its fields itself";
        sink.error(fields.name, "`fields` goes with `format: json`".to_owned(), help.to_owned());
        return None;
    }
    if let Some(template) = template {
        return parts(&template.value, template.span, sink).map(LogFormat::Template);
    }
    let Some(fields) = &form.fields else { return Some(LogFormat::Json(LogField::ALL.to_vec())) };
    let mut named = Vec::new();
    for field in &fields.value.0 {
        if named.contains(&field.value) {
            let message = format!("`{}` is here twice", field.value.name());
            sink.error(field.span, message, "name each field once".to_owned());
        }
        named.push(field.value);
    }
    Some(LogFormat::Json(named))
}

/// The pieces of a template. `{{` and `}}` stand for the braces themselves.
fn parts(template: &str, at: Span, sink: &mut Sink<'_>) -> Option<Vec<LogPart>> {
    match pieces(template) {
        Ok(parts) if parts.iter().any(|part| matches!(part, LogPart::Field(_))) => Some(parts),
        Ok(_) => {
            let help = "write `json`, or a template such as `{time} {client} {status}`";
            sink.error(at, format!("`{template}` has no field"), help.to_owned());
            None
        }
        Err((message, help)) => {
            sink.error(at, message, help);
            None
        }
    }
}

fn pieces(template: &str) -> Result<Vec<LogPart>, (String, String)> {
    if template.chars().any(char::is_control) {
        let help = "write it on one line, without tabs: every request is one line".to_owned();
        return Err(("a template with control characters".to_owned(), help));
    }
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let Some(end) = end else {
            let help = "write `{{` and `}}` for the braces themselves".to_owned();
            return Err((format!("a `{brace}` without its counterpart"), help));
        };
        if !text.is_empty() {
            parts.push(LogPart::Text(std::mem::take(&mut text)));
        }
        parts.push(LogPart::Field(named(&rest[..end])?));
        rest = &rest[end + 1..];
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(LogPart::Text(text));
    }
    Ok(parts)
}

fn named(name: &str) -> Result<LogField, (String, String)> {
    let known = || LogField::ALL.iter().copied();
    known().find(|field| field.name() == name).ok_or_else(|| {
        let all = format!("the fields are {}", listed(known().map(LogField::name)));
        let help = match nearest(name, known().map(LogField::name)) {
            Some(near) => format!("did you mean `{near}`? {all}"),
            None => all,
        };
        (format!("`{name}` is no field of the access log"), help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        let share = |text| millionths(text).map(|share| share.0);
        assert_eq!(share("1"), Some(10_000));
        assert_eq!(share("0.01"), Some(100));
        assert_eq!(share("0.0001"), Some(1));
        assert_eq!(share("99.9"), Some(999_000));
        assert_eq!(share("100.0"), Some(1_000_000));
        for wrong in ["", "-1", "100.0001", "101", "1.", ".5", "1.00001", "+1", "1e1", "1000"] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn templates_are_text_and_fields() {
        let text = |text: &str| LogPart::Text(text.to_owned());
        assert_eq!(
            pieces("{time} {{x}} \"{path}\""),
            Ok(vec![
                LogPart::Field(LogField::Time),
                text(" {x} \""),
                LogPart::Field(LogField::Path),
                text("\""),
            ])
        );
        for wrong in ["{", "}", "{time", "time}", "{tme}", "{}", "a\tb"] {
            assert!(pieces(wrong).is_err(), "{wrong}");
        }
    }
}
