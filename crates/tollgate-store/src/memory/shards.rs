//! The locked maps of an attempt.

use parking_lot::MutexGuard;
use smallvec::SmallVec;
use tollgate_core::{State, Timestamp};

use super::attempt::Again;
use super::counter::Counts;
use super::hash::KeyHash;
use super::locked::Shard;
use super::plan::Ask;

/// Those shards of locked maps that hold keys of the attempt, each once.
pub(super) struct Shards<'r> {
    guards: SmallVec<[MutexGuard<'r, Shard>; 4]>,
    /// Which guard holds each ask; `None` where its states are in a table.
    of_ask: SmallVec<[Option<u16>; 4]>,
    /// Which asks have a key that is not remembered yet, as far as they were looked at.
    new: SmallVec<[bool; 4]>,
}

/// The state of each ask, while it is out of its map; `None` where it is in a table.
pub(super) type States = SmallVec<[Option<State>; 4]>;

impl<'r> Shards<'r> {
    /// Locks the shards ordered by limit and number, so that two attempts never wait for each other in a circle.
    pub(super) fn lock(asks: &[Ask<'r>]) -> Result<Shards<'r>, Again> {
        let mut order: SmallVec<[(crate::LimitId, usize, usize); 4]> = SmallVec::new();
        for (index, ask) in asks.iter().enumerate() {
            if let Counts::Locked(locked) = &ask.counter.counts {
                order.push((ask.counter.id, locked.shard_of(ask.key), index));
            }
        }
        order.sort_unstable();
        let mut shards = Shards {
            guards: SmallVec::new(),
            of_ask: SmallVec::from_elem(None, asks.len()),
            new: SmallVec::new(),
        };
        let mut last = None;
        for (limit, shard, index) in order {
            let Counts::Locked(locked) = &asks[index].counter.counts else { continue };
            if last != Some((limit, shard)) {
                shards.guards.push(asks[index].counter.lock(locked, shard)?);
                last = Some((limit, shard));
            }
            shards.of_ask[index] = Some(shards.guards.len() as u16 - 1);
        }
        Ok(shards)
    }

    fn shard(&mut self, index: usize) -> Option<&mut Shard> {
        self.of_ask[index].map(|guard| &mut *self.guards[guard as usize])
    }

    /// Finds room for all new keys, or takes none.
    pub(super) fn enter(&mut self, asks: &[Ask<'_>]) -> Result<(), Again> {
        for (index, ask) in asks.iter().enumerate() {
            let stored = ask.key.stored();
            let new = self.shard(index).is_some_and(|shard| !shard.keys.contains_key(&stored));
            if new && ask.key != KeyHash::OVERFLOW && !ask.counter.room.enter() {
                self.leave(asks);
                return Err(Again::Full(index));
            }
            self.new.push(new);
        }
        Ok(())
    }

    /// Gives back the room that was found.
    pub(super) fn leave(&mut self, asks: &[Ask<'_>]) {
        for (ask, new) in asks.iter().zip(self.new.drain(..)) {
            leave(ask, new);
        }
    }

    /// Takes the states out; a new key's is fresh.
    pub(super) fn take_all(&mut self, asks: &[Ask<'_>]) -> States {
        let take = |(index, ask): (usize, &Ask<'_>)| {
            let shard = self.shard(index)?;
            Some(shard.keys.get_mut(&ask.key.stored()).map(std::mem::take).unwrap_or_default())
        };
        asks.iter().enumerate().map(take).collect()
    }

    /// Writes the states back; a new key that nothing was taken from is not remembered.
    pub(super) fn put_all(mut self, asks: &[Ask<'_>], states: States, now: Timestamp) {
        for (index, state) in states.into_iter().enumerate() {
            let new = self.new[index];
            let (Some(shard), Some(state)) = (self.shard(index), state) else { continue };
            let ask = &asks[index];
            if new && !ask.outcome.changed {
                leave(ask, true);
                continue;
            }
            if new && shard.keys.len() == shard.keys.capacity() {
                // Before it grows: perhaps it need not. The request's own keys look fresh while their states are out.
                let own: SmallVec<[KeyHash; 4]> = asks.iter().map(|ask| ask.key).collect();
                ask.counter.forget_fresh_in(shard, now, &own);
            }
            shard.keys.insert(ask.key.stored(), state);
        }
    }
}

fn leave(ask: &Ask<'_>, new: bool) {
    if new && ask.key != KeyHash::OVERFLOW {
        ask.counter.room.leave(1);
    }
}
