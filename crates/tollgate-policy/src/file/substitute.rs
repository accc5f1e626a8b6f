//! Environment names within values: `${NAME}`, `${NAME:-value}` where it is unset or empty, and `$$` for a `$`.
//!
//! What an environment name brings in is text and is not looked through again. A `$` before anything else is itself.

use super::diagnostic::Span;
use super::sink::Sink;

/// Most bytes that environment names bring into one file.
const MAX_SUBSTITUTED: usize = 1 << 20;

/// Replaces the names in `text`, which `span` of `source` spells. `None` where one cannot be: that is an error at its place.
pub(crate) fn substitute(
    text: &str,
    span: Span,
    source: &str,
    sink: &mut Sink<'_>,
) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('{') {
            let Some((name, after)) = inner.split_once('}') else {
                let help = "write `${NAME}`, or `$${` for these two characters themselves";
                sink.error(span, "`${` without `}`".to_owned(), help.to_owned());
                return None;
            };
            let place = place_of(name, span, source);
            out.push_str(&value_of(name, place, sink)?);
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Where `${name}` stands within `span`, or all of `span` where escapes hide it.
fn place_of(name: &str, span: Span, source: &str) -> Span {
    let spelled = format!("${{{name}}}");
    match source.get(span.start..span.end).and_then(|within| within.find(&spelled)) {
        Some(at) => Span::new(span.start + at, span.start + at + spelled.len()),
        None => span,
    }
}

fn value_of(name: &str, place: Span, sink: &mut Sink<'_>) -> Option<String> {
    let (name, otherwise) = match name.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (name, None),
    };
    if !is_name(name) {
        let help = "a name has letters, digits and `_`; write `$$` for a `$` itself";
        sink.error(place, format!("`{name}` is no environment name"), help.to_owned());
        return None;
    }
    let found = sink.surroundings.environment(name);
    let value = match (found, otherwise) {
        (Some(value), None) => value,
        (Some(value), Some(_)) if !value.is_empty() => value,
        (_, Some(otherwise)) => otherwise.to_owned(),
        (None, None) => {
            let help =
                format!("set it, or write `${{{name}:-value}}` for a value where it is unset");
            sink.error(place, format!("the environment has no `{name}`"), help);
            return None;
        }
    };
    sink.substituted += value.len();
    if sink.substituted > MAX_SUBSTITUTED {
        let message = format!("environment names bring in more than {MAX_SUBSTITUTED} bytes");
        sink.error(place, message, None);
        return None;
    }
    Some(value)
}

/// Whether `name` is an environment name: letters, digits and `_`, no digit first.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
