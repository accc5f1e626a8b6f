//! Forgetting keys that are as fresh as new: to make room for newcomers, and because nobody asks for them any more.

use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::Timestamp;

use super::MemoryStore;
use super::counter::Counter;
use super::hash::KeyHash;
use super::plan::Ask;
use super::room::Room;
use crate::registry::Registry;

/// Most shards that one newcomer searches: the rest is searched by the next ones.
const SHARDS_A_SEARCH: usize = 4;

/// Limits of at most so many keys are searched whole.
const SMALL: usize = 16_384;

/// Looks for keys of a limit that are as fresh as new and forgets those it finds, but for `own`; says whether there is room
/// now. A bounded piece of the search at a time, unless the limit is small. `classes` are all that share the room.
pub(crate) fn make_room(
    classes: &[&Arc<Counter>],
    room: &Room,
    now: Timestamp,
    own: &[KeyHash],
) -> bool {
    if !room.is_full() {
        return true;
    }
    if !room.may_free(now) {
        return false;
    }
    let total: usize = classes.iter().map(|counter| counter.shards()).sum();
    let mut search = room.search.lock();
    for _ in 0..SHARDS_A_SEARCH.max(if room.max() <= SMALL { total } else { 0 }) {
        if search.fruitless == 0 {
            search.lowest = u64::MAX;
            room.search_begins();
        }
        let Some((counter, shard)) = nth_shard(classes, search.position % total) else {
            return false;
        };
        let swept = counter.forget_fresh(shard, now, own);
        search.position = (search.position + 1) % total;
        search.lowest = search.lowest.min(swept.lowest);
        if swept.freed > 0 {
            room.count_evicted(swept.freed);
            search.fruitless = 0;
            return !room.is_full();
        }
        search.fruitless += 1;
        if search.fruitless >= total {
            search.fruitless = 0;
            room.none_before(search.lowest);
            return false;
        }
    }
    false
}

impl MemoryStore {
    /// Looks for room for the ask at `index`.
    pub(super) fn make_room_for(
        &self,
        registry: &Registry<Counter>,
        asks: &[Ask<'_>],
        index: usize,
        now: Timestamp,
    ) -> bool {
        let room = &asks[index].counter.room;
        let own: SmallVec<[KeyHash; 4]> = asks.iter().map(|ask| ask.key).collect();
        let classes: SmallVec<[&Arc<Counter>; 4]> =
            registry.all().filter(|counter| Arc::ptr_eq(&counter.room, room)).collect();
        make_room(&classes, room, now, &own)
    }

    /// Does a bounded piece of the sweep that forgets keys as fresh as new; `true` when a whole round is done.
    ///
    /// Calls do the like as they bring new keys; a server calls it now and then so that an idle store shrinks too.
    pub fn sweep(&self, now: Timestamp) -> bool {
        let registry = self.registry.load();
        let counters: SmallVec<[&Arc<Counter>; 16]> = registry.all().collect();
        let total: usize = counters.iter().map(|counter| counter.shards()).sum();
        let mut position = self.sweep.lock();
        match nth_shard(&counters, *position) {
            Some((counter, shard)) => {
                let swept = counter.forget_fresh(shard, now, &[]);
                if swept.freed > 0 {
                    counter.room.frees_at(0);
                }
                *position += 1;
            }
            None => *position = 0,
        }
        if *position >= total {
            *position = 0;
        }
        *position == 0
    }
}

/// The shard at `position`, counted through all of `counters`.
fn nth_shard<'r>(counters: &[&'r Arc<Counter>], position: usize) -> Option<(&'r Counter, usize)> {
    let mut left = position;
    for counter in counters {
        match left.checked_sub(counter.shards()) {
            Some(rest) => left = rest,
            None => return Some((counter, left)),
        }
    }
    None
}
