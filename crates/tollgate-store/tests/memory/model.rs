//! The table against a plain map, under random operations.

use std::collections::HashMap;

use proptest::prelude::*;
use tollgate_core::{Asked, Limit, Micros, Outcome, Retry, Standing, State, Timestamp, step};

use super::world::{bucket, charge, fixed, log, remaining, seconds, store, sweep};

#[derive(Clone, Debug)]
enum Operation {
    Charge { charges: Vec<(usize, u16, u64)>, later: u64 },
    Settle { units: u64 },
    Reset { limit: usize, key: u16 },
    Peek { limit: usize, key: u16 },
    Sweep,
}

fn limits() -> Vec<Limit> {
    vec![bucket(3, 10, 4), fixed(5, 7), bucket(999_999_937, 31_536_000, 3), log(4, 9)]
}

fn operation() -> impl Strategy<Value = Operation> {
    let charge = (0..4_usize, 0..600_u16, 0..4_u64);
    prop_oneof![
        20 => (prop::collection::vec(charge, 1..4), 0..1_500_000_u64)
            .prop_map(|(charges, later)| Operation::Charge { charges, later }),
        4 => (0..4_u64).prop_map(|units| Operation::Settle { units }),
        1 => (0..4_usize, 0..600_u16).prop_map(|(limit, key)| Operation::Reset { limit, key }),
        2 => (0..4_usize, 0..600_u16).prop_map(|(limit, key)| Operation::Peek { limit, key }),
        1 => Just(Operation::Sweep),
    ]
}

const NOTHING: Outcome = Outcome {
    refused: false,
    wait: Micros::ZERO,
    retry: Retry::After(Micros::ZERO),
    units: 0,
    fraction: 0,
    at: Timestamp::EPOCH,
    changed: false,
    standing: Standing { remaining: 0, reset: Micros::ZERO, next: Micros::ZERO },
};

/// States in a map, stepped by core.
#[derive(Default)]
struct Model(HashMap<(usize, u16), State>);

impl Model {
    fn charge(
        &mut self,
        limits: &[Limit],
        charges: &[(usize, u16, u64)],
        now: Timestamp,
        ticket: u64,
    ) -> (bool, Vec<Outcome>) {
        let mut distinct: Vec<((usize, u16), u64)> = Vec::new();
        for (limit, key, cost) in charges {
            match distinct.iter_mut().find(|(place, _)| *place == (*limit, *key)) {
                Some((_, sum)) => *sum += cost,
                None => distinct.push(((*limit, *key), *cost)),
            }
        }
        let state = |(place, _): &(_, _)| self.0.get(place).cloned().unwrap_or_default();
        let mut states: Vec<State> = distinct.iter().map(state).collect();
        let mut asked: Vec<_> = distinct
            .iter()
            .zip(&mut states)
            .map(|((place, cost), state)| Asked {
                limit: &limits[place.0],
                state,
                cost: *cost,
                period: None,
            })
            .collect();
        let mut outcomes = vec![NOTHING; asked.len()];
        let decision = step(&mut asked, now, ticket, None, &mut outcomes);
        for ((place, _), state) in distinct.iter().zip(states) {
            self.0.insert(*place, state);
        }
        let of = |(limit, key, _): &(usize, u16, u64)| {
            outcomes[distinct.iter().position(|(at, _)| *at == (*limit, *key)).expect("there")]
        };
        (decision.admitted, charges.iter().map(of).collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_a_map(operations in prop::collection::vec(operation(), 1..400)) {
        let limits = limits();
        let (store, ids) = store(&limits, 1_000_000);
        let (mut model, mut receipts) = (Model::default(), Vec::new());
        let mut now = seconds(0);
        for operation in operations {
            match operation {
                Operation::Charge { charges, later } => {
                    now = Timestamp::from_micros(now.as_micros() + later);
                    let keys: Vec<_> = charges.iter().map(|(_, key, _)| key.to_string()).collect();
                    let asked: Vec<_> = charges.iter().zip(&keys)
                        .map(|((limit, _, cost), key)| (ids[*limit], key.as_str(), *cost))
                        .collect();
                    let outcome = charge(&store, &asked, now);
                    let ticket = outcome.receipt.taken.first().map_or(0, |taken| taken.charged.ticket);
                    let (admitted, outcomes) = model.charge(&limits, &charges, now, ticket);
                    prop_assert_eq!(outcome.decision.admitted, admitted);
                    let ours: Vec<_> = outcome.limits.iter().map(|limit| limit.outcome).collect();
                    prop_assert_eq!(ours, outcomes);
                    for taken in outcome.receipt.taken {
                        let (limit, key, _) = charges[taken.place];
                        receipts.push((limit, key, taken));
                    }
                }
                Operation::Settle { units } => {
                    let Some((limit, key, taken)) = receipts.pop() else { continue };
                    let state = model.0.entry((limit, key)).or_default();
                    limits[limit].settle(state, &taken.charged, units, None, now);
                    store.settle_now(taken, units, now).expect("an answer");
                }
                Operation::Reset { limit, key } => {
                    model.0.remove(&(limit, key));
                    store.reset_now(ids[limit], key.to_string().as_bytes()).expect("an answer");
                }
                Operation::Peek { limit, key } => {
                    let state = model.0.get(&(limit, key)).cloned().unwrap_or_default();
                    let expected = limits[limit].standing(&state, None, now).remaining;
                    prop_assert_eq!(remaining(&store, ids[limit], &key.to_string(), now), expected);
                }
                Operation::Sweep => sweep(&store, now),
            }
        }
    }
}
