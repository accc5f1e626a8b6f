//! Which keys of a limit are as fresh as new, and forgetting them.

use tollgate_core::Timestamp;

use super::counter::{Counter, Counts, Moved};
use super::hash::KeyHash;
use super::locked::Shard;
use super::table::Judge;

/// What was found when a shard was swept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    /// Keys forgotten.
    pub(crate) freed: usize,
    /// When the first of the others is as fresh as new, in microseconds since the epoch.
    pub(crate) lowest: u64,
}

/// A limit's judgement at a moment.
pub(crate) struct At<'c> {
    counter: &'c Counter,
    now: Timestamp,
    keep: &'c [KeyHash],
}

impl Judge for At<'_> {
    fn fresh_at(&self, words: [u64; 2]) -> Option<u64> {
        self.counter.fresh_at(&self.counter.limit.decode(words), self.now)
    }

    fn keeps(&self, fingerprint: u64) -> bool {
        self.keep.iter().any(|key| key.fingerprint == fingerprint)
    }
}

impl Counter {
    /// The judgement at `now`, which lets go of none of `keep`.
    pub(crate) fn judge<'c>(&'c self, now: Timestamp, keep: &'c [KeyHash]) -> At<'c> {
        At { counter: self, now, keep }
    }

    /// Forgets the keys of a shard that are as fresh as new, but for `keep`.
    pub(crate) fn forget_fresh(&self, shard: usize, now: Timestamp, keep: &[KeyHash]) -> Swept {
        match &self.counts {
            Counts::Table(table) => {
                let (freed, lowest) = table.forget_fresh(shard, &self.judge(now, keep));
                self.room.leave(freed);
                Swept { freed, lowest }
            }
            Counts::Locked(locked) => match self.lock(locked, shard) {
                Ok(mut guard) => {
                    let swept = self.forget_fresh_in(&mut guard, now, keep);
                    if guard.keys.len() < guard.keys.capacity() / 4 {
                        guard.keys.shrink_to_fit();
                    }
                    swept
                }
                Err(Moved) => Swept { freed: 0, lowest: u64::MAX },
            },
        }
    }

    /// The like, in a shard that the caller has locked.
    pub(crate) fn forget_fresh_in(
        &self,
        shard: &mut Shard,
        now: Timestamp,
        keep: &[KeyHash],
    ) -> Swept {
        let mut swept = Swept { freed: 0, lowest: u64::MAX };
        let judge = self.judge(now, keep);
        shard.keys.retain(|key, state| {
            let fresh_at = self.fresh_at(state, now);
            if fresh_at.is_some() || judge.keeps(*key as u64) {
                // One that must stay is worth another look soon.
                swept.lowest = swept.lowest.min(fresh_at.unwrap_or(0));
                return true;
            }
            swept.freed += usize::from(*key != KeyHash::OVERFLOW.stored());
            false
        });
        self.room.leave(swept.freed);
        swept
    }
}
