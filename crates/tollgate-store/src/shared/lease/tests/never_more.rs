//! Never more is admitted than the limit's exact rule allows at any instant, whatever the network, the clocks and the nodes do.

use tollgate_core::{
    Algorithm, Burst, FixedWindow, LeakyBucket, Limit, Micros, Quota, Rate, Rules, SlidingWindow,
    TokenBucket,
};

use super::chance::Chance;
use super::model::Fault;
use super::world::{Weather, World};

/// A bucket's generations here, in microseconds: short, so that many of them end.
const GENERATIONS: [u64; 2] = [300_000, 1_200_000];
/// How long a world lasts.
const SPAN: u64 = 12_000_000;

fn limit(algorithm: Algorithm) -> Limit {
    Limit::new(algorithm, Rules::default()).expect("a valid limit")
}

fn rate(count: u64, millis: u64) -> Rate {
    Rate { count, per: Micros::new(millis * 1_000) }
}

pub(super) fn buckets() -> Vec<Limit> {
    let token = |rate, units| {
        limit(Algorithm::TokenBucket(TokenBucket {
            rate,
            burst: Burst::Units(units),
            empty_at: None,
        }))
    };
    vec![
        token(rate(400, 1_000), 100),
        token(rate(7, 3_000), 60),
        token(rate(1_009, 1_000), 120),
        limit(Algorithm::LeakyBucket(LeakyBucket {
            rate: rate(50, 1_000),
            burst: 79,
            nodelay: true,
            max_wait: None,
        })),
    ]
}

pub(super) fn windows() -> Vec<Limit> {
    let seconds = |millis: u64| Micros::new(millis * 1_000);
    vec![
        limit(Algorithm::FixedWindow(FixedWindow { limit: 60, window: seconds(2_000) })),
        limit(Algorithm::SlidingWindow(SlidingWindow {
            limit: 50,
            window: seconds(2_000),
            cells: 1,
        })),
        limit(Algorithm::SlidingWindow(SlidingWindow {
            limit: 90,
            window: seconds(4_000),
            cells: 4,
        })),
        limit(Algorithm::Quota(Quota { limit: 80 })),
    ]
}

fn storm() -> Weather {
    Weather {
        loss: 10,
        longest_delay: 60_000,
        deaths: 2,
        pauses: 4,
        drift: 500,
        other_refuses: 15,
        exact: 20,
        resets: 1,
    }
}

/// The worlds of `limit` that admit too much, of so many.
fn too_many(limit: &Limit, fault: Fault, overstay: bool, worlds: u64) -> Vec<u64> {
    (0..worlds)
        .filter(|seed| {
            let mut chance = Chance(seed ^ 0x1ea5e);
            let nodes = 2 + chance.below(4) as usize;
            let generation = GENERATIONS[chance.below(2) as usize];
            let weather = Weather {
                longest_delay: [2_000, 60_000, 1_000_000][chance.below(3) as usize],
                ..storm()
            };
            let mut world =
                World::new(limit.clone(), nodes, generation, fault, *seed).with_weather(weather);
            world.overstay = overstay;
            if chance.is(60) {
                // How much is borrowed for how long is a matter of taste: never of what is safe.
                world.pace.horizon = Micros::new(1_000_000 + chance.below(4_000_000));
                world.believed = 1;
            }
            world.arrive_by_chance(SPAN, 30 + chance.span(600), 1 + chance.below(4));
            if chance.is(70) {
                let (gap, burst) = (100_000 + chance.span(1_000_000), 5 + chance.below(60));
                world.arrive_in_flashes(SPAN, gap, burst);
            } else {
                world.arrive_steadily(SPAN, 10_000 + chance.below(30_000));
            }
            let mut within = true;
            for part in 1..=40 {
                world.run(SPAN * part / 40);
                within &= fault != Fault::None || overstay || world.is_within_capacity();
            }
            assert!(within, "level and leases exceed the capacity: seed {seed} of {limit:?}");
            world.admits_too_much()
        })
        .collect()
}

#[test]
fn no_world_admits_too_much() {
    for limit in buckets().iter().chain(&windows()) {
        let worlds = too_many(limit, Fault::None, false, 60);
        assert!(worlds.is_empty(), "seeds {worlds:?} of {limit:?}");
    }
}

/// The worlds are rough enough: without a rule some of them admit too much. Those of `scenarios.rs` are rarer.
#[test]
fn worlds_notice_what_is_left_out() {
    let noticed = |limits: &[Limit], fault, overstay| {
        limits.iter().any(|limit| !too_many(limit, fault, overstay, 40).is_empty())
    };
    assert!(noticed(&buckets(), Fault::CapacityNotReduced, false));
    assert!(noticed(&buckets(), Fault::DroppedEarly, false));
    assert!(noticed(&buckets(), Fault::None, true));
}
