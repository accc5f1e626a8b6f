//! When the next request comes: everywhere, and most of all where something changes.

use super::Random;
use crate::model::policy::{Algorithm, Every, Policy};
use crate::model::trace::{Decision, Request, Verdict};

/// The generator stays before the year 2200.
pub(crate) const LATEST: i64 = 7_000_000_000_000_000;

/// The lengths at which something happens under a policy, in microseconds, each at least 1.
pub(crate) fn spans(policy: &Policy) -> Vec<i64> {
    let classes = policy.limits.iter().flat_map(|limit| &limit.classes);
    classes
        .filter_map(|class| class.algorithm.as_ref())
        .flat_map(spans_of)
        .map(|span| span.max(1))
        .collect()
}

fn spans_of(algorithm: &Algorithm) -> Vec<i64> {
    match algorithm {
        Algorithm::TokenBucket { rate, .. } | Algorithm::LeakyBucket { rate, .. } => {
            vec![rate.per_micros / rate.count.max(1) as i64, rate.per_micros]
        }
        Algorithm::SlidingWindow { window, cells, .. } => {
            vec![window.micros, window.micros / *cells as i64]
        }
        Algorithm::FixedWindow { window, .. } | Algorithm::SlidingLog { window, .. } => {
            vec![window.micros]
        }
        Algorithm::Quota { every, .. } => vec![match every {
            Every::Hour => 3_600_000_000,
            Every::Day => 86_400_000_000,
            Every::Week => 604_800_000_000,
            Every::Month => 2_592_000_000_000,
        }],
        Algorithm::Concurrency { ttl, .. } => vec![ttl.micros],
    }
}

/// When the trace begins: mostly in these years, sometimes on a whole second or close to the epoch.
pub(crate) fn beginning(random: &mut Random) -> i64 {
    let years = random.signed(1_600_000_000_000_000, 1_900_000_000_000_000);
    match random.within(0, 9) {
        0 => random.signed(0, 3_000_000),
        1..=4 => years - years % 1_000_000,
        _ => years,
    }
}

/// What the trace did lately.
pub(crate) struct Recent {
    pub(crate) now: i64,
    /// When statuses arrive and slots end.
    pub(crate) ends: Vec<i64>,
    pub(crate) last: Option<Decision>,
}

impl Recent {
    /// Remembers a request that was decided.
    pub(crate) fn note(&mut self, request: &Request, decision: Decision) {
        self.now = self.now.max(request.time);
        let delay = if let Verdict::Delay(delay) = decision.verdict { delay } else { 0 };
        self.ends.push(self.now + delay + request.duration.unwrap_or(0));
        if self.ends.len() > 6 {
            self.ends.remove(0);
        }
        self.last = Some(decision);
    }
}

/// The time of the next request; it may be before the latest.
pub(crate) fn next(recent: &Recent, spans: &[i64], random: &mut Random) -> i64 {
    let (now, span) = (recent.now, random.pick(spans));
    let near = random.signed(-1, 1);
    let at = match random.within(0, 99) {
        0..=39 => now,
        40..=46 => now + 1,
        47..=61 => now + random.signed(0, span.saturating_mul(2)),
        62..=70 => now + span + near,
        71..=79 => (now / span + random.signed(1, 2)) * span + near,
        80..=86 => reset(recent, random).map_or(now, |reset| now + reset + near),
        87..=92 if !recent.ends.is_empty() => random.pick(&recent.ends) + near,
        93..=94 => now + span.saturating_mul(random.signed(3, 12)),
        95..=98 => now - random.signed(0, span),
        _ => now - random.signed(0, 1_000_000),
    };
    if (0..=LATEST).contains(&at) { at } else { now }
}

fn reset(recent: &Recent, random: &mut Random) -> Option<i64> {
    let reports = &recent.last.as_ref()?.limits;
    (!reports.is_empty()).then(|| random.pick(reports).reset)
}
