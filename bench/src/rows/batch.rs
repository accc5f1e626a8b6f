//! Sixteen keys at once, against sixteen calls.

use std::hint::black_box;

use crate::harness::{Contest, compare};
use crate::keys::{Key, key, uniform};
use crate::peers::{BEGIN, Rule, begin, governor_keyed, keyed_exact};
use crate::table::{Measured, Target};

const KEYS: usize = 1_000_000;

/// A million keys, uniform, admitted.
pub fn run(name: &str) -> Vec<Measured> {
    let order = uniform(KEYS, 1 << 21, 3);
    let peer = governor_keyed(Rule::Admits);
    let ours = keyed_exact(Rule::Admits, 2 * KEYS);
    for key in (0..KEYS).map(key) {
        black_box((
            peer.check_key_n(&key, begin()).is_ok(),
            ours.check_n(&key, BEGIN.into()).is_ok(),
        ));
    }
    let name = format!("{name} keys of 1 M, uniform, admitted");
    vec![compare(
        &Contest { name: &name, target: Target::Ratio(0.22), threads: 1, calls: 250 },
        |_, call| -> [Key; 16] { std::array::from_fn(|at| key(order.at(call * 16 + at))) },
        |keys| {
            black_box(ours.check_many(keys));
        },
        |keys| {
            for key in keys {
                black_box(peer.check_key(key).is_ok());
            }
        },
    )]
}
