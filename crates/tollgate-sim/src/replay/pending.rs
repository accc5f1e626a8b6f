//! What is still to come of requests that were decided: their answers, by the moment at which they arrive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Things that happen later, taken in the order of their moments, and of their coming where the moments are equal.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    /// Moment, turn, and place among `waiting`.
    order: BinaryHeap<Reverse<(u64, u64, usize)>>,
    waiting: Vec<Option<T>>,
    free: Vec<usize>,
    turn: u64,
}

impl<T> Default for Pending<T> {
    fn default() -> Pending<T> {
        Pending { order: BinaryHeap::new(), waiting: Vec::new(), free: Vec::new(), turn: 0 }
    }
}

impl<T> Pending<T> {
    /// Adds what happens at `moment`, in microseconds; it may lie beyond the last timestamp.
    pub(crate) fn add(&mut self, moment: u64, thing: T) {
        let place = self.free.pop().unwrap_or(self.waiting.len());
        match self.waiting.get_mut(place) {
            Some(free) => *free = Some(thing),
            None => self.waiting.push(Some(thing)),
        }
        self.order.push(Reverse((moment, self.turn, place)));
        self.turn += 1;
    }

    /// Takes what happens first, if that is not after `now`, and its moment.
    pub(crate) fn take(&mut self, now: u64) -> Option<(u64, T)> {
        let Reverse((moment, _, place)) = *self.order.peek()?;
        if moment > now {
            return None;
        }
        self.order.pop();
        self.free.push(place);
        let thing = self.waiting.get_mut(place).and_then(Option::take)?;
        Some((moment, thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_in_order_and_equals_in_turn() {
        let mut pending = Pending::default();
        for (moment, name) in [(5, "a"), (3, "b"), (5, "c"), (9, "d")] {
            pending.add(moment, name);
        }
        assert_eq!(pending.take(2), None);
        assert_eq!(pending.take(5), Some((3, "b")));
        pending.add(5, "e");
        let rest: Vec<_> = std::iter::from_fn(|| pending.take(5)).collect();
        assert_eq!(rest, [(5, "a"), (5, "c"), (5, "e")]);
        assert_eq!(pending.take(u64::MAX), Some((9, "d")));
        assert_eq!(pending.take(u64::MAX), None);
        assert_eq!(pending.waiting.len(), 4, "places are used again");
    }
}
