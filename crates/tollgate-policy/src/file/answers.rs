//! How answers describe limits: `headers`, `reset` and `retry_jitter`.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::collections::OneOrMany;
use super::node::Node;
use super::scalars::text_of;
use super::shape::{At, Shape, choice, into_schema};
use super::sink::Sink;
use crate::Mode;
use crate::settings::{Answers, DefaultRoute, HeaderFamily, ResetForm, TraceContext};

/// A family of header fields, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FamilyWord(Option<HeaderFamily>);

choice! { FamilyWord, "family of header fields" {
    "ietf" => FamilyWord(Some(HeaderFamily::Ietf)),
    "x-ratelimit" => FamilyWord(Some(HeaderFamily::XRateLimit)),
    "draft03" => FamilyWord(Some(HeaderFamily::Draft03)),
    "none" => FamilyWord(None),
} }

choice! { ResetForm, "form of the reset time" {
    "epoch" => ResetForm::Epoch,
    "delta" => ResetForm::Delta,
} }

choice! { DefaultRoute, "outcome where no route matches" {
    "admit" => DefaultRoute::Admit,
    "refuse" => DefaultRoute::Refuse,
} }

choice! { TraceContext, "treatment of the trace context" {
    "begin" => TraceContext::Begin,
    "pass" => TraceContext::Pass,
    "leave" => TraceContext::Leave,
} }

choice! { Mode, "mode" {
    "enforce" => Mode::Enforce,
    "shadow" => Mode::Shadow,
    "off" => Mode::Off,
} }

/// Per cent, 0 to 100.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Percent(pub(crate) u8);

impl Shape for Percent {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Percent> {
        let text = text_of(node, "a share in per cent", sink)?;
        let digits = text.strip_suffix('%').unwrap_or(text).trim();
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse::<u8>() {
            Ok(percent @ 0..=100) if plain => Some(Percent(percent)),
            _ => {
                let help = "write whole per cent from 0 to 100, such as `20%`";
                sink.error(node.span, format!("`{text}` is no share"), help.to_owned());
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": 100 },
            { "type": "string", "pattern": "^[0-9]{1,3} ?%?$|\\$\\{", "examples": ["20%"] },
        ] }))
    }
}

/// The meaning of the three fields.
pub(crate) fn answers(
    headers: Option<&At<OneOrMany<FamilyWord>>>,
    reset: Option<&At<ResetForm>>,
    jitter: Option<&At<Percent>>,
    sink: &mut Sink<'_>,
) -> Answers {
    let families = match headers {
        None => vec![HeaderFamily::Ietf, HeaderFamily::XRateLimit],
        Some(words) => families(words, sink),
    };
    Answers {
        headers: families,
        reset: reset.map_or(ResetForm::default(), |reset| reset.value),
        retry_jitter: jitter.map_or(0, |jitter| jitter.value.0),
    }
}

fn families(words: &At<OneOrMany<FamilyWord>>, sink: &mut Sink<'_>) -> Vec<HeaderFamily> {
    let words = &words.value.0;
    let mut families = Vec::new();
    for word in words {
        match word.value.0 {
            None if words.len() > 1 => {
                let message = "`none` stands beside others".to_owned();
                sink.error(word.span, message, "write `headers: none` alone".to_owned());
            }
            Some(family) if families.contains(&family) => {
                sink.error(word.span, "a family named twice".to_owned(), "name it once".to_owned());
            }
            found => families.extend(found),
        }
    }
    families
}
