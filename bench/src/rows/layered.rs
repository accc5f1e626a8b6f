//! Three limits with three keys, all or nothing, against one limit of limitador.

use std::collections::HashMap;
use std::hint::black_box;

use limitador::RateLimiter;
use limitador::limit::{Context, Limit};
use tollgate_store::{
    Call, Charge, Clock, Definition, LimitId, MemoryOptions, MemoryStore, Shape, Sharing, Store,
    SystemClock,
};

use crate::harness::compare;
use crate::keys::{Key, keys, uniform};
use crate::peers::{BEGIN, Rule, sliding, window};
use crate::table::{Measured, Target};

const KEYS: usize = 1_000_000;
const CALLS: usize = 100_000;

/// Three keys of a million each; and users, tenants and everybody.
pub fn run(name: &str) -> Vec<Measured> {
    let keys = keys(KEYS);
    let order = uniform(KEYS, 1 << 21, 4);
    let at = |call: usize| order[call & (order.len() - 1)] as usize;
    let clock = SystemClock::new();
    let (store, ids) = store(&clock);
    let peer = limitador();
    for (number, key) in keys.iter().enumerate() {
        let other = |step: usize| &keys[(number * 7 + step) % KEYS];
        black_box(charge(&store, &clock, &ids, [key, other(1), other(2)], BEGIN.into()));
        black_box(ask(&peer, key));
    }
    let theirs = |thread: usize, call: usize| {
        black_box(ask(&peer, &keys[at(call + thread * 1_000_003)]));
    };
    let apart = |thread: usize, call: usize| {
        let call = call + thread * 1_000_003;
        let key = |step: usize| &keys[at(call + step * 77_777)];
        black_box(charge(&store, &clock, &ids, [key(0), key(1), key(2)], 1));
    };
    let nested = |thread: usize, call: usize| {
        let user = at(call + thread * 1_000_003);
        black_box(charge(&store, &clock, &ids, [&keys[user], &keys[user % 1000], &keys[0]], 1));
    };
    let row = |what: &str| format!("{name}: {what}");
    let target = Target::Ratio(0.1);
    vec![
        compare(&row("three keys of 1 M each, 1 thread"), target, 1, CALLS, apart, theirs),
        compare(&row("three keys of 1 M each, 2 threads"), target, 2, CALLS, apart, theirs),
        compare(
            &row("1 M users, 1 k tenants, one for all, 1 thread"),
            target,
            1,
            CALLS,
            nested,
            theirs,
        ),
        compare(
            &row("1 M users, 1 k tenants, one for all, 2 threads"),
            target,
            2,
            CALLS,
            nested,
            theirs,
        ),
    ]
}

fn store(clock: &SystemClock) -> (MemoryStore, Vec<LimitId>) {
    const MUCH: u64 = 4_000_000_000;
    let store = MemoryStore::new(MemoryOptions::default());
    let definitions: Vec<Definition> = [sliding(MUCH), Rule::Admits.limit(), window(MUCH)]
        .into_iter()
        .enumerate()
        .map(|(number, limit)| Definition {
            name: format!("limit {number}").into(),
            class: None,
            limit,
            shape: Shape(String::new()),
            max_keys: 2 * KEYS,
            sharing: Sharing::default(),
        })
        .collect();
    let ids = store.define(&definitions, clock.now());
    (store, ids)
}

fn charge(
    store: &MemoryStore,
    clock: &SystemClock,
    ids: &[LimitId],
    keys: [&Key; 3],
    cost: u64,
) -> bool {
    let charge =
        |at: usize| Charge { limit: ids[at], key: keys[at].as_bytes(), cost, period: None };
    let charges = [charge(0), charge(1), charge(2)];
    let call = Call { charges: &charges, now: clock.now(), hold: None };
    store.charge_all_now(&call).expect("an answer").decision.admitted
}

fn limitador() -> RateLimiter {
    let limiter = RateLimiter::new(2 * KEYS as u64);
    let variable = "user".try_into().expect("a variable");
    limiter.add_limit(Limit::new("shop", 4_000_000_000, 3600, Vec::new(), vec![variable]));
    limiter
}

fn ask(limiter: &RateLimiter, key: &Key) -> bool {
    let user = key.clone();
    let context = Context::from(HashMap::from([("user".to_owned(), user)]));
    let answer = limiter.check_rate_limited_and_update(&"shop".into(), &context, 1);
    answer.is_ok_and(|answer| !answer.limited)
}
