//! A store with a limit of every kind, and its next life.

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Limit, Micros, Period, Quota, Rate,
    Rules, SlidingLog, SlidingWindow, Timestamp, TokenBucket,
};
use tollgate_store::snapshot::{Restored, SnapshotError};
use tollgate_store::{
    Call, Charge, Definition, LimitId, MemoryOptions, MemoryStore, Shape, Sharing, Store,
    StoreOutcome,
};

pub(crate) const DAY: u64 = 86_400;

/// So many seconds after a midnight of UTC.
pub(crate) fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_micros(1_767_225_600_000_000 + seconds * 1_000_000)
}

/// The day around `now`.
pub(crate) fn day(now: Timestamp) -> Period {
    let day = DAY * 1_000_000;
    let start = now.as_micros() / day * day;
    let moment = Timestamp::from_micros;
    Period { start: moment(start), end: moment(start + day) }
}

pub(crate) fn bucket(count: u64, per: u64, burst: u64) -> Algorithm {
    let rate = Rate { count, per: Micros::from_secs(per) };
    Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), empty_at: None })
}

/// A bucket that begins empty, and whose states need two words.
pub(crate) fn wide(empty_at: Option<Timestamp>) -> Algorithm {
    let rate = Rate { count: 999_999_937, per: Micros::from_secs(365 * DAY) };
    Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(100), empty_at })
}

pub(crate) fn leaky(burst: u64) -> Algorithm {
    let rate = Rate { count: 1, per: Micros::from_secs(60) };
    Algorithm::LeakyBucket(LeakyBucket { rate, burst, nodelay: false, max_wait: None })
}

pub(crate) fn fixed(limit: u64, window: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow { limit, window: Micros::from_secs(window) })
}

pub(crate) fn sliding(limit: u64, window: u64, cells: u32) -> Algorithm {
    Algorithm::SlidingWindow(SlidingWindow { limit, window: Micros::from_secs(window), cells })
}

pub(crate) fn log(limit: u64, window: u64) -> Algorithm {
    Algorithm::SlidingLog(SlidingLog { limit, window: Micros::from_secs(window) })
}

pub(crate) fn quota(limit: u64) -> Algorithm {
    Algorithm::Quota(Quota { limit })
}

pub(crate) fn slots(limit: u64) -> Algorithm {
    Algorithm::Concurrency(Concurrency { limit, ttl: Micros::from_secs(DAY) })
}

pub(crate) fn definition(name: &str, algorithm: Algorithm) -> Definition {
    let shape = Shape(format!("{:?}", std::mem::discriminant(&algorithm)));
    Definition {
        name: name.into(),
        class: None,
        limit: Limit::new(algorithm, Rules::default()).expect("a limit"),
        shape,
        max_keys: 10_000,
        sharing: Sharing::default(),
    }
}

/// One limit of every kind whose counts are kept.
pub(crate) fn every_kind() -> Vec<Definition> {
    vec![
        definition("bucket", bucket(1, 60, 50)),
        definition("wide", wide(None)),
        definition("leaky", leaky(40)),
        definition("fixed", fixed(50, DAY)),
        definition("sliding", sliding(50, DAY, 1)),
        definition("sliding far beyond 32 bits", sliding(1 << 40, DAY, 1)),
        definition("cells", sliding(50, DAY, 24)),
        definition("log", log(50, DAY)),
        definition("quota", quota(50)),
    ]
}

/// A store, its definitions and their ids.
pub(crate) struct World {
    pub(crate) store: MemoryStore,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) ids: Vec<LimitId>,
}

impl World {
    pub(crate) fn new(definitions: Vec<Definition>) -> World {
        World::over(MemoryStore::new(MemoryOptions::default()), definitions, seconds(0))
    }

    fn over(store: MemoryStore, definitions: Vec<Definition>, now: Timestamp) -> World {
        let ids = store.define(&definitions, now);
        World { store, definitions, ids }
    }

    /// The policy was reloaded.
    pub(crate) fn reload(&mut self, definitions: Vec<Definition>, now: Timestamp) {
        self.ids = self.store.define(&definitions, now);
        self.definitions = definitions;
    }

    pub(crate) fn charge(
        &self,
        limit: usize,
        key: &str,
        cost: u64,
        now: Timestamp,
    ) -> StoreOutcome {
        let charge =
            Charge { limit: self.ids[limit], key: key.as_bytes(), cost, period: Some(day(now)) };
        let call = Call { charges: &[charge], now, hold: None };
        self.store.charge_all_now(&call).expect("an answer")
    }

    pub(crate) fn admits(&self, limit: usize, key: &str, cost: u64, now: Timestamp) -> bool {
        self.charge(limit, key, cost, now).decision.admitted
    }

    pub(crate) fn remaining(&self, limit: usize, key: &str, now: Timestamp) -> u64 {
        let key = key.as_bytes();
        let charge = Charge { limit: self.ids[limit], key, cost: 0, period: Some(day(now)) };
        self.store.peek_now(&charge, now).expect("an answer").remaining
    }

    /// Its snapshot.
    pub(crate) fn written(&self, now: Timestamp) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.store.snapshot(&mut bytes, now, || {}).expect("memory takes everything");
        bytes
    }

    /// Its next life, under `definitions`.
    pub(crate) fn reborn(&self, definitions: Vec<Definition>, now: Timestamp) -> (World, Restored) {
        read(&self.written(now), definitions, now).expect("it is whole")
    }
}

/// A life that begins with a snapshot.
pub(crate) fn read(
    bytes: &[u8],
    definitions: Vec<Definition>,
    now: Timestamp,
) -> Result<(World, Restored), SnapshotError> {
    let options = MemoryOptions::default();
    let (store, restored) = MemoryStore::restore(bytes, options, &definitions, now)?;
    Ok((World::over(store, definitions, now), restored))
}
