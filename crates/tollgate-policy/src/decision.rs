//! What was decided.

use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Micros, Retry, Standing, Timestamp};
use tollgate_store::Taken;

/// Whether a request passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passes now.
    Admit,
    /// It passes after this span.
    Delay(Micros),
    /// It does not pass.
    Refuse(Retry),
}

/// The decision on one request.
#[derive(Debug)]
pub struct Decision {
    /// What happens to it. In shadow mode always [`Verdict::Admit`].
    pub verdict: Verdict,
    /// What would have happened in enforce mode; equal to `verdict` there.
    pub judged: Verdict,
    /// The matched route's place in `routes`.
    pub route: Option<usize>,
    /// The limits that were asked, in the route's order.
    pub limits: SmallVec<[LimitReport; 4]>,
    /// The moment of the decision, by the store's clock.
    pub now: Timestamp,
    /// What was taken; give it to `Engine::settle` once the status is known.
    pub taken: SmallVec<[Taken; 4]>,
}

/// How one limit stood after a decision.
#[derive(Clone, Debug)]
pub struct LimitReport {
    /// Its place among the policy's limits.
    pub limit: usize,
    /// Its name.
    pub name: Arc<str>,
    /// The class that chose its parameters, as a place among the limit's classes.
    pub class: Option<usize>,
    /// Units asked of it: what a refusal says when the cost is more than the limit could ever admit.
    pub cost: u64,
    /// It refused (a shadow limit: it would have).
    pub refused: bool,
    /// It never decides.
    pub shadow: bool,
    /// Its own retry time.
    pub retry: Retry,
    /// How long it alone makes the request wait: what a waiting room needs to let others move up when one leaves.
    pub wait: Micros,
    /// The most it ever admits at once, in units, and its window where it has one: for `RateLimit-Policy`.
    pub quota: u64,
    /// The window, for `RateLimit-Policy`'s `w`; for a bucket the time that a full burst takes to refill.
    pub window: Option<Micros>,
    /// After the decision.
    pub standing: Standing,
}

impl Decision {
    /// The limits that refused, in the route's order; a shadow limit is never among them.
    pub fn refused_by(&self) -> impl Iterator<Item = &LimitReport> {
        self.limits.iter().filter(|report| report.refused && !report.shadow)
    }
}
