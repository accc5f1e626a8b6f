//! The contract in its plainest form: core on states in a map, kept where core says that they changed. It stands in for the
//! memory store where clocks step back over states that the memory store tidies in place.

use std::collections::HashMap;

use parking_lot::Mutex;
use tollgate_core::{Asked, Charged, Limit, Outcome, Period, Standing, State, Timestamp, step};
use tollgate_store::{
    Call, Charge, ChargeOutcome, Definition, LimitId, Receipt, Source, Store, StoreError,
    StoreOutcome, Taken,
};

/// A key: its limit, and its bytes in one number (tests' keys are short).
type Key = (u32, u128);

/// The store.
#[derive(Debug, Default)]
pub(crate) struct Model(Mutex<World>);

#[derive(Debug, Default)]
struct World {
    limits: Vec<Limit>,
    states: HashMap<Key, State>,
    tickets: u64,
}

fn key(limit: LimitId, bytes: &[u8]) -> Key {
    (limit.0, bytes.iter().fold(1, |key, byte| (key << 8) | u128::from(*byte)))
}

impl World {
    fn change(&mut self, key: Key, change: impl Fn(&Limit, &mut State) -> bool) {
        let mut state = self.states.get(&key).cloned().unwrap_or_default();
        if change(&self.limits[key.0 as usize], &mut state) {
            self.states.insert(key, state);
        }
    }

    fn decide(&mut self, call: &Call<'_>) -> StoreOutcome {
        self.tickets += 1;
        let mut asks: Vec<(Key, u64, Option<Period>, usize)> = Vec::new();
        let mut of_charge = Vec::new();
        for (place, charge) in call.charges.iter().enumerate() {
            let key = key(charge.limit, charge.key);
            let index = asks.iter().position(|ask| ask.0 == key).unwrap_or(asks.len());
            match asks.get_mut(index) {
                Some(ask) => ask.1 = ask.1.saturating_add(charge.cost),
                None => asks.push((key, charge.cost, charge.period, place)),
            }
            of_charge.push(index);
        }
        let mut states: Vec<State> =
            asks.iter().map(|ask| self.states.get(&ask.0).cloned().unwrap_or_default()).collect();
        let mut outcomes = vec![Outcome::default(); asks.len()];
        let mut asked: Vec<Asked<'_>> = Vec::new();
        for ((key, cost, period, _), state) in asks.iter().zip(&mut states) {
            let limit = &self.limits[key.0 as usize];
            asked.push(Asked { limit, state, cost: *cost, period: *period });
        }
        let decision = step(&mut asked, call.now, self.tickets, call.hold, &mut outcomes);
        let mut receipt = Receipt::default();
        for ((ask, outcome), state) in asks.iter().zip(&outcomes).zip(states) {
            let (key, _, period, place) = *ask;
            if outcome.changed {
                self.states.insert(key, state);
            }
            if let Some(charged) = outcome.charged(self.tickets) {
                let (limit, key, source) = (LimitId(key.0), key.1, Source::Store);
                receipt.taken.push(Taken { place, limit, key, charged, period, source });
            }
        }
        let say = |index: usize| ChargeOutcome { outcome: outcomes[index], source: Source::Store };
        let limits = of_charge.into_iter().map(say).collect();
        StoreOutcome { decision, limits, receipt, now: call.now }
    }
}

impl Store for Model {
    fn define(&self, definitions: &[Definition], _: Timestamp) -> Vec<LimitId> {
        let mut world = self.0.lock();
        world.limits = definitions.iter().map(|definition| definition.limit.clone()).collect();
        (0..definitions.len() as u32).map(LimitId).collect()
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        Ok(self.0.lock().decide(call))
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        let Taken { limit, key, charged, period, .. } = taken;
        let period = period.map(|period| if now < period.end { period } else { after(period) });
        self.0.lock().change((limit.0, key), |limit, state| {
            limit.settle(state, &charged, units, period, now)
        });
        Ok(())
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        let charged: Charged = taken.charged;
        self.0
            .lock()
            .change((taken.limit.0, taken.key), |limit, state| limit.release(state, &charged, now));
        Ok(())
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        let world = self.0.lock();
        let state = world.states.get(&key(charge.limit, charge.key)).cloned().unwrap_or_default();
        Ok(world.limits[charge.limit.0 as usize].standing(&state, charge.period, now))
    }

    async fn reset(&self, limit: LimitId, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.lock().states.remove(&key(limit, bytes));
        Ok(())
    }
}

/// What is known of the time behind `period`.
fn after(period: Period) -> Period {
    Period { start: period.end, end: Timestamp::MAX }
}
