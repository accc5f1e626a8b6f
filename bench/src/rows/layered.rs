//! Three limits with three keys, all or nothing, against one limit of limitador.

use std::collections::HashMap;
use std::hint::black_box;

use limitador::RateLimiter;
use limitador::limit::{Context, Limit};
use tollgate_store::{
    Call, Charge, Clock, Definition, LimitId, MemoryOptions, MemoryStore, Shape, Sharing, Store,
    SystemClock,
};

use crate::harness::{Contest, compare};
use crate::keys::{Key, key, uniform};
use crate::peers::{BEGIN, Rule, sliding, window};
use crate::table::{Measured, Target};

const KEYS: usize = 1_000_000;

/// Three keys of a million each; and users, tenants and everybody.
pub fn run(name: &str) -> Vec<Measured> {
    let order = uniform(KEYS, 1 << 21, 4);
    let clock = SystemClock::new();
    let (store, ids) = store(&clock);
    let peer = limitador();
    for number in 0..KEYS {
        let keys = [0, 1, 2].map(|step| key((number * 7 + step) % KEYS));
        black_box(charge(&store, &clock, &ids, &keys, BEGIN.into()));
        black_box(ask(&peer, &key(number)));
    }
    let user = |thread: usize, call: usize| order.at(call + thread * 1_000_003);
    let apart = |thread: usize, call: usize| {
        [0, 77_777, 155_554].map(|step| key(user(thread, call + step)))
    };
    let nested = |thread: usize, call: usize| {
        let user = user(thread, call);
        [user, user % 1000, 0].map(key)
    };
    let row = |what: &str, threads: usize, keys: &(dyn Fn(usize, usize) -> [Key; 3] + Sync)| {
        let name = format!("{name}: {what}, {threads} threads");
        let contest = Contest { name: &name, target: Target::Ratio(0.1), threads, calls: 200 };
        compare(
            &contest,
            keys,
            |keys| {
                black_box(charge(&store, &clock, &ids, keys, 1));
            },
            |keys| {
                black_box(ask(&peer, &keys[0]));
            },
        )
    };
    vec![
        row("three keys of 1 M each", 1, &apart),
        row("three keys of 1 M each", 2, &apart),
        row("1 M users, 1 k tenants, one for all", 1, &nested),
        row("1 M users, 1 k tenants, one for all", 2, &nested),
    ]
}

fn store(clock: &SystemClock) -> (MemoryStore, Vec<LimitId>) {
    const MUCH: u64 = 1_000_000_000;
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
    keys: &[Key; 3],
    cost: u64,
) -> bool {
    let charge = |at: usize| Charge { limit: ids[at], key: &keys[at], cost, period: None };
    let charges = [charge(0), charge(1), charge(2)];
    let call = Call { charges: &charges, now: clock.now(), hold: None };
    store.charge_all_now(&call).expect("an answer").decision.admitted
}

fn limitador() -> RateLimiter {
    let limiter = RateLimiter::new(2 * KEYS as u64);
    let variable = "user".try_into().expect("a variable");
    limiter.add_limit(Limit::new("shop", 1_000_000_000, 3600, Vec::new(), vec![variable]));
    limiter
}

fn ask(limiter: &RateLimiter, key: &Key) -> bool {
    let user = String::from_utf8_lossy(key).into_owned();
    let context = Context::from(HashMap::from([("user".to_owned(), user)]));
    let answer = limiter.check_rate_limited_and_update(&"shop".into(), &context, 1);
    answer.is_ok_and(|answer| !answer.limited)
}
