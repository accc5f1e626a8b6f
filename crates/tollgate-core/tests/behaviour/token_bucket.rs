//! Token buckets: admit iff level >= cost, exactly.

use tollgate_core::{Algorithm, Burst, Rules, TokenBucket};

use crate::world::{DAY, HOUR, NEVER, OVERDRAW, SECOND, World, after, at, limit, rate, token};

/// Far from the epoch and from whole seconds.
const NOW: u64 = 1_767_225_600_123_457;

#[test]
fn a_new_bucket_is_full_and_refills_by_its_rate() {
    let mut world = World::of(token(10, SECOND, 20));
    assert_eq!(world.standing(NOW), (20, 0, 0));
    assert!(world.admits(NOW, 20));
    assert_eq!(world.standing(NOW), (0, 2 * SECOND, SECOND / 10));
    assert_eq!(world.refusal(NOW, 1), after(SECOND / 10));
    assert_eq!(world.refusal(NOW, 20), after(2 * SECOND));
    assert_eq!(world.refusal(NOW + 99_999, 1), after(1));
    assert!(world.admits(NOW + 100_000, 1));
    assert_eq!(world.remaining(NOW + 100_000), 0);
}

#[test]
fn asking_for_more_than_the_burst_is_refused_for_ever() {
    let mut world = World::of(token(10, SECOND, 20));
    assert_eq!(world.refusal(NOW, 21), NEVER);
    assert_eq!(world.refusal(NOW, u64::MAX), NEVER);
    assert_eq!(world.standing(NOW), (20, 0, 0));
}

#[test]
fn asking_for_nothing_takes_nothing_and_is_admitted_when_empty() {
    let mut world = World::of(token(1, DAY, 1));
    assert!(world.admits(NOW, 1));
    let (decision, outcomes) = world.ask(NOW, 0);
    assert!(decision.admitted);
    assert!(!outcomes[0].changed);
    assert_eq!(outcomes[0].units, 0);
}

#[test]
fn a_rate_that_no_microsecond_divides_loses_nothing() {
    // 7 in 3 seconds: a unit every 428,571 and 3/7 microseconds.
    let mut world = World::of(token(7, 3 * SECOND, 7));
    assert!(world.admits(NOW, 7));
    assert_eq!(world.refusal(NOW, 1), after(428_572));
    assert!(world.admits(NOW + 428_572, 1));
    // 4/7 of a microsecond is left over, so the next unit comes after 857,143 (857,142 and 6/7) rather than 857,144.
    assert_eq!(world.refusal(NOW + 428_572, 1), after(428_571));
    assert_eq!(world.refusal(NOW + 857_142, 1), after(1));
    assert!(world.admits(NOW + 857_143, 1));
}

#[test]
fn every_rate_from_one_a_year_to_a_thousand_million_a_second_is_exact() {
    let year = 365 * DAY;
    // (count, per, burst), the time until the drained bucket holds one unit, until it is full.
    let table = [
        (1, year, 3, year, 3 * year),
        (1, DAY, 1, DAY, DAY),
        (1_000_000_000, SECOND, 5_000, 1, 5),
        (999_999_937, SECOND, 1, 1, 1),
        (3, 7 * DAY, 1_000_003, 201_600_000_000, 201_600_604_800_000_000),
        (1_234_567, SECOND, 1_234_567, 1, SECOND),
    ];
    for (count, per, burst, one, full) in table {
        let mut world = World::of(token(count, per, burst));
        assert!(world.admits(NOW, burst), "{count} per {per}");
        assert_eq!(world.refusal(NOW, 1), after(one), "{count} per {per}");
        assert_eq!(world.standing(NOW).1, full, "{count} per {per}");
        assert!(!world.admits(NOW + one - 1, 1), "{count} per {per}");
        assert!(world.admits(NOW + one, 1), "{count} per {per}");
    }
}

