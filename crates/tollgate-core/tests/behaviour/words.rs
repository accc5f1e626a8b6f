//! States as words, and back.

use tollgate_core::{Algorithm, Burst, Limit, State, TokenBucket, Words};

use crate::world::{
    DAY, HOUR, SECOND, World, at, fixed, leaky, limit, log, period, quota, rate, sliding, slots,
    token,
};

const NOW: u64 = 1_767_225_600_000_000;

#[test]
fn a_state_survives_its_words() {
    let small = [
        (token(10, SECOND, 100), Words::One),
        (leaky(10, SECOND, 99, None), Words::One),
        (token(1_234_567, SECOND, 100), Words::Two),
        (fixed(100, HOUR), Words::Two),
        (quota(100), Words::Two),
        (sliding(100, HOUR, 1), Words::Two),
    ];
    for (algorithm, words) in small {
        let mut world = World::of(algorithm);
        world.period = Some(period(NOW, NOW + DAY));
        let limit = world.limits[0].clone();
        assert_eq!(limit.words(), words);
        for turn in 0..50 {
            world.ask(NOW + turn * HOUR / 9, 1 + turn % 5);
            let [first, second] = limit.encode(&world.states[0]);
            assert!(words == Words::Two || second == 0);
            assert_eq!(limit.decode([first, second]), world.states[0]);
        }
    }
    for algorithm in [sliding(10, HOUR, 2), log(10, HOUR), slots(10, HOUR)] {
        assert_eq!(limit(algorithm, tollgate_core::Rules::default()).words(), Words::Boxed);
    }
}

#[test]
fn the_words_of_a_fresh_state_stand_as_a_fresh_state() {
    let spec =
        TokenBucket { rate: rate(1, SECOND), burst: Burst::Units(5), empty_at: Some(at(NOW)) };
    let wide = TokenBucket { rate: rate(1_234_567, SECOND), ..spec.clone() };
    let same = |limit: &Limit| {
        let state = limit.decode(limit.encode(&State::Fresh));
        let day = Some(period(NOW, NOW + DAY));
        for later in [0, 1, SECOND, DAY - 1] {
            let now = at(NOW + later);
            assert_eq!(limit.standing(&state, day, now), limit.standing(&State::Fresh, day, now));
            assert!(limit.is_fresh(&state, day, now), "{limit:?}");
        }
    };
    let algorithms = [token(1, SECOND, 5), leaky(1, SECOND, 5, None), fixed(5, HOUR), quota(5)];
    let algorithms = algorithms.into_iter().chain([sliding(5, HOUR, 1), token(0, SECOND, 1)]);
    let empties = [Algorithm::TokenBucket(spec), Algorithm::TokenBucket(wide)];
    for algorithm in algorithms.chain(empties) {
        same(&limit(algorithm, tollgate_core::Rules::default()));
    }
}
