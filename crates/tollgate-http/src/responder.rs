//! A decision in the form that clients obey.

use http::StatusCode;
use http::header::{HeaderMap, RETRY_AFTER};
use tollgate_policy::settings::{Answers, HeaderFamily, LimitSettings};
use tollgate_policy::{Decision, LimitReport, Rejection};

use crate::Answer;
use crate::fields::{Deciding, Fields, Times, Writer, policy_list};
use crate::head::{Blanks, Heads};
use crate::lists::Lists;
use crate::prepared::{Found, Prepared};
use crate::problem::{self, Problem};
use crate::stated::{Jitter, Wait};
use crate::text::Text;

/// What answers are made from, prepared once a policy is loaded: a refusal is the cheapest path in the program.
///
/// A decision may be younger or older than the responder (a reload between them): a limit that it does not know is
/// described by what the decision itself says.
#[derive(Debug)]
pub struct Responder {
    answers: Answers,
    limits: Vec<Prepared>,
    heads: Heads,
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
        let heads = Heads::new(&answers.headers);
        Responder { answers, limits, heads, lists: Lists::new() }
    }

    /// Adds to `headers` the fields that describe how a request's limits stand; none where it has no enforced limits.
    /// For responses that pass: the answer to a refusal has them already.
    ///
    /// `random` is uniform over its range; it matters only with `retry_jitter`.
    pub fn describe(&self, decision: &Decision, random: u64, headers: &mut HeaderMap) {
        let jitter = Jitter::new(self.answers.retry_jitter, random);
        if let Some(deciding) = self.deciding(decision, Wait::of(decision, jitter), jitter) {
            let mut text = Text::with_capacity(64);
            self.write(decision, &deciding, &mut Writer { text: &mut text, fields: headers });
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
        let Some(deciding) = self.deciding(decision, wait, jitter) else {
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Problem::new(status, "The policy refuses this request.").answer();
        };
        let (mut headers, mut text) = (self.heads.of(wait), Text::with_capacity(512));
        let mut writer = Writer { text: &mut text, fields: &mut Blanks::of(&mut headers) };
        if let Some(seconds) = wait.seconds() {
            writer.number(RETRY_AFTER, seconds);
        }
        self.write(decision, &deciding, &mut writer);
        deciding.limit.open_body(&mut text, deciding.report, wait);
        self.close_body(&mut text, decision, wait);
        Answer { status: deciding.limit.status, headers, body: text.body() }
    }

    /// The members that do not depend on which limit decides.
    fn close_body(&self, text: &mut Text, decision: &Decision, wait: Wait) {
        text.push(",\"violated-policies\":[");
        for (place, report) in decision.refused_by().enumerate() {
            if place > 0 {
                text.push(",");
            }
            text.push(&self.prepared(report).json_name);
        }
        text.push("]");
        if let Some(millis) = wait.millis() {
            text.push(",\"retry_after_ms\":");
            text.number(millis);
        }
        text.push("}");
    }

    /// The answer to a request that could not be decided: 404 without a route, else 400.
    #[must_use]
    pub fn reject(&self, rejection: &Rejection) -> Answer {
        problem::rejection(rejection)
    }

    /// The limit that an answer describes. A shadow limit is on trial: clients are told nothing of it. Of one that cannot be
    /// asked there is nothing to tell.
    fn deciding<'a>(
        &'a self,
        decision: &'a Decision,
        wait: Wait,
        jitter: Jitter,
    ) -> Option<Deciding<'a>> {
        let report = decision.deciding().filter(|report| told(report))?;
        let times = Times::of(report, decision.now, wait, jitter);
        Some(Deciding { limit: self.prepared(report), report, times })
    }

    fn write(
        &self,
        decision: &Decision,
        deciding: &Deciding<'_>,
        writer: &mut Writer<'_, impl Fields>,
    ) {
        let all = || decision.limits.iter().filter(|report| told(report));
        for family in &self.answers.headers {
            match family {
                HeaderFamily::Ietf => {
                    let write = || policy_list(all().map(|report| (self.prepared(report), report)));
                    match self.lists.kept(all(), || write().kept()) {
                        Some(list) => writer.policy(list),
                        None => writer.policy(write().as_str()),
                    }
                    writer.rate_limit(deciding);
                }
                HeaderFamily::XRateLimit => writer.x_rate_limit(deciding, self.answers.reset),
                HeaderFamily::Draft03 => writer.draft03(all(), deciding),
            }
        }
    }

    fn prepared(&self, report: &LimitReport) -> Found<'_> {
        match self.limits.get(report.limit) {
            Some(limit) if limit.name == report.name => Found::Known(limit),
            _ => Found::Unknown(Box::new(Prepared::unknown(report.name))),
        }
    }
}

/// Whether clients are told of a limit.
fn told(report: &LimitReport) -> bool {
    !report.shadow && !report.unavailable
}
