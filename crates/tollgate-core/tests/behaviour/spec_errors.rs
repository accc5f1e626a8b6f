//! Parameters that are no limit, and what is said of them.

use tollgate_core::{Algorithm, Burst, Limit, Micros, Rules, TokenBucket};

use crate::world::{
    COUNT_REFUSED, OVERDRAW, SECOND, fixed, leaky, log, quota, rate, sliding, slots, token,
};

fn refusal(algorithm: Algorithm, rules: Rules) -> String {
    Limit::new(algorithm, rules).expect_err("no limit").to_string()
}

fn plain(algorithm: Algorithm) -> String {
    refusal(algorithm, Rules::default())
}

#[test]
fn spans_of_zero_are_named() {
    assert_eq!(plain(fixed(1, 0)), "`window` is zero; give it a span of at least one microsecond");
    assert!(plain(sliding(1, 0, 1)).starts_with("`window` is zero"));
    assert!(plain(log(1, 0)).starts_with("`window` is zero"));
    assert!(plain(slots(1, 0)).starts_with("`ttl` is zero"));
    assert!(plain(token(1, 0, 1)).starts_with("`per` is zero"));
    assert!(plain(leaky(0, 0, 1, None)).starts_with("`per` is zero"));
}

#[test]
fn cells_must_divide_the_window() {
    assert_eq!(plain(sliding(1, SECOND, 0)), "`cells` is 0; a window is cut into 1 to 100 cells");
    assert_eq!(
        plain(sliding(1, 101 * SECOND, 101)),
        "`cells` is 101; a window is cut into 1 to 100 cells"
    );
    assert_eq!(
        plain(sliding(1, SECOND, 7)),
        "a window of 1000000 microseconds does not divide into 7 equal cells; choose `cells` that divide it"
    );
}

#[test]
fn numbers_beyond_their_range_are_refused_with_the_range() {
    assert_eq!(
        plain(log(10_001, SECOND)),
        "`limit` is 10001; a sliding log remembers every unit (a sliding window does not), so at most 10000 will do"
    );
    for algorithm in [fixed(u64::MAX, SECOND), sliding(u64::MAX, SECOND, 1), quota(u64::MAX)] {
        assert_eq!(
            plain(algorithm),
            "`limit` is 18446744073709551615; a limit and its debt are counted together in 62 bits, \
             so at most 2305843009213693952 will do"
        );
    }
    let owing = Rules { max_debt: Some(u64::MAX), ..OVERDRAW };
    assert!(
        refusal(fixed(1 << 40, SECOND), owing.clone())
            .starts_with("`max_debt` is 18446744073709551615;")
    );
    assert!(plain(fixed(1, u64::MAX)).starts_with("`window` is longer than the 9007199254740991"));
    let year = 365 * 24 * 3600 * SECOND;
    for algorithm in [token(1, year, 1 << 40), leaky(1, 1 << 60, u64::MAX, None)] {
        assert_eq!(
            plain(algorithm),
            "`burst` is too large: at this rate the bucket would take more than 146,000 years to fill, or hold more \
             than can be counted; give a smaller one"
        );
    }
    assert!(refusal(token(1, year, 1), owing).starts_with("`max_debt` is too large"));
    let span = Burst::Span(Micros::new(u64::MAX));
    let spec = TokenBucket { rate: rate(u64::MAX, 1), burst: span, empty_at: None };
    assert!(plain(Algorithm::TokenBucket(spec)).starts_with("`burst` is too large"));
}

#[test]
fn rules_go_with_some_algorithms_only() {
    assert_eq!(
        refusal(slots(1, SECOND), COUNT_REFUSED),
        "`count_refused` does not go with concurrency; it goes with every algorithm but concurrency"
    );
    for algorithm in [slots(1, SECOND), log(1, SECOND), leaky(1, SECOND, 1, None)] {
        assert!(
            refusal(algorithm, OVERDRAW)
                .ends_with("it goes with token_bucket, fixed_window, sliding_window and quota")
        );
    }
    let rules = Rules { max_debt: Some(1), ..Rules::default() };
    assert_eq!(
        refusal(fixed(1, SECOND), rules),
        "`max_debt` bounds what `overdraw: true` may owe; add that, or leave `max_debt` out"
    );
}

#[test]
fn the_largest_parameters_step_without_overflow() {
    let all = [
        token(u64::MAX, 1, u64::MAX),
        token(u64::MAX, SECOND, u64::MAX),
        token(1, 1, 1 << 60),
        leaky(u64::MAX - 1, u64::MAX, 1 << 50, Some(u64::MAX)),
        fixed(1 << 61, (1 << 53) - 1),
        sliding(1 << 61, (1 << 53) - 1, 1),
        sliding(1 << 61, 100 * 90_071_992_547_409, 100),
        log(10_000, (1 << 53) - 1),
        slots(1 << 61, (1 << 53) - 1),
    ];
    for algorithm in all {
        let mut world = crate::world::World::ruled(algorithm, Rules::default());
        for now in [0, 1, (1 << 53) - 2, (1 << 53) - 1, 3] {
            for cost in [0, 1, 1 << 40, u64::MAX, 1 << 61] {
                let (_, outcomes) = world.ask(now, cost);
                let _ = world.standing(now);
                if let Some(charged) = outcomes[0].charged(7) {
                    world.settle(&charged, 0, now);
                    world.settle(&charged, u64::MAX, now);
                }
            }
        }
    }
}
