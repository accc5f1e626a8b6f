//! Limits out of arbitrary bytes.

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Limit, Micros, Quota, Rate, Rules,
    SlidingLog, SlidingWindow, Timestamp, TokenBucket,
};

use crate::bytes::Bytes;

/// A limit; `None` where core refuses its parameters.
pub fn limit(bytes: &mut Bytes<'_>, first: Timestamp) -> Option<Limit> {
    let rules = Rules {
        count_refused: bytes.below(4) == 1,
        overdraw: bytes.below(4) == 1,
        max_debt: (bytes.below(4) == 1).then(|| bytes.number()),
        shadow: bytes.below(4) == 1,
    };
    Limit::new(algorithm(bytes, first), rules).ok()
}

fn algorithm(bytes: &mut Bytes<'_>, first: Timestamp) -> Algorithm {
    match bytes.below(8) {
        0 | 1 => Algorithm::TokenBucket(TokenBucket {
            rate: rate(bytes),
            burst: if bytes.below(4) == 1 {
                Burst::Span(span(bytes))
            } else {
                Burst::Units(bytes.number())
            },
            empty_at: (bytes.below(4) == 1).then_some(first),
        }),
        2 => Algorithm::LeakyBucket(LeakyBucket {
            rate: rate(bytes),
            burst: bytes.number(),
            nodelay: bytes.flag(),
            max_wait: bytes.flag().then(|| span(bytes)),
        }),
        3 => Algorithm::FixedWindow(FixedWindow { limit: bytes.number(), window: span(bytes) }),
        4 => {
            let cells = 1 + bytes.below(100) as u32;
            let window = Micros::new(span(bytes).get().saturating_mul(u64::from(cells)));
            Algorithm::SlidingWindow(SlidingWindow { limit: bytes.number(), window, cells })
        }
        5 => Algorithm::SlidingLog(SlidingLog { limit: bytes.number(), window: span(bytes) }),
        6 => Algorithm::Quota(Quota { limit: bytes.number() }),
        _ => Algorithm::Concurrency(Concurrency { limit: bytes.number(), ttl: span(bytes) }),
    }
}

fn rate(bytes: &mut Bytes<'_>) -> Rate {
    Rate { count: bytes.number(), per: span(bytes) }
}

fn span(bytes: &mut Bytes<'_>) -> Micros {
    Micros::new(bytes.number().max(1))
}
