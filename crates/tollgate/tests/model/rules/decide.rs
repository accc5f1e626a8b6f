//! Several limits at once: all or nothing, and who is charged all the same.

use super::bucket::Bucket;
use crate::model::counters::RequestId;
use crate::model::rational::ceil_micros;
use crate::model::trace::{Report, Verdict};

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) request: RequestId,
    pub(crate) cost: u64,
    pub(crate) now: i64,
    /// Microseconds from leaving to its end.
    pub(crate) duration: i64,
}

/// What became of it.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) reports: Vec<Report>,
    /// By place: whether the limit was charged for a request that both it and the decision admitted.
    pub(crate) charged: Vec<bool>,
}

/// Decides for the buckets in the route's order.
pub(crate) fn decide(buckets: &mut [&mut Bucket], ask: Ask) -> Outcome {
    let admits: Vec<bool> = buckets.iter().map(|bucket| bucket.admits(ask.cost, ask.now)).collect();
    let refused_by: Vec<String> = buckets
        .iter()
        .zip(&admits)
        .filter(|(bucket, admits)| !bucket.limit.shadow && !**admits)
        .map(|(bucket, _)| bucket.limit.name.clone())
        .collect();
    let passes = refused_by.is_empty();
    let verdict = if passes {
        admit(buckets, &admits, ask)
    } else {
        let retry_after = refuse(buckets, &admits, ask);
        Verdict::Refuse { by: refused_by, retry_after }
    };
    let reports = buckets
        .iter()
        .zip(&admits)
        .map(|(bucket, admits)| bucket.report(*admits, ask.now))
        .collect();
    let charged = admits.iter().map(|admits| passes && *admits).collect();
    Outcome { verdict, reports, charged }
}

fn admit(buckets: &mut [&mut Bucket], admits: &[bool], ask: Ask) -> Verdict {
    let enforced = buckets.iter().filter(|bucket| !bucket.limit.shadow);
    let delay =
        enforced.map(|bucket| ceil_micros(&bucket.counter.wait(ask.now))).max().unwrap_or(0);
    for (bucket, admits) in buckets.iter_mut().zip(admits) {
        if !admits {
            // A shadow limit that would have refused: as if it were enforced.
            bucket.take_refused(ask.request, ask.cost, true, ask.now);
            continue;
        }
        if let Some(ttl) = bucket.ttl() {
            bucket.counter.slot_ends_at((ask.now + delay + ask.duration).min(ask.now + ttl));
        }
        bucket.take_admitted(ask.request, ask.cost, ask.now);
    }
    if delay == 0 { Verdict::Admit } else { Verdict::Delay(delay) }
}

/// The longest retry time of those that refused and of those that count refusals; `None` is never.
fn refuse(buckets: &mut [&mut Bucket], admits: &[bool], ask: Ask) -> Option<i64> {
    let mut longest = Some(0);
    for (bucket, admits) in buckets.iter_mut().zip(admits) {
        bucket.take_refused(ask.request, ask.cost, !admits, ask.now);
        if !bucket.limit.shadow && (!admits || bucket.limit.count_refused) {
            let own = bucket.retry_after(ask.cost, ask.now);
            longest = longest.zip(own).map(|(longest, own)| longest.max(own));
        }
    }
    longest
}
