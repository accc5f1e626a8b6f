//! The label sets. Every value is a word of the policy, of this file, or a status that we answer with: nothing that a
//! client sends ever becomes a label.

use std::sync::Arc;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use tollgate_policy::settings::{Match, Settings};
use tollgate_policy::{Decision, LimitReport, Rejection, Verdict};

/// What came of a request, or what one limit said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    Admit,
    Delay,
    Refuse,
    WouldDelay,
    WouldRefuse,
}

impl Outcome {
    pub(super) const ALL: [Outcome; 5] = [
        Outcome::Admit,
        Outcome::Delay,
        Outcome::Refuse,
        Outcome::WouldDelay,
        Outcome::WouldRefuse,
    ];

    /// What came of a request; `would_…` where a policy in shadow mode let it pass.
    pub(super) fn of(decision: &Decision) -> Outcome {
        match (decision.verdict, decision.judged) {
            (Verdict::Refuse(_), _) => Outcome::Refuse,
            (Verdict::Delay(_), _) => Outcome::Delay,
            (Verdict::Admit, Verdict::Refuse(_)) => Outcome::WouldRefuse,
            (Verdict::Admit, Verdict::Delay(_)) => Outcome::WouldDelay,
            (Verdict::Admit, Verdict::Admit) => Outcome::Admit,
        }
    }

    /// What one limit said; `would_…` where it is a shadow limit, or the policy is in shadow mode.
    pub(super) fn of_limit(report: &LimitReport, enforced: bool) -> Outcome {
        let waits = report.wait.get() > 0;
        match (report.refused, waits, enforced && !report.shadow) {
            (true, _, true) => Outcome::Refuse,
            (true, _, false) => Outcome::WouldRefuse,
            (false, true, true) => Outcome::Delay,
            (false, true, false) => Outcome::WouldDelay,
            (false, false, _) => Outcome::Admit,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Outcome::Admit => "admit",
            Outcome::Delay => "delay",
            Outcome::Refuse => "refuse",
            Outcome::WouldDelay => "would_delay",
            Outcome::WouldRefuse => "would_refuse",
        }
    }
}

impl EncodeLabelValue for Outcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.word(), encoder)
    }
}

/// Of `tollgate_decisions_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RouteOutcome {
    pub(super) route: Arc<str>,
    pub(super) outcome: Outcome,
}

/// Of `tollgate_limit_decisions_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LimitOutcome {
    pub(super) limit: Arc<str>,
    pub(super) class: Arc<str>,
    pub(super) route: Arc<str>,
    pub(super) outcome: Outcome,
}

/// Of what is known of a limit as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Limit {
    pub(super) limit: Arc<str>,
}

/// Of an upstream server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Server {
    pub(super) pool: Arc<str>,
    pub(super) server: Arc<str>,
}

/// Of `tollgate_upstream_errors_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ServerError {
    pub(super) pool: Arc<str>,
    pub(super) server: Arc<str>,
    pub(super) error: &'static str,
}

/// Of `tollgate_upstream_responses_total`: `2xx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ServerStatus {
    pub(super) pool: Arc<str>,
    pub(super) server: Arc<str>,
    pub(super) status: &'static str,
}

/// Of `tollgate_upstream_health_checks_total` and `tollgate_upstream_look_ups_total`: `ok`, `failed`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ServerResult {
    pub(super) pool: Arc<str>,
    pub(super) server: Arc<str>,
    pub(super) result: &'static str,
}

/// Of an upstream as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Pool {
    pub(super) pool: Arc<str>,
}

/// Of `tollgate_upstream_retries_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Retry {
    pub(super) pool: Arc<str>,
    pub(super) reason: &'static str,
}

/// Of `tollgate_answers_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Status {
    pub(super) status: u16,
}

/// Of `tollgate_undecided_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Reason {
    pub(super) reason: &'static str,
}

impl Reason {
    pub(super) fn of(rejection: &Rejection) -> Reason {
        let reason = match rejection {
            Rejection::NoRoute => "no_route",
            Rejection::BadPath => "bad_path",
            Rejection::MissingIdentity { .. } => "missing_identity",
        };
        Reason { reason }
    }

    /// The store gave no answer.
    pub(super) const STORE: Reason = Reason { reason: "store" };

    /// The room of those that wait for their delay is full.
    pub(super) const QUEUE_FULL: Reason = Reason { reason: "queue_full" };
}

/// Of `tollgate_limit_decisions_by_source_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct WordOf {
    pub(super) source: &'static str,
}

/// Of `tollgate_store_errors_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ErrorKind {
    pub(super) error: &'static str,
}

/// Of `tollgate_policy_reloads_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReloadResult {
    pub(super) result: &'static str,
}

/// Of `tollgate_build_info`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Build {
    pub(super) version: &'static str,
}

/// Where no route matched.
pub(super) const NO_ROUTE: &str = "(none)";

/// A label for each route, in order: what it matches, and its place where two look alike.
pub(super) fn routes(settings: &Settings) -> Vec<Arc<str>> {
    let mut labels: Vec<Arc<str>> = Vec::with_capacity(settings.routes.len());
    for (place, route) in settings.routes.iter().enumerate() {
        let label = in_words(&route.matcher);
        let taken = labels.iter().any(|other| **other == *label);
        labels.push(if taken { format!("{label} #{place}").into() } else { label.into() });
    }
    labels
}

fn in_words(matcher: &Match) -> String {
    let paths = if matcher.paths.is_empty() { "**" } else { &matcher.paths.join("|") };
    let place = format!("{}{paths}", matcher.hosts.join("|"));
    if matcher.methods.is_empty() {
        place
    } else {
        format!("{} {place}", matcher.methods.join("|"))
    }
}
