//! `sync:` and `on_store_failure:`, how nodes count a limit together, and with which rules that goes.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::{Algorithm, Micros};
use tollgate_store::{OnStoreFailure, SyncMode};

use super::diagnostic::Span;
use super::duration::parse_duration;
use super::limits::LimitForm;
use super::nearest::listed;
use super::node::{Node, Value};
use super::scalars::choose;
use super::shape::{At, Shape, choice, into_schema, record};
use super::sink::Sink;
use crate::settings::Class;

record! {
    /// How often the shared store is asked, with its parameters.
    SyncForm, "`sync`" {
        /// Nodes count by themselves, report, and fetch the sum once an interval.
        required estimate: EstimateForm,
    }
}

record! {
    /// Nodes count by themselves, and in between learn of each other.
    EstimateForm, "an estimate" {
        /// The interval, 10ms to 1h; 1s unless said otherwise. What all nodes admit in one is the most that goes beyond the limit.
        optional every: Micros,
    }
}

choice! { OnStoreFailure, "way to go on without the store" {
    "share" => OnStoreFailure::Share,
    "allow" => OnStoreFailure::Allow,
    "refuse" => OnStoreFailure::Refuse,
} }

/// The interval of an estimate, unless it is said.
const EVERY: Micros = Micros::from_secs(1);

/// The interval's bounds: below, nodes do little else than report; beyond, they do not count together.
const SHORTEST: Micros = Micros::new(10_000);
const LONGEST: Micros = Micros::from_secs(3_600);

const MODES: [(&str, SyncMode); 5] = [
    ("exact", SyncMode::Exact),
    ("leased", SyncMode::Leased),
    ("estimate", SyncMode::Estimate { every: EVERY }),
    ("share", SyncMode::Share),
    ("node", SyncMode::Node),
];

impl Shape for SyncMode {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<SyncMode> {
        match &node.value {
            Value::Map(_) => {
                let form = SyncForm::decode(node, sink)?.estimate?.value;
                let every = form.every.as_ref();
                interval(every.map_or(EVERY, |every| every.value), every.map(|at| at.span), sink)
            }
            Value::Scalar(text) => match spelt_out(text) {
                Some(every) => interval(every, Some(node.span), sink),
                None => choose(node, "way to count together", &MODES, sink),
            },
            _ => choose(node, "way to count together", &MODES, sink),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let words = MODES.map(|(word, _)| word);
        let form = SyncForm::schema(generator);
        into_schema(json!({ "anyOf": [
            { "enum": words },
            form,
            { "type": "string", "pattern": "^estimate *\\{ *every: *[^ }]+ *\\}$",
              "examples": ["estimate {every: 1s}"] },
        ] }))
    }
}

/// `estimate {every: 1s}` as one quoted text.
fn spelt_out(text: &str) -> Option<Micros> {
    let inner = text.strip_prefix("estimate")?.trim_start().strip_prefix('{')?;
    let every = inner.trim_end().strip_suffix('}')?.trim().strip_prefix("every:")?;
    parse_duration(every.trim()).ok()
}

fn interval(every: Micros, at: Option<Span>, sink: &mut Sink<'_>) -> Option<SyncMode> {
    if let Some(at) = at
        && !(SHORTEST..=LONGEST).contains(&every)
    {
        let message = "no interval for an estimate".to_owned();
        sink.error(at, message, "write a time between `10ms` and `1h`".to_owned());
        return None;
    }
    Some(SyncMode::Estimate { every })
}

/// Says what does not go with the way to count together: rules and algorithms. Each class comes with its parameters' place.
pub(crate) fn check_sync(
    form: &LimitForm,
    sync: &At<SyncMode>,
    classes: &[(Class, Span)],
    sink: &mut Sink<'_>,
) {
    if let Some(mode) = counts_ahead(sync.value) {
        rules_that_go(form, sync, mode, sink);
        algorithms_that_go(classes, mode, sink);
    }
}

/// The name of a mode in which a node admits without asking and tells the store later or before.
fn counts_ahead(sync: SyncMode) -> Option<&'static str> {
    match sync {
        SyncMode::Leased => Some("leased"),
        SyncMode::Estimate { .. } => Some("estimate"),
        SyncMode::Exact | SyncMode::Share | SyncMode::Node => None,
    }
}

/// What is known only after the decision, or taken by a refusal, needs the store's word at the decision.
fn rules_that_go(form: &LimitForm, sync: &At<SyncMode>, mode: &str, sink: &mut Sink<'_>) {
    let yes = |flag: &Option<At<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    let rules = [
        ("count_refused", yes(&form.count_refused)),
        ("overdraw", yes(&form.overdraw)),
        ("charge_when", form.charge_when.is_some()),
    ];
    for (rule, _) in rules.into_iter().filter(|(_, there)| *there) {
        let message = format!("`{rule}` goes not with `sync: {mode}`");
        let help = format!("count this limit with `sync: exact`, or leave `{rule}` out");
        sink.error(sync.span, message, help);
    }
}

fn algorithms_that_go(classes: &[(Class, Span)], mode: &str, sink: &mut Sink<'_>) {
    const FITTING: [&str; 5] = [
        "token_bucket",
        "leaky_bucket` with `nodelay: true",
        "fixed_window",
        "sliding_window",
        "quota",
    ];
    for (class, at) in classes {
        let algorithm = match &class.algorithm {
            Some(Algorithm::LeakyBucket(bucket)) if !bucket.nodelay => {
                "a `leaky_bucket` whose requests wait"
            }
            Some(Algorithm::SlidingLog(_)) => "`sliding_log`",
            Some(Algorithm::Concurrency(_)) => "`concurrency`",
            _ => continue,
        };
        let help = format!("it goes with {}; else use `sync: exact`", listed(FITTING));
        sink.error(*at, format!("{algorithm} goes not with `sync: {mode}`"), help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_as_one_text() {
        let second = Some(Micros::from_secs(1));
        for text in ["estimate {every: 1s}", "estimate{every:1s}", "estimate { every: 1s }"] {
            assert_eq!(spelt_out(text), second, "{text}");
        }
        for text in ["estimate", "estimate {}", "estimate {every: }", "estimate {every: 1s", "x"] {
            assert_eq!(spelt_out(text), None, "{text}");
        }
    }
}
