//! Short words for asking a memory store at once.

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, Limit, Micros, Rate, Rules, SlidingLog, Timestamp,
    TokenBucket,
};
use tollgate_store::{
    Call, Charge, Definition, LimitId, MemoryOptions, MemoryStore, Shape, Sharing, Store,
    StoreOutcome,
};

pub(crate) fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_micros(1_767_225_600_000_000 + seconds * 1_000_000)
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

pub(crate) fn log(allowed: u64, window: u64) -> Limit {
    let window = Micros::from_secs(window);
    limit(Algorithm::SlidingLog(SlidingLog { limit: allowed, window }))
}

pub(crate) fn slots(allowed: u64, ttl: u64) -> Limit {
    limit(Algorithm::Concurrency(Concurrency { limit: allowed, ttl: Micros::from_secs(ttl) }))
}

pub(crate) fn definition(name: &str, limit: &Limit, max_keys: usize) -> Definition {
    let shape = Shape(format!("{:?}", std::mem::discriminant(limit.algorithm())));
    Definition {
        name: name.into(),
        class: None,
        limit: limit.clone(),
        shape,
        max_keys,
        sharing: Sharing::default(),
    }
}

/// A store of limits that remember `max_keys` keys each.
pub(crate) fn store(limits: &[Limit], max_keys: usize) -> (MemoryStore, Vec<LimitId>) {
    let store = MemoryStore::new(MemoryOptions::default());
    let names: Vec<String> = (0..limits.len()).map(|index| format!("limit {index}")).collect();
    let definitions: Vec<_> =
        names.iter().zip(limits).map(|(name, limit)| definition(name, limit, max_keys)).collect();
    let ids = store.define(&definitions, seconds(0));
    (store, ids)
}

/// Charges (limit, key, cost) together.
pub(crate) fn charge(
    store: &MemoryStore,
    charges: &[(LimitId, &str, u64)],
    now: Timestamp,
) -> StoreOutcome {
    let charges: Vec<_> = charges
        .iter()
        .map(|(limit, key, cost)| Charge {
            limit: *limit,
            key: key.as_bytes(),
            cost: *cost,
            period: None,
        })
        .collect();
    let call = Call { charges: &charges, now, hold: None };
    store.charge_all_now(&call).expect("an answer")
}

pub(crate) fn admits(
    store: &MemoryStore,
    charges: &[(LimitId, &str, u64)],
    now: Timestamp,
) -> bool {
    charge(store, charges, now).decision.admitted
}

pub(crate) fn remaining(store: &MemoryStore, limit: LimitId, key: &str, now: Timestamp) -> u64 {
    let charge = Charge { limit, key: key.as_bytes(), cost: 0, period: None };
    store.peek_now(&charge, now).expect("an answer").remaining
}

/// Keys that all limits of the store remember.
pub(crate) fn keys(store: &MemoryStore) -> usize {
    store.usage().iter().map(|usage| usage.keys).sum()
}

/// Sweeps once through everything.
pub(crate) fn sweep(store: &MemoryStore, now: Timestamp) {
    while !store.sweep(now) {}
}
