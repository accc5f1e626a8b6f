//! The forms of the policy's own tests, as they are written.

use jiff::Timestamp as Moment;
use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::{Micros, Timestamp};

use super::collections::{Maybe, Named, OneOrMany, Short};
use super::node::{Node, Value};
use super::scalars::text_of;
use super::shape::{At, Shape, choice, into_schema, record};
use super::sink::Sink;
use super::test_case::{ExpectedDecision, ExpectedRetry};

record! {
    /// Tests in a file of their own.
    TestFile, "a file of tests" {
        /// The tests.
        required tests: Vec<At<TestForm>>,
    }
}

record! {
    /// One test: requests on virtual time, against a policy that counted nothing yet.
    TestForm, "a test" {
        /// What it shows; where it stands unless said otherwise.
        optional name: String,
        /// The time of its first request; what that says itself, else 2026-01-01T00:00:00Z.
        optional start: MomentForm,
        /// What all its requests have in common.
        optional defaults: CommonForm,
        /// In order.
        required requests: Vec<At<StepForm>>,
    }
}

record! {
    /// What all requests of a test have in common; each may say otherwise.
    CommonForm, "`defaults`" {
        /// The socket's peer.
        optional ip: String,
        /// `GET` unless said otherwise.
        optional method: String,
        /// Path and query.
        optional path: String,
        /// Header fields.
        optional headers: Vec<Named<String>>,
        /// The user of HTTP basic authentication.
        optional basic: String,
        /// The body.
        optional body: String,
        /// What the upstream answers.
        optional status: u64,
        /// How long the upstream takes.
        optional duration: SecondsForm,
    }
}

record! {
    /// One or many equal requests. `{n}` in ip, path, header values, basic and body is the number of the repetition, from 0.
    StepForm, "a request" {
        /// When it comes: seconds since 1970 with up to six decimals, or RFC 3339.
        optional time: MomentForm,
        /// When it comes, since the test's start.
        optional at: SecondsForm,
        /// When it comes, since the request before.
        optional after: SecondsForm,
        /// How many requests; 1 unless said otherwise.
        optional repeat: u64,
        /// The time between two of them.
        optional every: SecondsForm,
        /// The socket's peer.
        optional ip: String,
        /// `GET` unless said otherwise.
        optional method: String,
        /// Path and query.
        optional path: String,
        /// Header fields, beside those of `defaults`.
        optional headers: Vec<Named<String>>,
        /// The user of HTTP basic authentication.
        optional basic: String,
        /// The body.
        optional body: String,
        /// A cost that overrides the policy's.
        optional cost: u64,
        /// What the upstream answers.
        optional status: u64,
        /// How long the upstream takes: `300ms`, or seconds with up to six decimals.
        optional duration: SecondsForm,
        /// What is expected; a decision alone may stand for itself.
        optional expect: Short<ExpectedDecision, ExpectForm>,
    }
}

record! {
    /// What is expected of a request, or of each of its repetitions.
    ExpectForm, "`expect`" {
        /// What is decided.
        optional decision: ExpectedDecision,
        /// Exactly these limits refuse, in the route's order.
        optional refused_by: OneOrMany<String>,
        /// The same, by another name.
        optional limit: OneOrMany<String>,
        /// The retry time, exact: `59s`, seconds with up to six decimals, or `never`.
        optional retry_after: ExpectedRetry,
        /// The retry time in microseconds, as a decision line has it; `null` is never.
        optional retry_after_us: Maybe<u64>,
        /// How long it waits, exact.
        optional delay: SecondsForm,
        /// How long it waits, in microseconds.
        optional delay_us: u64,
        /// `remaining` of limits, by name, after the last repetition.
        optional remaining: Vec<Named<u64>>,
        /// The route's place in `routes`, counted from 0; empty for none.
        optional route: Maybe<u64>,
        /// How many of the repetitions pass, now or after a delay.
        optional admitted: u64,
        /// How many of the repetitions pass after a delay.
        optional delayed: u64,
        /// How many of the repetitions are refused.
        optional refused: u64,
    }
}

choice! { ExpectedDecision, "decision" {
    "admit" => ExpectedDecision::Admit,
    "delay" => ExpectedDecision::Delay,
    "refuse" => ExpectedDecision::Refuse,
} }

impl Shape for ExpectedRetry {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<ExpectedRetry> {
        match &node.value {
            Value::Scalar(text) if text == "never" => Some(ExpectedRetry::Never),
            _ => {
                SecondsForm::decode(node, sink).map(|SecondsForm(span)| ExpectedRetry::After(span))
            }
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        SecondsForm::schema(generator)
    }
}

/// A moment: seconds since the epoch with up to six decimals, or RFC 3339.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MomentForm(pub(crate) Timestamp);

/// A span: a duration, or seconds with up to six decimals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondsForm(pub(crate) Micros);

/// Seconds with up to six decimals, exactly; `None` where the text is something else.
fn seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 6 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let micros = format!("{fraction:0<6}").parse::<u64>().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)
}

impl Shape for MomentForm {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<MomentForm> {
        let text = text_of(node, "a time", sink)?;
        let rfc3339 = || u64::try_from(text.parse::<Moment>().ok()?.as_microsecond()).ok();
        match seconds(text).or_else(rfc3339) {
            Some(micros) if micros <= Timestamp::MAX.as_micros() => {
                Some(MomentForm(Timestamp::from_micros(micros)))
            }
            _ => {
                let help = "write seconds since 1970, or `2026-01-01T00:00:00Z`";
                sink.error(node.span, format!("`{text}` is no time"), help.to_owned());
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "type": ["number", "string"] }))
    }
}

impl Shape for SecondsForm {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<SecondsForm> {
        if let Value::Scalar(text) = &node.value
            && let Some(micros) = seconds(text)
        {
            return Some(SecondsForm(Micros::new(micros)));
        }
        Micros::decode(node, sink).map(SecondsForm)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "type": ["number", "string"] }))
    }
}
