//! `retries:`, which requests are sent again.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::{count, status};
use crate::file::answers::Percent;
use crate::file::collections::AtLeastOne;
use crate::file::node::Node;
use crate::file::scalars::text_of;
use crate::file::shape::{At, Shape, into_schema, record};
use crate::file::sink::Sink;
use crate::settings::Retries;

record! {
    /// Which requests are sent again, to another server. What reached no server always is; of the others only those that may
    /// be sent twice: without a body, and of an idempotent method.
    RetriesForm, "`retries`" {
        /// After which answers: statuses from 500 to 599, `timeout`, `broken`. None unless said.
        optional on: AtLeastOne<Failure>,
        /// How often at most, 1 to 5; 1 unless said otherwise.
        optional attempts: u64,
        /// How many retries at most, so that they cannot multiply an outage.
        optional budget: BudgetForm,
    }
}

record! {
    /// How many retries there may be in all.
    BudgetForm, "a retry budget" {
        /// In per cent of the requests; 20% unless said otherwise.
        optional share: Percent,
        /// So many a second besides, up to ten seconds' worth at once; 10 unless said otherwise.
        optional floor: u64,
    }
}

/// What may be followed by a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Status(u16),
    Timeout,
    Broken,
}

impl Shape for Failure {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Failure> {
        match text_of(node, "a status, `timeout` or `broken`", sink)? {
            "timeout" => Some(Failure::Timeout),
            "broken" => Some(Failure::Broken),
            text => match text.parse() {
                Ok(number) => {
                    let at = At { value: number, span: node.span, name: node.span };
                    status(&at, 500..=599, sink).map(Failure::Status)
                }
                Err(_) => {
                    let help = "write statuses from 500 to 599, `timeout` or `broken`";
                    let message = format!("nothing is tried again on `{text}`");
                    sink.error(node.span, message, help.to_owned());
                    None
                }
            },
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "anyOf": [
            { "type": "integer", "minimum": 500, "maximum": 599 },
            { "enum": ["timeout", "broken"] },
            { "type": "string", "pattern": "^5[0-9][0-9]$|\\$\\{" },
        ] }))
    }
}

/// The field's meaning.
pub(super) fn retries(form: Option<&At<RetriesForm>>, sink: &mut Sink<'_>) -> Retries {
    let mut made = Retries::default();
    let Some(form) = form.map(|form| &form.value) else { return made };
    count(&form.attempts, 1..=5, &mut made.attempts, sink);
    for failure in form.on.iter().flat_map(|on| &on.value.0) {
        match failure.value {
            Failure::Status(status) => made.status.push(status),
            Failure::Timeout => made.timeout = true,
            Failure::Broken => made.broken = true,
        }
    }
    if let (Some(attempts), None) = (form.written.place("attempts"), form.written.place("on")) {
        let help = "add `on: [502, 503, 504]`: what reached no server is tried again by itself";
        sink.error(attempts, "`attempts` goes with `on`".to_owned(), help.to_owned());
    }
    if let Some(budget) = form.budget.as_ref().map(|budget| &budget.value) {
        if let Some(share) = &budget.share {
            made.share = share.value.0;
        }
        count(&budget.floor, 0..=100_000, &mut made.floor, sink);
    }
    made
}
