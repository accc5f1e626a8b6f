//! Sixteen keys at once, against sixteen calls.

use std::hint::black_box;

use crate::harness::compare;
use crate::keys::{keys, uniform};
use crate::peers::{BEGIN, Rule, begin, governor_keyed, keyed_exact};
use crate::table::{Measured, Target};

const KEYS: usize = 1_000_000;
const BATCHES: usize = 40_000;

/// A million keys, uniform, admitted.
pub fn run(name: &str) -> Vec<Measured> {
    let keys = keys(KEYS);
    let order = uniform(KEYS, 1 << 21, 3);
    let peer = governor_keyed(Rule::Admits);
    let ours = keyed_exact(Rule::Admits, 2 * KEYS);
    for key in &keys {
        black_box((
            peer.check_key_n(key, begin()).is_ok(),
            ours.check_n(key, BEGIN.into()).is_ok(),
        ));
    }
    let batch = |call: usize| {
        let first = (call * 16) & (order.len() - 1);
        order[first..first + 16].iter().map(|number| &keys[*number as usize])
    };
    vec![compare(
        &format!("{name} keys of 1 M, uniform, admitted"),
        Target::Ratio(0.22),
        1,
        BATCHES,
        |_, call| {
            black_box(ours.check_many(batch(call).map(String::as_str)));
        },
        |_, call| {
            for key in batch(call) {
                black_box(peer.check_key(key).is_ok());
            }
        },
    )]
}
