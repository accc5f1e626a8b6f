//! A million keys.

use std::hint::black_box;

use crate::harness::{Contest, compare};
use crate::keys::{key, uniform, zipf};
use crate::peers::{BEGIN, Rule, begin, governor_keyed, keyed_exact};
use crate::table::{Measured, Target};

const KEYS: usize = 1_000_000;

/// Uniform and by Zipf's law, by one and two threads, admitted and refused.
pub fn run(name: &str) -> Vec<Measured> {
    let orders = [("uniform", uniform(KEYS, 1 << 21, 1)), ("Zipf", zipf(KEYS, 1 << 21, 2))];
    let mut rows = Vec::new();
    for (what, rule) in [("admitted", Rule::Admits), ("refused", Rule::Refuses)] {
        let peer = governor_keyed(rule);
        let ours = keyed_exact(rule, 2 * KEYS);
        for key in (0..KEYS).map(key) {
            // What refuses takes the one unit that there is; what admits begins with many.
            black_box((peer.check_key_n(&key, begin()).is_ok(), peer.check_key(&key).is_ok()));
            black_box((ours.check_n(&key, BEGIN.into()).is_ok(), ours.check(&key).is_ok()));
        }
        for (order_name, order) in &orders {
            for threads in [1, 2] {
                let name = format!("{name}: {order_name}, {what}, {threads} threads");
                let contest =
                    Contest { name: &name, target: Target::Ratio(0.5), threads, calls: 4000 };
                rows.push(compare(
                    &contest,
                    // The second thread is elsewhere in the same order.
                    |thread, call| key(order.at(call + thread * 1_000_003)),
                    |key| {
                        black_box(ours.check(key).is_ok());
                    },
                    |key| {
                        black_box(peer.check_key(key).is_ok());
                    },
                ));
            }
        }
    }
    rows
}
