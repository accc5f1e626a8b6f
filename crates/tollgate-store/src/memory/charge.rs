//! Taking all of a call's charges or none.

use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;
use smallvec::SmallVec;
use tollgate_core::{Asked, Decision, Micros, Outcome, Retry, Standing, State, Timestamp, step};

use super::MemoryStore;
use super::hash::KeyHash;
use super::locked::Shard;
use super::plan::{Ask, Plan, Redirected};
use crate::{Call, ChargeOutcome, Receipt, StoreError, StoreOutcome, Taken};

/// How often a newcomer looks for room before it goes to the overflow bucket: others may take the room that it made.
const PATIENCE: usize = 8;

/// Why an attempt came to nothing, and nothing was changed by it.
pub(super) enum Again {
    /// A reload moved counts on: look the limits up again.
    Moved,
    /// The ask at this place has a new key, and its limit remembers as many as it may.
    Full(usize),
}

impl MemoryStore {
    /// [`Store::charge_all`](crate::Store::charge_all), at once.
    ///
    /// # Errors
    /// [`StoreError::UnknownLimit`], [`StoreError::MissingPeriod`].
    pub fn charge_all_now(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let mut redirected = Redirected::new();
        let mut looked = 0;
        loop {
            let registry = self.registry.load();
            let plan = Plan::new(&registry, &self.hasher, call, &redirected)?;
            let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
            match attempt(&plan.asks, call, ticket) {
                Ok((decision, outcomes)) => {
                    return Ok(answer(&plan, call.now, ticket, decision, &outcomes));
                }
                Err(Again::Moved) => {}
                Err(Again::Full(index)) => {
                    let ask = &plan.asks[index];
                    looked += 1;
                    let own: SmallVec<[KeyHash; 4]> = plan.asks.iter().map(|ask| ask.key).collect();
                    if looked > PATIENCE
                        || !self.make_room(&registry, &ask.counter.room, call.now, &own)
                    {
                        ask.counter.room.count_overflow();
                        redirected.push((ask.counter.id, ask.key));
                    }
                }
            }
        }
    }
}

type Outcomes = SmallVec<[Outcome; 4]>;

/// Locks the shards of all keys in one order, steps, and writes back.
fn attempt(asks: &[Ask<'_>], call: &Call<'_>, ticket: u64) -> Result<(Decision, Outcomes), Again> {
    let mut shards = Shards::lock(asks)?;
    shards.enter(asks)?;
    let mut states: SmallVec<[State; 4]> =
        (0..asks.len()).map(|index| shards.take(asks, index)).collect();
    let (decision, outcomes) = step_all(asks, &mut states, call, ticket);
    for (index, state) in states.into_iter().enumerate() {
        shards.put(asks, index, state);
    }
    Ok((decision, outcomes))
}

/// Runs the arithmetic over `states`.
pub(super) fn step_all(
    asks: &[Ask<'_>],
    states: &mut [State],
    call: &Call<'_>,
    ticket: u64,
) -> (Decision, Outcomes) {
    let mut outcomes: Outcomes = SmallVec::from_elem(UNDECIDED, asks.len());
    let mut asked: SmallVec<[Asked<'_>; 4]> = asks
        .iter()
        .zip(states)
        .map(|(ask, state)| {
            ask.counter.saw(ask.period);
            Asked { limit: &ask.counter.limit, state, cost: ask.cost, period: ask.period }
        })
        .collect();
    let decision = step(&mut asked, call.now, ticket, call.hold, &mut outcomes);
    (decision, outcomes)
}

const UNDECIDED: Outcome = Outcome {
    refused: false,
    wait: Micros::ZERO,
    retry: Retry::After(Micros::ZERO),
    units: 0,
    fraction: 0,
    at: Timestamp::EPOCH,
    changed: false,
    standing: Standing { remaining: 0, reset: Micros::ZERO, next: Micros::ZERO },
};

/// The locked shards of a call.
struct Shards<'r> {
    guards: SmallVec<[MutexGuard<'r, Shard>; 4]>,
    /// Which guard each ask means.
    of_ask: SmallVec<[u16; 4]>,
    /// Which asks have a key that is not remembered yet.
    new: SmallVec<[bool; 4]>,
}

impl<'r> Shards<'r> {
    /// Locks every shard once, ordered by limit and number: two calls never wait for each other in a circle.
    fn lock(asks: &[Ask<'r>]) -> Result<Shards<'r>, Again> {
        let place = |ask: &Ask<'_>| (ask.counter.id, ask.counter.locked.shard_of(ask.key));
        let mut order: SmallVec<[u16; 4]> = (0..asks.len() as u16).collect();
        order.sort_unstable_by_key(|&index| place(&asks[index as usize]));
        let mut guards = SmallVec::new();
        let mut of_ask = SmallVec::from_elem(0, asks.len());
        let mut last = None;
        for index in order {
            let ask = &asks[index as usize];
            let here = place(ask);
            if last != Some(here) {
                guards.push(ask.counter.lock(here.1).ok_or(Again::Moved)?);
                last = Some(here);
            }
            of_ask[index as usize] = guards.len() as u16 - 1;
        }
        Ok(Shards { guards, of_ask, new: SmallVec::new() })
    }

    fn shard(&mut self, index: usize) -> &mut Shard {
        &mut self.guards[self.of_ask[index] as usize]
    }

    /// Finds room for all new keys, or takes none.
    fn enter(&mut self, asks: &[Ask<'_>]) -> Result<(), Again> {
        for (index, ask) in asks.iter().enumerate() {
            let new = !self.shard(index).keys.contains_key(&ask.key.to_u128());
            if new && !enters(ask) {
                for (ask, _) in asks.iter().zip(&self.new).filter(|(_, new)| **new) {
                    leaves(ask);
                }
                return Err(Again::Full(index));
            }
            self.new.push(new);
        }
        Ok(())
    }

    fn take(&mut self, asks: &[Ask<'_>], index: usize) -> State {
        let key = asks[index].key.to_u128();
        self.shard(index).keys.get_mut(&key).map(std::mem::take).unwrap_or_default()
    }

    /// Writes a state back; a new key that nothing was taken from is not remembered.
    fn put(&mut self, asks: &[Ask<'_>], index: usize, state: State) {
        let ask = &asks[index];
        if self.new[index] {
            if state == State::Fresh {
                leaves(ask);
                return;
            }
            let room = &ask.counter.room;
            if room.is_full() {
                room.frees_at(0);
            }
        }
        self.shard(index).keys.insert(ask.key.to_u128(), state);
    }
}

/// A place for the ask's key; the overflow bucket needs none.
fn enters(ask: &Ask<'_>) -> bool {
    ask.key == KeyHash::OVERFLOW || ask.counter.room.enter()
}

fn leaves(ask: &Ask<'_>) {
    if ask.key != KeyHash::OVERFLOW {
        ask.counter.room.leave(1);
    }
}

fn answer(
    plan: &Plan<'_>,
    now: Timestamp,
    ticket: u64,
    decision: Decision,
    outcomes: &[Outcome],
) -> StoreOutcome {
    let of_charge = plan.of_charge.iter();
    let limits =
        of_charge.map(|index| ChargeOutcome { outcome: outcomes[*index as usize] }).collect();
    let taken = plan.asks.iter().zip(outcomes).filter_map(|(ask, outcome)| {
        Some(Taken {
            place: ask.place,
            limit: ask.counter.id,
            key: ask.key.to_u128(),
            charged: outcome.charged(ticket)?,
            period: ask.period,
        })
    });
    StoreOutcome { decision, limits, receipt: Receipt { taken: taken.collect() }, now }
}
