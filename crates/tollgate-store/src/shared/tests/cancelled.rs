//! A caller that is gone before the store answered.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use super::world::{EXACT, NODE, World, fixed, run, slots};
use crate::Trouble;
use crate::shared::double::Health;

/// Polls once and drops.
fn begin_and_drop(future: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(future).as_mut().poll(&mut context).is_pending());
}

#[test]
fn its_local_charges_are_given_back_and_what_the_store_charged_stands() {
    run(async {
        let limits = [(fixed(9, 60), EXACT), (fixed(9, 60), NODE), (slots(9), NODE)];
        let world = World::new(1, &limits).await;
        world.central.becomes(Health::Slow);
        begin_and_drop(async {
            world.charge(0, &[(0, "key", 1), (1, "key", 1), (2, "key", 1)]).await;
        });
        assert_eq!((world.left(0, 1, "key").await, world.left(0, 2, "key").await), (9, 9));
        assert_eq!(world.central.standing(0, "key").remaining, 8);
    });
}

#[test]
fn a_probe_that_is_dropped_leaves_room_for_the_next() {
    run(async {
        let world = World::new(1, &[(fixed(9, 60), EXACT)]).await;
        world.breaks(Trouble::Disconnected).await;
        world.central.becomes(Health::Slow);
        world.passes_millis(6_000);
        for _ in 0..3 {
            begin_and_drop(async {
                world.charge(0, &[(0, "key", 1)]).await;
            });
        }
        world.recovers().await;
        assert!(!world.nodes[0].breaker.is_open());
    });
}
