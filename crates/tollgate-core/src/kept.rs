//! Where the numbers of one key are kept: in a [`State`], or in the words that a table has of it.

use crate::State;

/// Where a number of the kind `T` is kept.
pub(crate) trait Slot<T> {
    /// The number; `None` where something else is kept, which counts as fresh.
    fn get(&self) -> Option<T>;
    /// Keeps the number.
    fn set(&mut self, number: T);
}

/// Where any state is kept.
pub(crate) trait Kept: Slot<u64> + Slot<u128> + Slot<Count> + Slot<Pair> {
    /// The state, where it may be one that no fixed number of words holds.
    fn state(&mut self) -> Option<&mut State>;
}

/// A fixed window or a quota's period, and what it holds: [`State::Count`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) start: u64,
    pub(crate) count: u64,
}

/// A sliding window of one cell: [`State::Pair`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) cell: u64,
    pub(crate) previous: u64,
    pub(crate) current: u64,
}

impl Kept for State {
    #[inline]
    fn state(&mut self) -> Option<&mut State> {
        Some(self)
    }
}

/// As [`Limit::encode`](crate::Limit::encode) writes them.
impl Kept for [u64; 2] {
    #[inline]
    fn state(&mut self) -> Option<&mut State> {
        None
    }
}

impl Slot<u64> for State {
    #[inline]
    fn get(&self) -> Option<u64> {
        match self {
            State::Bucket(word) => Some(*word),
            _ => None,
        }
    }

    #[inline]
    fn set(&mut self, number: u64) {
        // Without the second arm's drop where it need not be; so below.
        match self {
            State::Bucket(word) => *word = number,
            _ => *self = State::Bucket(number),
        }
    }
}

impl Slot<u128> for State {
    #[inline]
    fn get(&self) -> Option<u128> {
        match self {
            State::WideBucket(word) => Some(*word),
            _ => None,
        }
    }

    #[inline]
    fn set(&mut self, number: u128) {
        match self {
            State::WideBucket(word) => *word = number,
            _ => *self = State::WideBucket(number),
        }
    }
}

impl Slot<Count> for State {
    #[inline]
    fn get(&self) -> Option<Count> {
        match *self {
            State::Count { start, count } => Some(Count { start, count }),
            _ => None,
        }
    }

    #[inline]
    fn set(&mut self, Count { start, count }: Count) {
        match self {
            State::Count { start: first, count: units } => (*first, *units) = (start, count),
            _ => *self = State::Count { start, count },
        }
    }
}

impl Slot<Pair> for State {
    #[inline]
    fn get(&self) -> Option<Pair> {
        match *self {
            State::Pair { cell, previous, current } => Some(Pair { cell, previous, current }),
            _ => None,
        }
    }

    #[inline]
    fn set(&mut self, new: Pair) {
        let Pair { cell, previous, current } = new;
        match self {
            State::Pair { cell: newest, previous: before, current: units } => {
                (*newest, *before, *units) = (cell, previous, current);
            }
            _ => *self = State::Pair { cell, previous, current },
        }
    }
}

impl Slot<u64> for [u64; 2] {
    #[inline]
    fn get(&self) -> Option<u64> {
        Some(self[0])
    }

    #[inline]
    fn set(&mut self, number: u64) {
        *self = [number, 0];
    }
}

impl Slot<u128> for [u64; 2] {
    #[inline]
    fn get(&self) -> Option<u128> {
        let [low, high] = *self;
        Some(u128::from(low) | u128::from(high) << 64)
    }

    #[inline]
    fn set(&mut self, number: u128) {
        *self = [number as u64, (number >> 64) as u64];
    }
}

impl Slot<Count> for [u64; 2] {
    #[inline]
    fn get(&self) -> Option<Count> {
        let [start, count] = *self;
        Some(Count { start, count })
    }

    #[inline]
    fn set(&mut self, Count { start, count }: Count) {
        *self = [start, count];
    }
}

impl Slot<Pair> for [u64; 2] {
    #[inline]
    fn get(&self) -> Option<Pair> {
        let [cell, counts] = *self;
        Some(Pair { cell, previous: counts >> 32, current: counts & u64::from(u32::MAX) })
    }

    #[inline]
    fn set(&mut self, Pair { cell, previous, current }: Pair) {
        *self = [cell, narrow(previous) << 32 | narrow(current)];
    }
}

/// Counts fit 32 bits, unless a reload has lowered the limit from beyond: then as many as there are refuse all the same.
fn narrow(count: u64) -> u64 {
    count.min(u64::from(u32::MAX))
}