#[test]
fn a_burst_given_as_a_span_may_hold_part_of_a_unit() {
    let spec = TokenBucket {
        rate: rate(3, SECOND),
        burst: Burst::Span(tollgate_core::Micros::new(1_500_000)),
        empty_at: None,
    };
    let mut world = World::of(Algorithm::TokenBucket(spec));
    assert_eq!(world.standing(NOW), (4, 0, 0));
    assert_eq!(world.refusal(NOW, 5), NEVER);
    assert!(world.admits(NOW, 4));
    // Half a unit is left: another half takes a sixth of a second.
    assert_eq!(world.refusal(NOW, 1), after(166_667));
    assert_eq!(world.standing(NOW), (0, 1_333_334, 166_667));
}

#[test]
fn next_is_nothing_where_only_a_fraction_can_still_come() {
    let burst = Burst::Span(tollgate_core::Micros::new(2_500_000));
    let spec = TokenBucket { rate: rate(1, SECOND), burst, empty_at: None };
    let mut world = World::of(Algorithm::TokenBucket(spec));
    assert!(world.admits(NOW, 1));
    assert_eq!(world.standing(NOW + 700_000), (2, 300_000, 0));
}

#[test]
fn an_initially_empty_bucket_was_empty_when_its_limit_was_loaded() {
    let spec =
        TokenBucket { rate: rate(10, SECOND), burst: Burst::Units(5), empty_at: Some(at(NOW)) };
    let world = World::of(Algorithm::TokenBucket(spec));
    let mut early = world.clone();
    assert_eq!(early.standing(NOW), (0, 500_000, 100_000));
    assert_eq!(early.refusal(NOW, 1), after(100_000));
    assert!(early.admits(NOW + 100_000, 1));
    assert!(!early.admits(NOW + 100_000, 1));
    // A key that is seen later has had that time to fill, but never above the burst.
    assert_eq!(world.standing(NOW + 300_000), (3, 200_000, 100_000));
    assert_eq!(world.standing(NOW + HOUR), (5, 0, 0));
}

#[test]
fn the_levels_of_two_words_that_are_too_narrow_are_kept_in_wider_ones() {
    // n is 4,294,967,291, a prime: 128-bit ticks.
    let mut world = World::of(token(4_294_967_291, SECOND, 4_294_967_291));
    assert!(limit(token(4_294_967_291, SECOND, 1), Rules::default()).bucket64().is_none());
    assert!(world.admits(NOW, 4_294_967_291));
    assert_eq!(world.refusal(NOW, 4_294), after(1));
    assert_eq!(world.refusal(NOW, 4_295), after(2));
    assert!(world.admits(NOW + 1, 4_294));
    // 0.967291 of a unit stayed: the next microsecond brings 4,295 whole ones.
    assert!(world.admits(NOW + 2, 4_295));
}

#[test]
fn the_short_path_decides_as_the_long_one() {
    let plain = limit(token(9, 2 * SECOND, 7), Rules::default());
    let bucket = plain.bucket64().expect("a plain bucket of 64 bits").clone();
    let mut world = World::new(vec![plain]);
    let mut word = bucket.fresh();
    let mut now = NOW;
    for turn in 0..2_000_u64 {
        now += turn * 7_919 % 400_003;
        let cost = turn % 9;
        assert_eq!(bucket.remaining(word, at(now)), world.remaining(now));
        assert_eq!(bucket.reset(word, at(now)).get(), world.standing(now).1);
        let (decision, _) = world.ask(now, cost);
        match bucket.step(word, at(now), cost) {
            Ok(next) => {
                assert!(decision.admitted);
                word = next;
            }
            Err(refused) => {
                assert!(!decision.admitted);
                assert_eq!(bucket.retry(&refused), decision.retry);
                word = refused.word;
            }
        }
    }
    assert!(limit(token(9, SECOND, 7), OVERDRAW).bucket64().is_none());
}
