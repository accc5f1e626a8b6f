//! A million keys.

use std::hint::black_box;

use crate::harness::compare;
use crate::keys::{keys, uniform, zipf};
use crate::peers::{BEGIN, Rule, begin, governor_keyed, keyed_exact};
use crate::table::{Measured, Target};

const KEYS: usize = 1_000_000;
const CALLS: usize = 500_000;

/// Uniform and by Zipf's law, by one and two threads, admitted and refused.
pub fn run(name: &str) -> Vec<Measured> {
    let keys = keys(KEYS);
    let orders = [("uniform", uniform(KEYS, 1 << 21, 1)), ("Zipf", zipf(KEYS, 1 << 21, 2))];
    let mut rows = Vec::new();
    for (what, rule) in [("admitted", Rule::Admits), ("refused", Rule::Refuses)] {
        let peer = governor_keyed(rule);
        let ours = keyed_exact(rule, 2 * KEYS);
        for key in &keys {
            // What refuses takes the one unit that there is; what admits begins with many.
            black_box((peer.check_key_n(key, begin()).is_ok(), peer.check_key(key).is_ok()));
            black_box((ours.check_n(key, BEGIN.into()).is_ok(), ours.check(key).is_ok()));
        }
        for (order_name, order) in &orders {
            for threads in [1, 2] {
                // The second thread is elsewhere in the same order.
                let key = |thread: usize, call: usize| {
                    &keys[order[(call + thread * 1_000_003) & (order.len() - 1)] as usize]
                };
                rows.push(compare(
                    &format!("{name}: {order_name}, {what}, {threads} threads"),
                    Target::Ratio(0.5),
                    threads,
                    CALLS,
                    |thread, call| {
                        black_box(ours.check(key(thread, call)).is_ok());
                    },
                    |thread, call| {
                        black_box(peer.check_key(key(thread, call)).is_ok());
                    },
                ));
            }
        }
    }
    rows
}
