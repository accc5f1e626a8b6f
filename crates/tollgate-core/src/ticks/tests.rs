//! Both words decide alike, and the narrow one is only chosen where nothing can overflow.

use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Manner, NARROW_CEILING, NARROW_PER_MICRO, Size, Ticks};
use crate::bucket::Bucket;
use crate::kept::Slot;
use crate::moment::{Checked, Commit, Moment, Ticket};
use crate::plan::Plan;
use crate::word::Word;
use crate::{Charged, Micros, Outcome, Rate, Retry, Rules, Standing, State, Timestamp};

const NOW: u64 = 1_767_225_600_000_000;

/// What is compared of one request: verdict, retry time, wait, what was taken, standing.
type Seen = (bool, Retry, Micros, (u64, u64), Standing, bool);

/// Asks, takes whatever the debt allows, and gives back a part of what came before.
fn course<W: Word>(bucket: &Bucket<W>, course: &[(u64, u64)]) -> Vec<Seen>
where
    State: Slot<W>,
{
    let (mut state, mut now) = (State::Fresh, NOW);
    let mut charged = Charged { units: 0, fraction: 0, at: Timestamp::EPOCH, ticket: 0 };
    let turn = |(gap, cost): &(u64, u64)| {
        now += gap;
        let at = Moment { now, period: None };
        let checked = bucket.check(&mut state, *cost, at);
        let ticket = Ticket { number: 0, held: None };
        let what = Commit { cost: *cost, take: true, retry: true, ticket };
        let mut outcome = Outcome::begun(checked, Timestamp::from_micros(now));
        bucket.commit(&mut state, at, &what, &mut outcome);
        let back = bucket.give_back(&mut state, &charged, cost / 2, at);
        let Outcome { units, fraction, retry, .. } = outcome;
        charged = Charged { units, fraction, at: Timestamp::from_micros(now), ticket: 0 };
        (checked.refused, retry, checked.wait, (units, fraction), bucket.standing(&state, at), back)
    };
    course.iter().map(turn).collect()
}

fn size(count: u64, per: u64, burst: u64, max_debt: Option<u64>) -> (Ticks, Size) {
    let ticks = Ticks::of(Rate { count, per: Micros::new(per) });
    let rules = Rules { overdraw: max_debt.is_some(), max_debt, ..Rules::default() };
    (ticks, Size::new(ticks, ticks.units(burst), &rules).expect("a small bucket"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500, rng_seed: RngSeed::Fixed(64_128), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn both_words_decide_alike(
        (count, per, burst) in (1..=1_024_u64, 1..=10_000_000_000_u64, 1..=10_000_u64),
        (max_debt, max_wait) in (prop::option::of(0..=20_000_u64), prop::option::of(0..=1_000_000_u64)),
        (delays, empty) in (any::<bool>(), any::<bool>()),
        steps in prop::collection::vec((0..=100_000_000_u64, 0..=12_000_u64), 1..60),
    ) {
        let (ticks, size) = size(count, per, burst, max_debt);
        let manner = Manner {
            max_wait: max_wait.map(|wait| ticks.micros(wait)),
            empty_at: empty.then_some(Timestamp::from_micros(NOW)),
            delays,
            overdraw: max_debt.is_some(),
        };
        prop_assert!(matches!(size.plan(&manner), Plan::Bucket(_)));
        prop_assert_eq!(course::<u64>(&size.bucket(&manner), &steps), course::<u128>(&size.bucket(&manner), &steps));
    }
}

#[test]
fn the_narrow_word_holds_the_last_moment_and_the_deepest_debt() {
    let last = u128::from(Timestamp::MAX.as_micros());
    let highest = last * u128::from(NARROW_PER_MICRO) + 2 * NARROW_CEILING;
    assert!(highest < 1 << 64);
    // The largest that is narrow, and one beyond in either way.
    let manner = Manner::default();
    let is_narrow = |count, per, burst| {
        matches!(size(count, per, burst, None).1.plan(&manner), Plan::Bucket(_))
    };
    assert!(is_narrow(1_024, 1, 1 << 60));
    assert!(!is_narrow(1_024, 1, (1 << 60) + 1));
    assert!(!is_narrow(1_025, 1, 1));
    assert!(is_narrow(2_050, 2, 1) == is_narrow(1_025, 1, 1), "rates are reduced first");
    let (_, size) = size(1_024, 1, 1 << 60, None);
    let bucket = size.bucket::<u64>(&manner);
    let at = Moment { now: Timestamp::MAX.as_micros(), period: None };
    let mut state = State::Fresh;
    for _ in 0..3 {
        bucket.charge_more(&mut state, 1 << 60, 0, at);
    }
    let ticket = Ticket { number: 0, held: None };
    let what = Commit { cost: 1 << 60, take: false, retry: true, ticket };
    let mut outcome = Outcome::begun(Checked::at_once(true, false), Timestamp::MAX);
    bucket.commit(&mut state, at, &what, &mut outcome);
    assert_eq!(outcome.retry, Retry::After(Micros::new(1 << 51)));
}
