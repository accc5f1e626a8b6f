//! Random limits, and random courses of requests for them.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use tollgate_core::{Algorithm, Burst, Limit, Micros, Rules, TokenBucket};

use crate::world::{
    DAY, HOUR, MINUTE, SECOND, World, fixed, leaky, limit, log, nodelay, period, quota, rate,
    sliding, slots, token,
};

pub(crate) const NOW: u64 = 1_767_225_600_000_000;

/// That many cases from that seed, unless the environment asks for others.
pub(crate) fn config(cases: u32, seed: u64) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(seed);
    }
    config
}

/// Rates from one a year to a thousand million a second; some ask for wide words.
fn rates() -> impl Strategy<Value = (u64, u64)> {
    let count =
        prop_oneof![1..=12_u64, select(vec![700, 1_000, 1_234_567, 999_999_937, 1_000_000_000])];
    let per = select(vec![1_000, SECOND, 3 * SECOND, 7_000_001, MINUTE, HOUR, DAY, 365 * DAY]);
    (count, per)
}

fn windows() -> impl Strategy<Value = u64> {
    select(vec![10_u64, 1_000, 999_983, SECOND, 7 * SECOND, MINUTE, HOUR, DAY])
}

/// Buckets, which give back by time.
pub(crate) fn buckets() -> impl Strategy<Value = Algorithm> {
    prop_oneof![
        (rates(), 0..=12_u64).prop_map(|((count, per), burst)| token(count, per, burst)),
        (rates(), 1..=9_000_000_u64).prop_map(|((count, per), span)| {
            let burst = Burst::Span(Micros::new(span));
            Algorithm::TokenBucket(TokenBucket { rate: rate(count, per), burst, empty_at: None })
        }),
        (rates(), 0..=9_u64).prop_map(|((count, per), burst)| nodelay(count, per, burst)),
        (rates(), 0..=9_u64, any::<bool>(), 0..=5 * SECOND).prop_map(
            |((count, per), burst, bounded, wait)| leaky(
                count,
                per,
                burst,
                bounded.then_some(wait)
            )
        ),
    ]
}

/// Windows, logs and quotas, which give back exactly.
pub(crate) fn counts() -> impl Strategy<Value = Algorithm> {
    prop_oneof![
        (0..=12_u64, windows()).prop_map(|(limit, window)| fixed(limit, window)),
        (0..=12_u64, windows()).prop_map(|(limit, window)| sliding(limit, window, 1)),
        (0..=12_u64, windows(), select(vec![2_u32, 5, 10])).prop_map(|(limit, window, cells)| {
            sliding(limit, window * u64::from(cells), cells)
        }),
        (0..=12_u64, windows()).prop_map(|(limit, window)| log(limit, window)),
        (0..=12_u64).prop_map(quota),
    ]
}

fn rules(algorithm: &Algorithm) -> BoxedStrategy<Rules> {
    let overdraws = matches!(
        algorithm,
        Algorithm::TokenBucket(_)
            | Algorithm::FixedWindow(_)
            | Algorithm::SlidingWindow(_)
            | Algorithm::Quota(_)
    );
    let counts = !matches!(algorithm, Algorithm::Concurrency(_));
    (prop::bool::weighted(0.3), prop::bool::weighted(0.3), prop::option::of(0..=20_u64))
        .prop_map(move |(count_refused, overdraw, max_debt)| {
            let overdraw = overdraw && overdraws;
            let max_debt = max_debt.filter(|_| overdraw);
            Rules { count_refused: count_refused && counts, overdraw, max_debt, shadow: false }
        })
        .boxed()
}

/// Enforced limits of every kind whose retry time is known.
pub(crate) fn limits() -> impl Strategy<Value = Limit> {
    let ruled = |algorithm: Algorithm| {
        let rules = rules(&algorithm);
        (Just(algorithm), rules).prop_map(|(algorithm, rules)| limit(algorithm, rules))
    };
    prop_oneof![buckets(), counts()].prop_flat_map(ruled)
}

/// Any limits at all: slots and shadow limits are among them.
pub(crate) fn any_limits() -> impl Strategy<Value = Limit> {
    let slots =
        (0..=5_u64, windows()).prop_map(|(count, ttl)| limit(slots(count, ttl), Rules::default()));
    let shadow = (limits(), prop::bool::weighted(0.3)).prop_map(|(one, shadow)| {
        limit(one.algorithm().clone(), Rules { shadow, ..one.rules().clone() })
    });
    prop_oneof![4 => shadow, 1 => slots]
}

/// Steps of time and costs: bursts, short and long gaps.
pub(crate) fn course() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gap = prop_oneof![
        4 => Just(0_u64),
        2 => 1..=20_u64,
        3 => 1..=2 * SECOND,
        2 => 1..=3 * HOUR,
        1 => 1..=40 * DAY,
    ];
    let cost = prop_oneof![8 => 0..=5_u64, 1 => 6..=30_u64];
    prop::collection::vec((gap, cost), 1..40)
}

/// The world's period at `now`: days.
pub(crate) fn turn_to(world: &mut World, now: u64) {
    let day = now - now % DAY;
    world.period = Some(period(day, day + DAY));
}
