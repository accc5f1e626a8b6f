//! The limits that snapshots are read for: one of every kind.

use tollgate_core::{
    Algorithm, Burst, FixedWindow, LeakyBucket, Limit, Micros, Quota, Rate, Rules, SlidingLog,
    SlidingWindow, Timestamp, TokenBucket,
};
use tollgate_store::{Definition, Shape, Sharing};

/// The moment at which they are read.
pub const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// Limits named by single letters, without classes and with empty shapes, so that arbitrary bytes can mean them.
pub fn definitions() -> Vec<Definition> {
    let second = Micros::from_secs(1);
    let rate = |count| Rate { count, per: second };
    let bucket = |count, empty_at| {
        Algorithm::TokenBucket(TokenBucket { rate: rate(count), burst: Burst::Units(9), empty_at })
    };
    let window = |cells| {
        Algorithm::SlidingWindow(SlidingWindow { limit: 9, window: Micros::from_secs(60), cells })
    };
    let leaky = LeakyBucket { rate: rate(3), burst: 9, nodelay: true, max_wait: None };
    let named = [
        ("b", bucket(1, None)),
        ("e", bucket(1, Some(NOW))),
        ("w", bucket(999_999_937, None)),
        ("l", Algorithm::LeakyBucket(leaky)),
        ("f", Algorithm::FixedWindow(FixedWindow { limit: 9, window: second })),
        ("s", window(1)),
        ("c", window(6)),
        ("g", Algorithm::SlidingLog(SlidingLog { limit: 9, window: second })),
        ("q", Algorithm::Quota(Quota { limit: 9 })),
    ];
    named.map(|(name, algorithm)| definition(name, algorithm)).to_vec()
}

fn definition(name: &str, algorithm: Algorithm) -> Definition {
    Definition {
        name: name.into(),
        class: None,
        limit: Limit::new(algorithm, Rules::default()).expect("a limit"),
        shape: Shape(String::new()),
        max_keys: 100,
        sharing: Sharing::default(),
    }
}
