//! The locked lines of an attempt.

use smallvec::SmallVec;
use tollgate_core::State;

use super::attempt::{Again, Looks};
use super::counter::Counts;
use super::plan::Ask;
use super::table::{Look, Table};
use crate::LimitId;

/// Lines locked under the versions that were read, each once.
pub(super) struct Lines<'r> {
    held: SmallVec<[Held<'r>; 4]>,
    /// Which asks they hold: all of those that were to be locked.
    asks: SmallVec<[u16; 4]>,
}

struct Held<'r> {
    table: &'r Table,
    limit: LimitId,
    look: Look,
    /// The asks whose keys are in it: a stretch of `Lines::asks`.
    from: u16,
    to: u16,
}

impl<'r> Lines<'r> {
    /// Locks the lines of those asks that `wanted` names, in one order, without waiting.
    #[inline]
    pub(super) fn lock(
        asks: &[Ask<'r>],
        looks: &Looks,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Lines<'r>, Again> {
        let mut order: SmallVec<[u16; 4]> = SmallVec::new();
        for index in 0..asks.len() {
            if looks[index].is_some() && wanted(index) {
                order.push(index as u16);
            }
        }
        // Mostly the limits are in the order of their ids, each once.
        let in_order =
            |pair: &[u16]| asks[pair[0] as usize].counter.id < asks[pair[1] as usize].counter.id;
        if !order.windows(2).all(in_order) {
            let place = |index: &u16| {
                let index = *index as usize;
                (asks[index].counter.id, looks[index].map(|look| look.line()))
            };
            order.sort_unstable_by_key(place);
        }
        let mut lines = Lines { held: SmallVec::new(), asks: order };
        for at in 0..lines.asks.len() {
            let index = lines.asks[at] as usize;
            let (Counts::Table(table), Some(look)) = (&asks[index].counter.counts, looks[index])
            else {
                continue;
            };
            if !lines.lock_one(table, asks[index].counter.id, look, at as u16) {
                lines.unlock(|_| false);
                return Err(Again::Changed);
            }
        }
        Ok(lines)
    }

    #[inline]
    fn lock_one(&mut self, table: &'r Table, limit: LimitId, look: Look, at: u16) -> bool {
        if let Some(last) = self.held.last_mut()
            && last.limit == limit
            && last.look.line() == look.line()
        {
            last.to = at + 1;
            return table.same_version(&last.look, &look);
        }
        let locked = table.try_lock(&look);
        if locked {
            self.held.push(Held { table, limit, look, from: at, to: at + 1 });
        }
        locked
    }

    /// Whether the lines of all other asks still are as they were read.
    #[inline]
    pub(super) fn others_still(&self, asks: &[Ask<'_>], looks: &Looks) -> bool {
        if self.asks.len() == asks.len() {
            return true;
        }
        asks.iter().zip(looks).enumerate().all(|(index, (ask, look))| {
            let (Counts::Table(table), Some(look)) = (&ask.counter.counts, look) else {
                return true;
            };
            let held = |shard, line| {
                let here = |held: &Held<'_>| {
                    held.limit == ask.counter.id && held.look.line() == (shard, line)
                };
                self.held.iter().any(here)
            };
            self.asks.contains(&(index as u16)) || table.still(look, held)
        })
    }

    /// Writes the states of all asks that are held.
    #[inline]
    pub(super) fn write(&self, asks: &[Ask<'_>], looks: &Looks, states: &[State]) {
        self.write_some(asks, looks, states, |_| true);
    }

    /// Writes the states of those asks that `changed` names.
    #[inline]
    pub(super) fn write_some(
        &self,
        asks: &[Ask<'_>],
        looks: &Looks,
        states: &[State],
        changed: impl Fn(usize) -> bool,
    ) {
        for index in self.asks.iter().map(|index| *index as usize) {
            let (Counts::Table(table), Some(look)) = (&asks[index].counter.counts, &looks[index])
            else {
                continue;
            };
            if changed(index) {
                table.write(look, asks[index].counter.limit.encode(&states[index]));
            }
        }
    }

    /// Unlocks all; those that hold a changed ask's key get their next version.
    #[inline]
    pub(super) fn unlock(self, changed: impl Fn(usize) -> bool) {
        for held in &self.held {
            let mut within = self.asks[held.from as usize..held.to as usize].iter();
            held.table.unlock(&held.look, within.any(|index| changed(*index as usize)));
        }
    }
}
