//! States as plain words, for tables that keep millions of them.

use crate::kept::{Count, Pair, Slot};
use crate::plan::Plan;
use crate::{Limit, State};

/// How many 64-bit words hold any state of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Words {
    /// One: a bucket of ordinary parameters.
    One,
    /// Two: wide buckets, fixed windows, quotas, and sliding windows of one cell whose counts fit 32 bits.
    Two,
    /// No fixed number: keep the [`State`] itself.
    Boxed,
}

impl Limit {
    /// How many words hold a state of this limit.
    #[must_use]
    pub fn words(&self) -> Words {
        match self.plan() {
            Plan::Closed | Plan::Bucket(_) => Words::One,
            Plan::WideBucket(_) | Plan::FixedWindow(_) | Plan::Quota(_) => Words::Two,
            Plan::SlidingPair(plan) if u32::try_from(plan.allowance.most).is_ok() => Words::Two,
            Plan::SlidingPair(_)
            | Plan::SlidingCells(_)
            | Plan::SlidingLog(_)
            | Plan::Concurrency(_) => Words::Boxed,
        }
    }

    /// `state` as words; the second is 0 where [`Limit::words`] is one. Nothing is lost, but for the difference between
    /// [`State::Fresh`] and a state that is as fresh as that. Not for [`Words::Boxed`]: there it is all zeros.
    #[must_use]
    #[inline]
    pub fn encode(&self, state: &State) -> [u64; 2] {
        match self.plan() {
            Plan::Bucket(plan) => words(state.get().unwrap_or(plan.0.fresh)),
            Plan::WideBucket(plan) => words(state.get().unwrap_or(plan.fresh)),
            Plan::FixedWindow(_) | Plan::Quota(_) => {
                words::<Count>(state.get().unwrap_or_default())
            }
            Plan::SlidingPair(_) => words::<Pair>(state.get().unwrap_or_default()),
            _ => [0, 0],
        }
    }

    /// The state that [`Limit::encode`] wrote. [`Limit::encode`] of [`State::Fresh`] is what an unknown key starts with.
    #[must_use]
    #[inline]
    pub fn decode(&self, words: [u64; 2]) -> State {
        match self.plan() {
            Plan::Bucket(_) => state::<u64>(words),
            Plan::WideBucket(_) => state::<u128>(words),
            Plan::FixedWindow(_) | Plan::Quota(_) => state::<Count>(words),
            Plan::SlidingPair(_) => state::<Pair>(words),
            _ => State::Fresh,
        }
    }
}

#[inline]
fn words<T>(number: T) -> [u64; 2]
where
    [u64; 2]: Slot<T>,
{
    let mut words = [0; 2];
    words.set(number);
    words
}

#[inline]
fn state<T>(words: [u64; 2]) -> State
where
    [u64; 2]: Slot<T>,
    State: Slot<T>,
{
    let mut state = State::Fresh;
    if let Some(number) = words.get() {
        state.set(number);
    }
    state
}
