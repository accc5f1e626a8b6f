//! Compares a decision with what a test expects of it.

use tollgate_core::{Micros, Retry};
use tollgate_policy::file::duration::format_duration;
use tollgate_policy::file::{Expect, ExpectedDecision, ExpectedRetry};
use tollgate_policy::{Decision, Rejection, Ruling, Verdict};

use super::Mismatch;

/// What of one request differs.
pub(super) fn request(expect: &Expect, ruling: &Ruling, route: Option<usize>) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    if let Some(expected) = expect.decision
        && expected != word(ruling)
    {
        mismatches.push(Mismatch::new("decision", name(expected), in_words(ruling)));
    }
    if let Some(expected) = &expect.refused_by {
        let found = refused_by(ruling);
        if *expected != found {
            mismatches.push(Mismatch::new("refused_by", list(expected), list(&found)));
        }
    }
    if let Some(expected) = expect.retry_after
        && !is_retry(expected, retry(ruling))
    {
        let found = retry(ruling).map_or_else(|| "not refused".to_owned(), retry_in_words);
        mismatches.push(Mismatch::new("retry_after", retry_in_words(expected), found));
    }
    if let Some(expected) = expect.delay
        && expected != delay(ruling)
    {
        let found = format_duration(delay(ruling));
        mismatches.push(Mismatch::new("delay", format_duration(expected), found));
    }
    if let Some(expected) = expect.route
        && expected != route
    {
        let place = |route: Option<usize>| {
            route.map_or_else(|| "none".to_owned(), |route| route.to_string())
        };
        mismatches.push(Mismatch::new("route", place(expected), place(route)));
    }
    mismatches
}

/// What of the limits differs after a step's last request.
pub(super) fn remaining(expect: &Expect, ruling: &Ruling) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    for (name, expected) in &expect.remaining {
        let found = decision(ruling).and_then(|decision| {
            let report = decision.limits.iter().find(|report| report.name.as_str() == name)?;
            Some(report.standing.remaining)
        });
        if found != Some(*expected) {
            let found =
                found.map_or_else(|| "the limit was not asked".to_owned(), |left| left.to_string());
            mismatches.push(Mismatch::new(
                format!("remaining of {name}"),
                expected.to_string(),
                found,
            ));
        }
    }
    mismatches
}

/// The decision's word; a request that was rejected before it was decided does not pass.
pub(super) fn word(ruling: &Ruling) -> ExpectedDecision {
    match decision(ruling).map(|decision| decision.judged) {
        Some(Verdict::Admit) => ExpectedDecision::Admit,
        Some(Verdict::Delay(_)) => ExpectedDecision::Delay,
        Some(Verdict::Refuse(_)) | None => ExpectedDecision::Refuse,
    }
}

fn decision(ruling: &Ruling) -> Option<&Decision> {
    match ruling {
        Ruling::Decided(decision) => Some(decision),
        Ruling::Rejected(_) => None,
    }
}

fn name(decision: ExpectedDecision) -> &'static str {
    match decision {
        ExpectedDecision::Admit => "admit",
        ExpectedDecision::Delay => "delay",
        ExpectedDecision::Refuse => "refuse",
    }
}

fn in_words(ruling: &Ruling) -> String {
    match ruling {
        Ruling::Rejected(rejection) => format!("refuse, {}", before_any_limit(rejection)),
        Ruling::Decided(decision) => match decision.judged {
            Verdict::Admit => "admit".to_owned(),
            Verdict::Delay(delay) => format!("delay, {}", format_duration(delay)),
            Verdict::Refuse(_) => format!("refuse, by {}", list(&refused_by(ruling))),
        },
    }
}

fn before_any_limit(rejection: &Rejection) -> String {
    match rejection {
        Rejection::NoRoute => "because no route matches".to_owned(),
        Rejection::BadPath => "because of its path".to_owned(),
        Rejection::MissingIdentity { limit, identity } => {
            format!("because `{limit}` rejects who has no `{identity}`")
        }
    }
}

fn refused_by(ruling: &Ruling) -> Vec<String> {
    let Some(decision) = decision(ruling) else { return Vec::new() };
    if !matches!(decision.judged, Verdict::Refuse(_)) {
        return Vec::new();
    }
    decision.refused_by().map(|report| report.name.to_string()).collect()
}

fn retry(ruling: &Ruling) -> Option<ExpectedRetry> {
    match decision(ruling).map(|decision| decision.judged) {
        Some(Verdict::Refuse(Retry::After(wait))) => Some(ExpectedRetry::After(wait)),
        Some(Verdict::Refuse(Retry::Never)) | None => Some(ExpectedRetry::Never),
        Some(Verdict::Admit | Verdict::Delay(_)) => None,
    }
}

/// Who passes need not come again: as in a decision line, that is 0.
fn is_retry(expected: ExpectedRetry, found: Option<ExpectedRetry>) -> bool {
    found.unwrap_or(ExpectedRetry::After(Micros::ZERO)) == expected
}

fn delay(ruling: &Ruling) -> Micros {
    match decision(ruling).map(|decision| decision.judged) {
        Some(Verdict::Delay(delay)) => delay,
        _ => Micros::ZERO,
    }
}

fn retry_in_words(retry: ExpectedRetry) -> String {
    match retry {
        ExpectedRetry::After(wait) => format_duration(wait),
        ExpectedRetry::Never => "never".to_owned(),
    }
}

fn list(names: &[String]) -> String {
    format!("[{}]", names.join(", "))
}
