//! Cases from the field.

use tollgate_core::{Algorithm, FixedWindow, Limit, Micros, Rules};

use super::model::Fault;
use super::world::{START, World};

const SECOND: u64 = 1_000_000;

/// A world of `nodes`, and the time until the first whole minute.
fn world(limit: u64, seconds: u64, nodes: usize) -> (World, u64) {
    let spec = FixedWindow { limit, window: Micros::from_secs(seconds) };
    let limit = Limit::new(Algorithm::FixedWindow(spec), Rules::default()).expect("a valid limit");
    let window = 60 * SECOND;
    (World::new(limit, nodes, 2 * SECOND, Fault::None, 1), window - START % window)
}

fn burst(world: &mut World, node: usize, when: u64, requests: u64) {
    (0..requests).for_each(|place| world.arrive(node, when + 100 * place, 1));
}

/// Units that idle nodes borrowed come back in time for the one that needs them.
#[test]
fn lea_01_what_idle_nodes_hold_returns_for_a_busy_one() {
    let (mut world, start) = world(100, 60, 4);
    // The others were busy for a moment, so that they borrowed, and have gone quiet since.
    for other in 1..4 {
        burst(&mut world, other, start, 6);
    }
    world.run(start + 400_000);
    let held: u64 = (1..4).map(|node| held(&world, node, start + 400_000)).sum();
    assert!(held > 0, "the others hold units");
    burst(&mut world, 0, start + 500_000, 50);
    world.run(start + 6 * SECOND);
    let before = world.admitted();
    assert_eq!(before, 18 + 50);
    burst(&mut world, 0, start + 6 * SECOND, 150);
    world.run(start + 7 * SECOND);
    assert_eq!(world.admitted(), 100);
}

/// Also where the busy node was refused first: it asks again while others hold units.
#[test]
fn lea_01_a_refused_node_finds_what_comes_back_later() {
    let (mut world, start) = world(100, 60, 4);
    for other in 1..4 {
        burst(&mut world, other, start, 8);
    }
    for turn in 0..3_000 {
        world.arrive(0, start + 10_000 + 1_000 * turn, 1);
    }
    world.run(start + 300_000);
    let held: u64 = (1..4).map(|node| held(&world, node, start + 300_000)).sum();
    assert!(held > 0 && world.admitted() + held == 100, "{held} of the rest are held by others");
    world.run(start + 4 * SECOND);
    assert_eq!(world.admitted(), 100);
}

fn held(world: &World, node: usize, now: u64) -> u64 {
    let node = &world.nodes[node];
    node.wallet.in_hand(node.at(START + now))
}

/// What was left of the old window's batches is worth nothing in the new one.
#[test]
fn lea_03_batches_end_with_their_window() {
    let admitted_in_the_new_window = |overstay| {
        let (mut world, edge) = world(5_000, 60, 10);
        world.overstay = overstay;
        for node in 0..10 {
            burst(&mut world, node, edge - 300_000, 12);
        }
        world.run(edge - 1_000);
        let held: u64 = (0..10).map(|node| held(&world, node, edge - 100_000)).sum();
        assert!(held >= 50, "{held} left over");
        let before = world.admitted();
        for node in 0..10 {
            burst(&mut world, node, edge + 100, 1_000);
        }
        world.run(edge + 10 * SECOND);
        world.admitted() - before
    };
    assert_eq!(admitted_in_the_new_window(false), 5_000);
    assert!(admitted_in_the_new_window(true) > 5_000, "the rule is needed");
}

#[test]
fn lea_04_an_exhausted_key_is_exhausted_at_every_node() {
    let (mut world, start) = world(1, 30, 2);
    for call in 0..30 {
        world.arrive(call as usize % 2, start + 100_000 * call, 1);
    }
    world.run(start + 4 * SECOND);
    assert_eq!(world.admitted(), 1);
    assert!(world.commands <= 3, "and costs nothing any more: {} commands", world.commands);
}
