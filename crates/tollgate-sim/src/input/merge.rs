//! Several files as one stream of requests, by time.

use super::Source;
use crate::format::Strangers;
use crate::{Record, ReplayError};

/// Merges files by time. Each file keeps its own order, also where its time steps back; at the same moment the file that
/// was named first goes first.
pub struct Merge {
    sources: Vec<Source>,
    /// Places of the sources that hold a request, a binary heap by time and place.
    waiting: std::collections::BinaryHeap<std::cmp::Reverse<(u64, usize)>>,
    started: bool,
    last: usize,
}

impl Merge {
    /// Merges `sources`.
    #[must_use]
    pub fn new(sources: Vec<Source>) -> Merge {
        Merge { sources, waiting: std::collections::BinaryHeap::new(), started: false, last: 0 }
    }

    /// Moves to the next request; `false` after the last.
    ///
    /// # Errors
    /// What a source says.
    pub fn advance(&mut self) -> Result<bool, ReplayError> {
        if let [only] = self.sources.as_mut_slice() {
            return only.advance();
        }
        if self.started {
            self.refill(self.last)?;
        } else {
            self.started = true;
            for place in 0..self.sources.len() {
                self.refill(place)?;
            }
        }
        let next = self.waiting.pop();
        self.last = next.map_or(self.last, |std::cmp::Reverse((_, place))| place);
        Ok(next.is_some())
    }

    fn refill(&mut self, place: usize) -> Result<(), ReplayError> {
        let source = &mut self.sources[place];
        if source.advance()? {
            self.waiting.push(std::cmp::Reverse((source.record().time.as_micros(), place)));
        }
        Ok(())
    }

    /// The request that [`advance`](Merge::advance) moved to, and its line in its own file. `None` without any source.
    #[must_use]
    pub fn current(&self) -> Option<(&Record, u64)> {
        self.sources.get(self.last).map(|source| (source.record(), source.line()))
    }

    /// How many bad lines were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.sources.iter().map(Source::skipped).sum()
    }

    /// Fields that had no influence, of all files.
    #[must_use]
    pub fn strangers(&self) -> Strangers {
        let mut all = Strangers::default();
        self.sources
            .iter()
            .filter_map(Source::strangers)
            .for_each(|strangers| all.merge(strangers));
        all
    }
}
