//! The most frequent of very many, in bounded memory: the space-saving algorithm (Metwally, Agrawal, El Abbadi 2005).

use std::collections::HashMap;

/// Counts the most frequent keys. A key that comes more often than `all / places` is always among them; a count may be too
/// high by at most its `over`.
#[derive(Debug)]
pub(crate) struct Top {
    places: usize,
    found: HashMap<Box<[u8]>, usize>,
    counts: Vec<Counted>,
    /// Places of `counts` as a heap, the smallest count first; and where each place is in it.
    heap: Vec<usize>,
}

/// A key and how often it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) key: Box<[u8]>,
    pub(crate) count: u64,
    /// By how much `count` may be too high.
    pub(crate) over: u64,
    at: usize,
}

impl Top {
    /// Counts with room for `places` keys, at least one.
    pub(crate) fn new(places: usize) -> Top {
        Top { places: places.max(1), found: HashMap::new(), counts: Vec::new(), heap: Vec::new() }
    }

    pub(crate) fn note(&mut self, key: &[u8]) {
        if let Some(place) = self.found.get(key).copied() {
            self.counts[place].count += 1;
            self.sink(self.counts[place].at);
        } else if self.counts.len() < self.places {
            let place = self.counts.len();
            self.counts.push(Counted { key: key.into(), count: 1, over: 0, at: self.heap.len() });
            self.heap.push(place);
            self.found.insert(key.into(), place);
            self.rise(self.heap.len() - 1);
        } else {
            self.replace(key);
        }
    }

    /// The newcomer takes the place of the rarest, and its count as a bound of what was missed.
    fn replace(&mut self, key: &[u8]) {
        let place = self.heap[0];
        let rarest = &mut self.counts[place];
        self.found.remove(&rarest.key);
        rarest.key = key.into();
        rarest.over = rarest.count;
        rarest.count += 1;
        self.found.insert(key.into(), place);
        self.sink(0);
    }

    /// The most frequent, at most `most`, the first of them the most frequent.
    pub(crate) fn most(&self, most: usize) -> Vec<&Counted> {
        let mut all: Vec<&Counted> = self.counts.iter().collect();
        all.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| a.over.cmp(&b.over)).then_with(|| a.key.cmp(&b.key))
        });
        all.truncate(most);
        all
    }

    fn count_at(&self, at: usize) -> u64 {
        self.heap.get(at).map_or(u64::MAX, |place| self.counts[*place].count)
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let child = if self.count_at(right) < self.count_at(left) { right } else { left };
            if self.count_at(child) >= self.count_at(at) {
                return;
            }
            self.swap(at, child);
            at = child;
        }
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.count_at(at) < self.count_at((at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.counts[self.heap[a]].at = a;
        self.counts[self.heap[b]].at = b;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_frequent_are_never_lost(keys in prop::collection::vec(0u8..20, 0..400), places in 1usize..8) {
            let mut top = Top::new(places);
            let mut exact = BTreeMap::<u8, u64>::new();
            for key in &keys {
                top.note(&[*key]);
                *exact.entry(*key).or_default() += 1;
            }
            let found: BTreeMap<u8, &Counted> = top.counts.iter().map(|counted| (counted.key[0], counted)).collect();
            for (key, count) in &exact {
                match found.get(key) {
                    Some(counted) => prop_assert!(counted.count - counted.over <= *count && *count <= counted.count),
                    None => prop_assert!(*count * places as u64 <= keys.len() as u64),
                }
            }
            let smallest = top.counts.iter().map(|counted| counted.count).min().unwrap_or(u64::MAX);
            prop_assert_eq!(top.count_at(0), smallest);
        }
    }
}
