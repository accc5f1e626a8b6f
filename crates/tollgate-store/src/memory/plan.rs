//! What a call asks for, by distinct keys.

use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Algorithm, Period};

use super::counter::Counter;
use super::hash::{KeyHash, KeyHasher};
use super::registry::Registry;
use crate::{Call, LimitId, StoreError};

/// One distinct (limit, key) of a call.
#[derive(Debug)]
pub(crate) struct Ask<'r> {
    pub(crate) counter: &'r Arc<Counter>,
    pub(crate) key: KeyHash,
    pub(crate) cost: u64,
    pub(crate) period: Option<Period>,
    /// The first charge that asks for it.
    pub(crate) place: usize,
}

/// A call's distinct keys, and which of them each charge means.
#[derive(Debug)]
pub(crate) struct Plan<'r> {
    pub(crate) asks: SmallVec<[Ask<'r>; 4]>,
    pub(crate) of_charge: SmallVec<[u16; 4]>,
}

/// Which charges go to the overflow bucket of their limit instead.
pub(crate) type Redirected = SmallVec<[(LimitId, KeyHash); 2]>;

impl<'r> Plan<'r> {
    /// Adds up charges with equal limit and key.
    pub(crate) fn new(
        registry: &'r Registry,
        hasher: &KeyHasher,
        call: &Call<'_>,
        redirected: &Redirected,
    ) -> Result<Plan<'r>, StoreError> {
        let mut plan = Plan { asks: SmallVec::new(), of_charge: SmallVec::new() };
        for (place, charge) in call.charges.iter().enumerate() {
            let counter = registry.get(charge.limit)?;
            if charge.period.is_none() && matches!(counter.limit.algorithm(), Algorithm::Quota(_)) {
                return Err(StoreError::MissingPeriod(charge.limit));
            }
            let mut key = hasher.hash(charge.key);
            if redirected.contains(&(charge.limit, key)) {
                key = KeyHash::OVERFLOW;
            }
            plan.add(Ask { counter, key, cost: charge.cost, period: charge.period, place });
        }
        Ok(plan)
    }

    fn add(&mut self, ask: Ask<'r>) {
        let same = |other: &Ask<'_>| other.counter.id == ask.counter.id && other.key == ask.key;
        let index = match self.asks.iter().position(same) {
            Some(index) => {
                // Beyond 2^64 no limit admits anyway.
                self.asks[index].cost = self.asks[index].cost.saturating_add(ask.cost);
                index
            }
            None => {
                self.asks.push(ask);
                self.asks.len() - 1
            }
        };
        self.of_charge.push(index as u16);
    }
}
