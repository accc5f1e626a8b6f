//! The one-limit forms.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Limit, Micros, Quota, Rate, Retry,
    Rules, SlidingLog, SlidingWindow, Timestamp, TokenBucket,
};
use tollgate_store::{CachedClock, DirectLimiter, KeyedLimiter, ManualClock, UnsupportedLimit};

const START: u64 = 1_767_225_600_000_000;

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_micros(START))
}

fn limit(algorithm: Algorithm) -> Limit {
    Limit::new(algorithm, Rules::default()).expect("a limit")
}

fn bucket(count: u64, per: u64, burst: u64) -> Limit {
    let rate = Rate { count, per: Micros::from_secs(per) };
    limit(Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(burst), empty_at: None }))
}

/// One of each kind that a one-limit form serves: of one word, of two, and of a map.
fn kinds(allowed: u64) -> Vec<Limit> {
    let window = Micros::from_secs(60);
    let rate = Rate { count: allowed, per: window };
    vec![
        bucket(allowed, 60, allowed),
        bucket(999_999_937, 86_400 * 365, allowed),
        limit(Algorithm::LeakyBucket(LeakyBucket {
            rate,
            burst: allowed - 1,
            nodelay: true,
            max_wait: None,
        })),
        limit(Algorithm::FixedWindow(FixedWindow { limit: allowed, window })),
        limit(Algorithm::SlidingWindow(SlidingWindow { limit: allowed, window, cells: 1 })),
        limit(Algorithm::SlidingWindow(SlidingWindow { limit: allowed, window, cells: 4 })),
        limit(Algorithm::SlidingLog(SlidingLog { limit: allowed, window })),
    ]
}

#[test]
fn retry_times_hold_from_both_sides() {
    for limit in kinds(3) {
        let (shared, keyed_clock) = (clock(), clock());
        let direct = DirectLimiter::new(limit.clone(), &shared).expect("supported");
        let keyed = KeyedLimiter::<str, _>::new(limit, 100, &keyed_clock).expect("supported");
        assert!(direct.check_n(3).is_ok() && keyed.check_n("k", 3).is_ok());
        let refused = direct.check_n(2).expect_err("nothing is left");
        assert_eq!(keyed.check_n("k", 2), Err(refused));
        let Retry::After(after) = refused.retry else { panic!("it will be admitted: {refused}") };
        for clock in [&shared, &keyed_clock] {
            clock.set(Timestamp::from_micros(START + after.get() - 1));
        }
        assert!(direct.check_n(2).is_err() && keyed.check_n("k", 2).is_err());
        for clock in [&shared, &keyed_clock] {
            clock.set(Timestamp::from_micros(START + after.get()));
        }
        assert!(direct.check_n(2).is_ok() && keyed.check_n("k", 2).is_ok());
        let never = direct.check_n(4).expect_err("four of three");
        assert_eq!(never.retry, Retry::Never);
        assert_eq!(keyed.check_n("k", 4), Err(never));
    }
}

#[test]
fn a_batch_answers_as_the_single_calls_do() {
    for limit in kinds(3) {
        let one = KeyedLimiter::<u32, _>::new(limit.clone(), 50, clock()).expect("supported");
        let many = KeyedLimiter::<u32, _>::new(limit, 50, clock()).expect("supported");
        for round in 0..20_u32 {
            // Keys repeat within a batch and across batches, and are more than fit.
            let keys: Vec<u32> = (0..40).map(|at| (at * at + round * 7) % 61).collect();
            let singly: Vec<_> = keys.iter().map(|key| one.check(key)).collect();
            assert_eq!(many.check_many(&keys).to_vec(), singly);
        }
        assert!(many.len() <= 50);
    }
}

#[test]
fn a_leaky_bucket_says_how_long_to_wait() {
    let rate = Rate { count: 10, per: Micros::from_secs(1) };
    let spec = LeakyBucket { rate, burst: 2, nodelay: false, max_wait: None };
    let limit = limit(Algorithm::LeakyBucket(spec));
    let direct = DirectLimiter::new(limit.clone(), clock()).expect("supported");
    let keyed = KeyedLimiter::<str, _>::new(limit, 10, clock()).expect("supported");
    for wait in [0, 100_000, 200_000] {
        assert_eq!(direct.check(), Ok(Micros::new(wait)));
        assert_eq!(keyed.check("k"), Ok(Micros::new(wait)));
    }
    assert!(direct.check().is_err() && keyed.check("k").is_err());
}

#[test]
fn what_is_to_be_given_back_needs_a_store() {
    let slots = limit(Algorithm::Concurrency(Concurrency { limit: 1, ttl: Micros::from_secs(1) }));
    let quota = limit(Algorithm::Quota(Quota { limit: 1 }));
    let refusal = DirectLimiter::new(slots.clone(), clock()).expect_err("slots");
    assert_eq!(refusal, UnsupportedLimit::Concurrency);
    assert!(refusal.to_string().contains("MemoryStore"));
    assert_eq!(
        KeyedLimiter::<str, _>::new(quota, 1, clock()).expect_err("a quota"),
        UnsupportedLimit::Quota
    );
}

#[test]
fn one_unit_goes_to_one_of_many_threads() {
    const ROUNDS: usize = 2_000;
    for (threads, limit) in
        [2, 4, 16].into_iter().flat_map(|n| kinds(1).into_iter().map(move |l| (n, l)))
    {
        let keyed =
            KeyedLimiter::<usize, _>::new(limit.clone(), 1_000_000, clock()).expect("supported");
        let rounds = if threads == 16 { 100 } else { ROUNDS / threads };
        let direct: Vec<_> = (0..rounds)
            .map(|_| DirectLimiter::new(limit.clone(), clock()).expect("supported"))
            .collect();
        let admitted: Vec<_> =
            (0..rounds).map(|_| (AtomicU64::new(0), AtomicU64::new(0))).collect();
        let barrier = Barrier::new(threads);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for (round, (by_key, directly)) in admitted.iter().enumerate() {
                        barrier.wait();
                        let ours = u64::from(keyed.check(&round).is_ok());
                        by_key.fetch_add(ours, Ordering::Relaxed);
                        let ours = u64::from(direct[round].check().is_ok());
                        directly.fetch_add(ours, Ordering::Relaxed);
                    }
                });
            }
        });
        for (by_key, directly) in admitted {
            assert_eq!((by_key.into_inner(), directly.into_inner()), (1, 1));
        }
    }
}

#[test]
fn an_idle_limiter_forgets() {
    let clock = clock();
    let limiter =
        KeyedLimiter::<u32, _>::new(bucket(5, 1, 5), 1_000_000, &clock).expect("supported");
    for key in 0..10_000 {
        assert!(limiter.check(&key).is_ok());
    }
    assert_eq!(limiter.len(), 10_000);
    clock.set(Timestamp::from_micros(START + 2_000_000));
    while !limiter.sweep() {}
    assert!(limiter.is_empty());
}

#[test]
fn a_cached_clock_moves_when_it_is_told() {
    let cached = CachedClock::new(clock());
    let limiter = DirectLimiter::new(bucket(1, 1, 1), &cached).expect("supported");
    assert!(limiter.check().is_ok());
    assert!(limiter.check().is_err());
    assert_eq!(cached.refresh(), Timestamp::from_micros(START));
    assert!(limiter.check().is_err());
}
