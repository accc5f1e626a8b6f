//! Cases from the field, on the scripts.

use tollgate_store::Store;

use crate::behaviour::world::{
    START, World, at, bucket, definition, fixed, log, run, seconds, slots,
};
use crate::hosted::Hosted;
use crate::servers::Program;
use tollgate_core::{Retry, Timestamp};

/// A world on each server that is installed.
fn worlds(limits: &[(&str, tollgate_core::Limit)]) -> Vec<World<Hosted>> {
    let of = |program: &Program| World::new(Hosted::replay(program), limits);
    Program::all().iter().map(of).collect()
}

#[test]
fn red_03_an_exact_period_never_hits_a_gap() {
    for mut world in worlds(&[("l", fixed(5, 10))]) {
        run(async {
            for call in 0..1000 {
                world.now = seconds(10 * call);
                assert!(world.admits(&[(0, "k", 1)]).await);
                if call % 7 == 0 {
                    // The server may forget the key at any time between two calls.
                    world.store.reset(world.ids[0], b"k").await.expect("an answer");
                } else {
                    world.store.server.assert_every_key_expires();
                }
            }
        });
    }
}

#[test]
fn red_04_counting_does_not_move_the_window() {
    for mut world in worlds(&[("l", fixed(10, 20))]) {
        run(async {
            for second in 0..60 {
                world.now = seconds(second);
                assert_eq!(world.admits(&[(0, "k", 1)]).await, second % 20 < 10, "at {second} s");
            }
        });
    }
}

#[test]
fn red_06_a_capacity_below_the_rate_is_kept() {
    for mut world in worlds(&[("l", bucket(3, 1, 1))]) {
        run(async {
            assert!(world.admits(&[(0, "k", 1)]).await);
            world.now = at(100_000);
            let refused = world.charge(&[(0, "k", 1)]).await;
            assert!(!refused.decision.admitted);
            let Retry::After(wait) = refused.decision.retry else { panic!("a time") };
            assert_eq!((wait.get(), wait.ceil_secs()), (233_334, 1));
            world.now = at(400_000);
            assert!(world.admits(&[(0, "k", 1)]).await);
        });
    }
}

#[test]
fn red_09_no_byte_of_a_key_reaches_a_name() {
    for world in worlds(&[("{x}l", fixed(3, 60))]) {
        run(async {
            for key in ["{}", "{x}", "a}b", "a{b", "\r\n", "someone@example.com", ""] {
                assert_eq!(world.admitted(5, &[(0, key, 1)]).await, 3, "{key:?}");
            }
            let names = world.store.server.keys();
            assert_eq!(names.len(), 7);
            for name in names {
                let rest = name.strip_prefix(b"tg1:").expect("the prefix");
                let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
                assert!(rest.len() == 22 && rest.iter().all(plain), "{name:?}");
            }
        });
    }
}

#[test]
fn red_11_a_flushed_script_cache_is_filled_again_and_charges_once() {
    for world in worlds(&[("l", fixed(10, 60))]) {
        run(async {
            for remaining in [9, 8, 7, 6, 5, 4] {
                if remaining == 6 {
                    let _: () = world.store.server.run(&["SCRIPT", "FLUSH"]);
                }
                let outcome = world.charge(&[(0, "k", 1)]).await;
                assert!(outcome.decision.admitted);
                assert_eq!(outcome.limits[0].outcome.standing.remaining, remaining);
            }
        });
    }
}

#[test]
fn red_21_one_moment_holds_many_entries() {
    for world in worlds(&[("log", log(5, 10)), ("slots", slots(5, 10))]) {
        run(async {
            for limit in 0..2 {
                assert_eq!(world.admitted(10, &[(limit, "k", 1)]).await, 5);
            }
            let mut client = world.store.server.client().expect("a connection");
            let mut sizes = Vec::new();
            for key in world.store.server.keys() {
                let size: Result<u64, _> = redis::cmd("LLEN").arg(&key).query(&mut client);
                // Slots have a member more, which tells their sum.
                sizes.push(size.unwrap_or_else(|_| {
                    redis::cmd("ZCARD").arg(&key).query(&mut client).expect("a sorted set")
                }));
            }
            sizes.sort_unstable();
            assert_eq!(sizes, [5, 6]);
        });
    }
}

#[test]
fn a_large_log_is_trimmed_where_it_is() {
    for mut world in worlds(&[("log", log(10_000, 60))]) {
        run(async {
            assert_eq!(world.admitted(2_000, &[(0, "k", 5)]).await, 2_000);
            let refused = world.charge(&[(0, "k", 1)]).await;
            assert_eq!(refused.decision.retry, Retry::After(tollgate_core::Micros::from_secs(60)));
            world.now = seconds(61);
            assert!(world.admits(&[(0, "k", 1)]).await);
            let keys = world.store.server.keys();
            let mut client = world.store.server.client().expect("a connection");
            let size: u64 = redis::cmd("LLEN").arg(&keys[0]).query(&mut client).expect("a list");
            assert_eq!(size, 1);
        });
    }
}

#[test]
fn num_05_microseconds_are_not_printed_in_fourteen_digits() {
    for mut world in worlds(&[("l", bucket(1, 1, 1))]) {
        run(async {
            world.now = Timestamp::from_micros(1_795_651_234_567_890);
            assert!(world.admits(&[(0, "k", 1)]).await);
            world.now = Timestamp::from_micros(1_795_651_235_567_889);
            assert!(!world.admits(&[(0, "k", 1)]).await);
            world.now = Timestamp::from_micros(1_795_651_235_567_890);
            assert!(world.admits(&[(0, "k", 1)]).await);
        });
    }
}

#[test]
fn two_secrets_and_two_namespaces_count_apart() {
    let Some(program) = Program::redis() else { return };
    let first = Hosted::replay(&program);
    let mut options = tollgate_store::RedisOptions::from_url(&first.server.url()).expect("a URL");
    options.virtual_time = true;
    options.budget = std::time::Duration::from_secs(20);
    let mut others = Vec::new();
    for (secret, namespace) in [("", "shop"), ("one", ""), ("two", "")] {
        options.secret = tollgate_store::Secret(secret.into());
        options.namespace = namespace.to_owned();
        others.push(tollgate_store::RedisStore::start(&options).expect("a store"));
    }
    run(async {
        for store in std::iter::once(&first.store).chain(&others) {
            store.ready(std::time::Duration::from_secs(20)).await.expect("a connection");
            let ids = store.define(&[definition("l", &fixed(3, 60))], at(0));
            let charge = tollgate_store::Charge { limit: ids[0], key: b"k", cost: 3, period: None };
            let now = Timestamp::from_micros(START);
            let call = tollgate_store::Call { charges: &[charge], now, hold: None };
            assert!(store.charge_all(&call).await.expect("an answer").decision.admitted);
        }
    });
    assert_eq!(first.server.keys().len(), 4);
}
