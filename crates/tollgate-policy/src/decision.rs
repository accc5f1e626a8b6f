//! What was decided.

use std::cmp::Ordering;
use std::sync::Arc;

use tollgate_core::{Micros, Retry, Standing, Timestamp};
use tollgate_store::{Source, Taken};

use crate::Name;

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

/// The decision on one request. It holds all that settling it takes, so it outlives a reload.
#[derive(Debug)]
pub struct Decision {
    /// What happens to it. In shadow mode always [`Verdict::Admit`].
    pub verdict: Verdict,
    /// What would have happened in enforce mode; equal to `verdict` there.
    pub judged: Verdict,
    /// The matched route's place in `routes`.
    pub route: Option<usize>,
    /// The limits that were asked, in the route's order. With a shared store a refusal may come before all were asked.
    pub limits: Vec<LimitReport>,
    /// The moment of the decision, by the store's clock.
    pub now: Timestamp,
    /// What the end of the request may give back or free, or its withdrawal while it waits. Empty for most.
    pub taken: Vec<Held>,
}

/// What one limit holds of a request until it ends.
#[derive(Debug)]
pub struct Held {
    /// What was taken.
    pub taken: Taken,
    /// What the end does with it.
    pub ends: Ends,
    /// How long this charge alone makes the request wait.
    pub wait: Micros,
}

/// What the end of a request does with what was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A slot: it is freed.
    Release,
    /// `charge_when`: given back unless the status is one of these.
    ChargeWhen(Arc<[u16]>),
    /// It stays; held only because a request that waits may be withdrawn.
    Stays,
}

/// How one limit stood after a decision.
#[derive(Clone, Debug)]
pub struct LimitReport {
    /// Its place among the policy's limits.
    pub limit: usize,
    /// Its name.
    pub name: Name,
    /// The class that chose its parameters, as a place among the limit's classes; `None` without `by`.
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
    /// Whose word it is.
    pub source: Source,
    /// Nobody knows how it stands, for the shared store is away: `on_store_failure` said `allow` or `refuse` in its place.
    pub unavailable: bool,
}

impl Decision {
    /// The limits that refused, in the route's order; a shadow limit is never among them.
    pub fn refused_by(&self) -> impl Iterator<Item = &LimitReport> {
        self.limits.iter().filter(|report| report.refused && !report.shadow)
    }

    /// Whether the end of the request changes anything: a slot to free, or a charge that depends on the status.
    #[must_use]
    pub fn needs_settling(&self) -> bool {
        self.taken.iter().any(|held| held.ends != Ends::Stays)
    }

    /// Whether nobody refused but in place of the store that is away: no client's own fault.
    #[must_use]
    pub fn refused_unasked(&self) -> bool {
        let mut refusing = self.refused_by().peekable();
        refusing.peek().is_some() && refusing.all(|report| report.unavailable)
    }

    /// The limit that headers describe: of those that refused the one with the longest retry time ("never" is the
    /// longest), else the one with the least remaining share of its quota; the first of equals. Shadow limits are
    /// described only where no other was asked, and one that is unavailable only where it alone refused. `None` where no
    /// limit was asked.
    #[must_use]
    pub fn deciding(&self) -> Option<&LimitReport> {
        let rank = |report: &LimitReport| (!report.unavailable, report.retry);
        let longest = self
            .refused_by()
            .reduce(|best, next| if rank(next) > rank(best) { next } else { best });
        let known = || self.limits.iter().filter(|report| !report.unavailable);
        longest
            .or_else(|| least_share(known().filter(|report| !report.shadow)))
            .or_else(|| least_share(known()))
    }
}

fn least_share<'a>(reports: impl Iterator<Item = &'a LimitReport>) -> Option<&'a LimitReport> {
    reports.reduce(|best, next| if share_order(next, best).is_lt() { next } else { best })
}

/// Compares remaining / quota without dividing; a quota of 0 has nothing left of nothing, which is the least share.
fn share_order(a: &LimitReport, b: &LimitReport) -> Ordering {
    match (a.quota, b.quota) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Less,
        (_, 0) => Ordering::Greater,
        _ => {
            let left = u128::from(a.standing.remaining) * u128::from(b.quota);
            let right = u128::from(b.standing.remaining) * u128::from(a.quota);
            left.cmp(&right)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, remaining: u64, quota: u64) -> LimitReport {
        LimitReport {
            limit: 0,
            name: name.into(),
            class: None,
            cost: 1,
            refused: false,
            shadow: false,
            retry: Retry::After(Micros::ZERO),
            wait: Micros::ZERO,
            quota,
            window: None,
            standing: Standing { remaining, ..Standing::default() },
            source: Source::Store,
            unavailable: false,
        }
    }

    fn refusing(name: &str, retry: Retry) -> LimitReport {
        LimitReport { refused: true, retry, ..report(name, 0, 10) }
    }

    fn decision(limits: Vec<LimitReport>) -> Decision {
        Decision {
            verdict: Verdict::Admit,
            judged: Verdict::Admit,
            route: None,
            limits,
            now: Timestamp::EPOCH,
            taken: Vec::new(),
        }
    }

    fn deciding(limits: Vec<LimitReport>) -> Option<Name> {
        decision(limits).deciding().map(|report| report.name)
    }

    #[test]
    fn the_least_remaining_share_decides_an_admission() {
        assert_eq!(deciding(vec![]), None);
        let shares = vec![report("a", 9, 10), report("b", 50, 100), report("c", 5, 10)];
        assert_eq!(deciding(shares), Some("b".into()));
        let huge = vec![report("a", u64::MAX - 1, u64::MAX), report("b", u64::MAX - 2, u64::MAX)];
        assert_eq!(deciding(huge), Some("b".into()));
        assert_eq!(deciding(vec![report("a", 1, 10), report("zero", 0, 0)]), Some("zero".into()));
    }

    #[test]
    fn the_longest_refusal_decides_a_refusal() {
        let after = |micros| Retry::After(Micros::new(micros));
        let limits =
            vec![report("low", 0, 10), refusing("short", after(5)), refusing("long", after(9))];
        assert_eq!(deciding(limits), Some("long".into()));
        let limits = vec![refusing("never", Retry::Never), refusing("long", after(u64::MAX))];
        assert_eq!(deciding(limits), Some("never".into()));
    }

    #[test]
    fn a_shadow_limit_is_described_only_when_alone() {
        let shadow = LimitReport { shadow: true, ..refusing("shadow", Retry::Never) };
        assert_eq!(deciding(vec![shadow.clone(), report("real", 9, 10)]), Some("real".into()));
        assert_eq!(deciding(vec![shadow]), Some("shadow".into()));
    }

    #[test]
    fn a_limit_that_nobody_can_ask_is_described_where_it_alone_refused() {
        let after = |micros| Retry::After(Micros::new(micros));
        let away = |report| LimitReport { unavailable: true, source: Source::Failure, ..report };
        assert_eq!(deciding(vec![away(report("away", 0, 10))]), None);
        let passed = vec![away(report("away", 0, 10)), report("known", 9, 10)];
        assert_eq!(deciding(passed), Some("known".into()));
        let alone = vec![report("known", 9, 10), away(refusing("away", after(1)))];
        assert!(decision(alone.clone()).refused_unasked());
        assert_eq!(deciding(alone), Some("away".into()));
        let both = vec![away(refusing("away", after(9))), refusing("known", after(1))];
        assert!(!decision(both.clone()).refused_unasked());
        assert_eq!(deciding(both), Some("known".into()));
        assert!(!decision(vec![report("known", 9, 10)]).refused_unasked());
    }
}
