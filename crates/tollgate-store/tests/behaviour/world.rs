//! A store with limits and a time, and short words for asking it.

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Limit, Micros, Period, Quota, Rate,
    Retry, Rules, SlidingLog, SlidingWindow, Standing, Timestamp, TokenBucket,
};
use tollgate_store::{
    Call, Charge, Definition, LimitId, Receipt, Shape, Sharing, Store, StoreOutcome,
};

/// When the worlds begin: a whole hour, so that windows begin, too.
pub(crate) const START: u64 = 1_767_225_600_000_000;

/// Runs a behaviour to its end.
pub(crate) fn run(behaviour: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(behaviour);
}

pub(crate) fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(START + micros)
}

pub(crate) fn seconds(seconds: u64) -> Timestamp {
    at(seconds * 1_000_000)
}

/// The day of [`START`], and those after it.
pub(crate) fn day(number: u64) -> Option<Period> {
    let day = 86_400;
    Some(Period { start: seconds(number * day), end: seconds((number + 1) * day) })
}

pub(crate) fn limit(algorithm: Algorithm) -> Limit {
    Limit::new(algorithm, Rules::default()).expect("a limit")
}

pub(crate) fn bucket(count: u64, per: u64, burst: u64) -> Limit {
    let rate = Rate { count, per: Micros::from_secs(per) };
    limit(Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), empty_at: None }))
}

pub(crate) fn fixed(allowed: u64, window: u64) -> Limit {
    let window = Micros::from_secs(window);
    limit(Algorithm::FixedWindow(FixedWindow { limit: allowed, window }))
}

pub(crate) fn sliding(allowed: u64, window: u64, cells: u32) -> Limit {
    let window = Micros::from_secs(window);
    limit(Algorithm::SlidingWindow(SlidingWindow { limit: allowed, window, cells }))
}

pub(crate) fn log(allowed: u64, window: u64) -> Limit {
    let window = Micros::from_secs(window);
    limit(Algorithm::SlidingLog(SlidingLog { limit: allowed, window }))
}

pub(crate) fn quota(allowed: u64) -> Limit {
    limit(Algorithm::Quota(Quota { limit: allowed }))
}

pub(crate) fn slots(allowed: u64, ttl: u64) -> Limit {
    limit(Algorithm::Concurrency(Concurrency { limit: allowed, ttl: Micros::from_secs(ttl) }))
}

pub(crate) fn leaky(count: u64, per: u64, burst: u64) -> Limit {
    let rate = Rate { count, per: Micros::from_secs(per) };
    limit(Algorithm::LeakyBucket(LeakyBucket { rate, burst, nodelay: true, max_wait: None }))
}

/// One limit of `allowed` of every kind: what does not fit a word, and what does.
pub(crate) fn every_kind(allowed: u64) -> Vec<(&'static str, Limit)> {
    vec![
        ("token bucket", bucket(allowed, 60, allowed)),
        // 999,999,937 is a prime, so that its ticks ask for the wider word.
        ("wide token bucket", {
            let rate = Rate { count: 999_999_937, per: Micros::from_secs(86_400 * 365) };
            let burst = Burst::Units(allowed);
            limit(Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None }))
        }),
        ("leaky bucket", leaky(allowed, 60, allowed - 1)),
        ("fixed window", fixed(allowed, 60)),
        ("sliding window", sliding(allowed, 60, 1)),
        ("sliding window of cells", sliding(allowed, 60, 6)),
        ("sliding log", log(allowed, 60)),
        ("quota", quota(allowed)),
        ("concurrency", slots(allowed, 60)),
    ]
}

pub(crate) fn definition(name: &str, limit: &Limit) -> Definition {
    Definition {
        name: name.into(),
        class: None,
        limit: limit.clone(),
        shape: Shape(format!("{:?}", std::mem::discriminant(limit.algorithm()))),
        max_keys: 1_000_000,
        sharing: Sharing::default(),
    }
}

pub(crate) struct World<S> {
    pub(crate) store: S,
    pub(crate) ids: Vec<LimitId>,
    pub(crate) now: Timestamp,
}

impl<S: Store> World<S> {
    pub(crate) fn new(store: S, limits: &[(&str, Limit)]) -> World<S> {
        let mut world = World { store, ids: Vec::new(), now: seconds(0) };
        world.define(limits);
        world
    }

    pub(crate) fn define(&mut self, limits: &[(&str, Limit)]) {
        let definitions: Vec<_> =
            limits.iter().map(|(name, limit)| definition(name, limit)).collect();
        self.ids = self.store.define(&definitions, self.now);
    }

    /// Charges (limit, key, cost) together.
    pub(crate) async fn charge(&self, charges: &[(usize, &str, u64)]) -> StoreOutcome {
        let period = day((self.now.as_micros().saturating_sub(START)) / 86_400_000_000);
        let charges: Vec<_> = charges
            .iter()
            .map(|(limit, key, cost)| Charge {
                limit: self.ids[*limit],
                key: key.as_bytes(),
                cost: *cost,
                period,
            })
            .collect();
        let call = Call { charges: &charges, now: self.now, hold: None };
        self.store.charge_all(&call).await.expect("an answer")
    }

    /// Charges and says whether it was admitted.
    pub(crate) async fn admits(&self, charges: &[(usize, &str, u64)]) -> bool {
        self.charge(charges).await.decision.admitted
    }

    /// How many of `tries` requests are admitted.
    pub(crate) async fn admitted(&self, tries: u64, charges: &[(usize, &str, u64)]) -> u64 {
        let mut admitted = 0;
        for _ in 0..tries {
            admitted += u64::from(self.admits(charges).await);
        }
        admitted
    }

    pub(crate) async fn standing(&self, limit: usize, key: &str) -> Standing {
        let period = day((self.now.as_micros().saturating_sub(START)) / 86_400_000_000);
        let charge = Charge { limit: self.ids[limit], key: key.as_bytes(), cost: 0, period };
        self.store.peek(&charge, self.now).await.expect("an answer")
    }

    pub(crate) async fn remaining(&self, limit: usize, key: &str) -> u64 {
        self.standing(limit, key).await.remaining
    }

    /// Settles everything of a receipt at `units`.
    pub(crate) async fn settle(&self, receipt: Receipt, units: u64) {
        for taken in receipt.taken {
            self.store.settle(taken, units, self.now).await.expect("an answer");
        }
    }

    pub(crate) async fn release(&self, receipt: Receipt) {
        for taken in receipt.taken {
            self.store.release(taken, self.now).await.expect("an answer");
        }
    }
}

/// The retry time of a refusal.
pub(crate) fn retry(outcome: &StoreOutcome) -> Option<u64> {
    assert!(!outcome.decision.admitted, "admitted: {outcome:?}");
    match outcome.decision.retry {
        Retry::After(span) => Some(span.get()),
        Retry::Never => None,
    }
}
