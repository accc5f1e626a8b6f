//! What leases are for: few commands, and yet nearly all of the limit is used.

use tollgate_core::{Algorithm, Burst, FixedWindow, Limit, Micros, Rate, Rules, TokenBucket};

use super::model::Fault;
use super::world::{START, World};

const SECOND: u64 = 1_000_000;

fn fixed(limit: u64, seconds: u64) -> Limit {
    let spec = FixedWindow { limit, window: Micros::from_secs(seconds) };
    Limit::new(Algorithm::FixedWindow(spec), Rules::default()).expect("a valid limit")
}

fn bucket(a_second: u64, burst: u64) -> Limit {
    let rate = Rate { count: a_second, per: Micros::from_secs(1) };
    let spec = TokenBucket { rate, burst: Burst::Units(burst), empty_at: None };
    Limit::new(Algorithm::TokenBucket(spec), Rules::default()).expect("a valid limit")
}

fn calm(limit: Limit, nodes: usize) -> World {
    World::new(limit, nodes, 2 * SECOND, Fault::None, 7)
}

/// From a window's first moment.
fn window_start(window: u64) -> u64 {
    window - START % window
}

#[test]
fn eight_hungry_nodes_use_a_window_up() {
    for gap in [50, 500, 5_000] {
        let mut world = calm(fixed(1_000, 60), 8);
        let start = window_start(60 * SECOND);
        for node in 0..8 {
            for turn in 0..2_000_000 / gap {
                world.arrive(node, start + turn * gap + 3 * node as u64, 1);
            }
        }
        world.run(start + 59 * SECOND);
        assert_eq!(world.admitted(), 1_000, "one request in {gap} us at each node");
        let spared = world.asked / world.commands;
        assert!(gap > 50 || spared >= 50, "{} requests, {} commands", world.asked, world.commands);
    }
}

/// One key of 100,000 a second over 4 nodes, of which about as much is asked, then much more.
#[test]
fn a_hot_key_costs_a_fiftieth_of_the_commands() {
    for (limit, gap, allowed) in [
        (bucket(100_000, 100_000), 45, 88_888),
        (bucket(100_000, 100_000), 20, 200_000),
        (bucket(100_000, 1_000), 45, 88_888),
        (bucket(1_000, 1_000), 40, 2_000),
        (fixed(100_000, 1), 45, 88_888),
    ] {
        let mut world = calm(limit.clone(), 4);
        for node in 0..4 {
            (0..SECOND / gap).for_each(|turn| world.arrive(node, turn * gap + 7 * node as u64, 1));
        }
        world.run(SECOND);
        let (asked, admitted) = (world.asked, world.admitted());
        assert!(asked / world.commands >= 50, "{asked} asked with {} commands", world.commands);
        assert!(admitted * 100 >= allowed * 97, "{admitted} of {allowed}");
    }
}
