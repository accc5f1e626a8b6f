//! A cluster: what every store must do, and that it decides as memory does, though each key is on a node of its own.

use std::time::Duration;

use tollgate_core::Rules;
use tollgate_store::{RedisOptions, RedisStore};

use crate::behaviour::world::{World, every_kind, fixed, run};
use crate::servers::{Cluster, Program};
use crate::traces::every_word_is_the_memory_stores;

/// A store of its own namespace on a cluster.
fn store(cluster: &Cluster, namespace: &str) -> RedisStore {
    let mut options = RedisOptions::from_url(&cluster.url()).expect("a URL");
    options.budget = Duration::from_secs(20);
    options.virtual_time = true;
    options.namespace = namespace.to_owned();
    let store = RedisStore::start(&options).expect("a store");
    run(async { store.ready(Duration::from_secs(20)).await.expect("a connection") });
    store
}

/// One cluster for all of these: it takes seconds to come together.
#[test]
fn a_cluster_is_a_store_like_any_other() {
    let Some(program) = Program::redis() else { return };
    let cluster = Cluster::start(&program);
    // A fail-over may lose what was not replicated yet: none happens here, however busy the machine is.
    for node in &cluster.nodes {
        let _: () = node.run(&["CONFIG", "SET", "cluster-node-timeout", "60000"]);
    }
    every_behaviour(&cluster);
    // What was taken and given back leaves a bucket full from then on, which a clock that steps back tells from untouched.
    run(every_word_is_the_memory_stores(&store(&cluster, "traces"), 25, false));
    run(a_refusal_takes_nothing_and_names_all_who_refuse(store(&cluster, "refusals")));
    // Replicas, the last three, answer for no key.
    for primary in &cluster.nodes[..3] {
        primary.assert_every_key_expires();
    }
}

fn every_behaviour(cluster: &Cluster) {
    let mut number = 0;
    let mut fresh = || {
        number += 1;
        store(cluster, &format!("behaviour-{number}"))
    };
    crate::behaviour::every_behaviour!(fresh);
}

async fn a_refusal_takes_nothing_and_names_all_who_refuse(store: RedisStore) {
    let mut limits = every_kind(10);
    let counting = Rules { count_refused: true, ..Rules::default() };
    let counts = tollgate_core::Limit::new(fixed(10, 60).algorithm().clone(), counting);
    limits.push(("counting", counts.expect("a limit")));
    let last = limits.len() - 1;
    let world = World::new(store, &limits);
    // Two limits in the middle refuse: those before had been charged, those behind are asked all the same.
    assert!(world.admits(&[(3, "k", 10)]).await);
    assert!(world.admits(&[(5, "k", 10)]).await);
    let all: Vec<_> = (0..limits.len()).map(|limit| (limit, "k", 1)).collect();
    let refused = world.charge(&all).await;
    let named: Vec<usize> =
        (0..limits.len()).filter(|place| refused.limits[*place].outcome.refused).collect();
    assert_eq!(named, [3, 5]);
    for (place, (kind, _)) in limits.iter().enumerate() {
        let expected = match place {
            3 | 5 => 0,
            place if place == last => 9,
            _ => 10,
        };
        assert_eq!(world.remaining(place, "k").await, expected, "{kind}");
        let told = refused.limits[place].outcome.standing.remaining;
        assert_eq!(told, expected, "{kind}, as the refusal told");
    }
    let taken: Vec<_> = refused.receipt.taken.iter().map(|taken| taken.place).collect();
    assert_eq!(taken, [last], "only what counts refusals");
}
