//! A decision in the form that clients obey.

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use tollgate_policy::settings::{Answers, HeaderFamily, LimitSettings};
use tollgate_policy::{Decision, LimitReport, Rejection};

use crate::Answer;
use crate::fields::{Times, Writer, policy_list};
use crate::lists::Lists;
use crate::prepared::{Found, Prepared};
use crate::problem::{self, Problem};
use crate::stated::{Jitter, Wait};

/// What answers are made from, prepared once a policy is loaded: a refusal is the cheapest path in the program.
///
/// A decision may be younger or older than the responder (a reload between them): a limit that it does not know is
/// described by what the decision itself says.
#[derive(Debug)]
pub struct Responder {
    answers: Answers,
    limits: Vec<Prepared>,
    lists: Lists,
}

impl Responder {
    /// Prepares answers for a policy's limits: `settings.answers` and `settings.limits`. A family
    /// of header fields that is named twice is sent once.
    #[must_use]
    pub fn new(answers: &Answers, limits: &[LimitSettings]) -> Responder {
        let mut answers = answers.clone();
        let mut seen = Vec::with_capacity(answers.headers.len());
        answers.headers.retain(|family| {
            let new = !seen.contains(family);
            seen.push(*family);
            new
        });
        let limits = limits.iter().map(Prepared::new).collect();
        Responder { answers, limits, lists: Lists::new() }
    }

    /// Adds to `headers` the fields that describe how a request's limits stand; none where it has no enforced limits.
    /// For responses that pass: the answer to a refusal has them already.
    ///
    /// `random` is uniform over its range; it matters only with `retry_jitter`.
    pub fn describe(&self, decision: &Decision, random: u64, headers: &mut HeaderMap) {
        let jitter = Jitter::new(self.answers.retry_jitter, random);
        if let Some(deciding) = deciding(decision) {
            self.write(decision, deciding, Wait::of(decision, jitter), jitter, headers);
        }
    }

    /// The whole answer to a refused request. `random` is uniform over its range; it matters only with `retry_jitter`.
    ///
    /// The refusing limit with the longest retry time shapes it. Its `Retry-After` is absent where no wait helps. It
    /// never tells whom the limit counts. Where nobody refused but in place of a shared store that is away, it is 503 in
    /// place of the limits' own answers: that is no client's fault.
    #[must_use]
    pub fn refuse(&self, decision: &Decision, random: u64) -> Answer {
        let jitter = Jitter::new(self.answers.retry_jitter, random);
        let wait = Wait::of(decision, jitter);
        if decision.refused_unasked() {
            let detail = "The counts of this request's limits cannot be reached just now.";
            return Problem::overloaded(detail, wait.seconds().unwrap_or(1)).answer();
        }
        let mut headers = problem::own_headers();
        if let Some(seconds) = wait.seconds() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let Some(deciding) = deciding(decision) else {
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Problem::new(status, "The policy refuses this request.").answer();
        };
        self.write(decision, deciding, wait, jitter, &mut headers);
        let limit = self.prepared(deciding);
        let mut body = limit.open_body(deciding, wait);
        self.close_body(&mut body, decision, wait);
        Answer { status: limit.status, headers, body: Bytes::from(body) }
    }

    /// The members that do not depend on which limit decides.
    fn close_body(&self, body: &mut Vec<u8>, decision: &Decision, wait: Wait) {
        body.extend_from_slice(b",\"violated-policies\":[");
        for (place, report) in decision.refused_by().enumerate() {
            if place > 0 {
                body.push(b',');
            }
            body.extend_from_slice(self.prepared(report).json_name.as_bytes());
        }
        body.push(b']');
        if let Some(millis) = wait.millis() {
            problem::member(body, "retry_after_ms", itoa::Buffer::new().format(millis));
        }
        body.push(b'}');
    }

    /// The answer to a request that could not be decided: 404 without a route, else 400.
    #[must_use]
    pub fn reject(&self, rejection: &Rejection) -> Answer {
        problem::rejection(rejection)
    }

    fn write(
        &self,
        decision: &Decision,
        deciding: &LimitReport,
        wait: Wait,
        jitter: Jitter,
        headers: &mut HeaderMap,
    ) {
        let times = Times::of(deciding, decision.now, wait, jitter);
        let mut writer = Writer::new();
        let told = |report: &&LimitReport| !report.shadow && !report.unavailable;
        let all = decision.limits.iter().filter(told);
        let found = || all.clone().map(|report| (self.prepared(report), report));
        for family in &self.answers.headers {
            match family {
                HeaderFamily::Ietf => {
                    let write = || policy_list(found());
                    let list = self.lists.value(all.clone(), write);
                    writer.ietf(list, self.prepared(deciding).describe(deciding), times);
                }
                HeaderFamily::XRateLimit => {
                    writer.x_rate_limit(deciding, times, self.answers.reset);
                }
                HeaderFamily::Draft03 => writer.draft03(all.clone(), deciding, times),
            }
        }
        writer.finish(headers);
    }

    fn prepared(&self, report: &LimitReport) -> Found<'_> {
        match self.limits.get(report.limit) {
            Some(limit) if *limit.name == *report.name => Found::Known(limit),
            _ => Found::Unknown(Box::new(Prepared::unknown(report.name))),
        }
    }
}

/// The limit that an answer describes. A shadow limit is on trial: clients are told nothing of it. Of one that cannot be
/// asked there is nothing to tell.
fn deciding(decision: &Decision) -> Option<&LimitReport> {
    decision.deciding().filter(|report| !report.shadow && !report.unavailable)
}
