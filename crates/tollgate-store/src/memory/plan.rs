//! What a call asks for, by distinct keys, and what is known of each while it is decided.

use smallvec::SmallVec;
use tollgate_core::{Algorithm, Asked, Outcome, Period, State};

use super::counter::{Counter, Counts};
use super::hash::{KeyHash, KeyHasher};
use super::table::{Home, Look, Table};
use crate::registry::Registry;
use crate::{Call, LimitId, StoreError};

/// One distinct (limit, key) of a call, and what is known of it while the call is decided.
#[derive(Debug)]
pub(crate) struct Ask<'r> {
    pub(crate) counter: &'r Counter,
    pub(crate) key: KeyHash,
    pub(crate) cost: u64,
    pub(crate) period: Option<Period>,
    /// The first charge that asks for it.
    pub(crate) place: usize,
    /// Where its states begin, where they are in a table.
    pub(crate) home: Option<Home<'r>>,
    /// What was read of it, where its states are in a table.
    pub(crate) look: Look<'r>,
    /// A copy of its state, where that is in a table, which the decision moves on.
    pub(crate) words: [u64; 2],
    /// What its limit says.
    pub(crate) outcome: Outcome,
    /// Whether this attempt has locked its line.
    pub(crate) hold: Hold,
}

/// Whose lock of a line an ask goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The line is not locked.
    #[default]
    None,
    /// It is locked for this ask.
    Own,
    /// It is locked for another one of the same line.
    Shared,
}

/// A call's distinct keys, and which of them each charge means. Filled in place, since all of it is large to move.
#[derive(Debug, Default)]
pub(crate) struct Plan<'r> {
    pub(crate) asks: SmallVec<[Ask<'r>; 4]>,
    pub(crate) of_charge: SmallVec<[u16; 4]>,
    /// Some states are in locked maps.
    pub(crate) locks: bool,
    /// Some limit comes twice, or after one with a higher id.
    pub(crate) unordered: bool,
}

/// Which charges go to the overflow bucket of their limit instead.
pub(crate) type Redirected = SmallVec<[(LimitId, KeyHash); 2]>;

impl<'r> Ask<'r> {
    /// Nothing is known yet. For no period, and the call's first place.
    #[inline]
    pub(crate) fn new(counter: &'r Counter, key: KeyHash, cost: u64) -> Ask<'r> {
        Ask {
            counter,
            key,
            cost,
            period: None,
            place: 0,
            home: None,
            look: Look::default(),
            words: [0; 2],
            outcome: Outcome::default(),
            hold: Hold::None,
        }
    }

    /// As core is asked for its words, and where it answers.
    #[inline]
    pub(crate) fn asked(&mut self) -> (Asked<'_, [u64; 2]>, &mut Outcome) {
        let (limit, state) = (&self.counter.limit, &mut self.words);
        (Asked { limit, state, cost: self.cost, period: self.period }, &mut self.outcome)
    }

    /// The same for `state`, which is in a locked map.
    pub(crate) fn asked_of<'s>(&'s mut self, state: &'s mut State) -> (Asked<'s>, &'s mut Outcome) {
        let limit = &self.counter.limit;
        (Asked { limit, state, cost: self.cost, period: self.period }, &mut self.outcome)
    }

    /// The table that has its states, if one has.
    #[inline]
    pub(crate) fn table(&self) -> Option<&'r Table> {
        self.counter.table()
    }
}

impl<'r> Plan<'r> {
    /// Adds what `call` asks for.
    #[inline]
    pub(super) fn fill(
        &mut self,
        registry: &'r Registry<Counter>,
        hasher: &KeyHasher,
        call: &Call<'_>,
        redirected: &Redirected,
    ) -> Result<(), StoreError> {
        for (place, charge) in call.charges.iter().enumerate() {
            let counter = registry.get(charge.limit)?;
            if charge.period.is_none() && matches!(counter.limit.algorithm(), Algorithm::Quota(_)) {
                return Err(StoreError::MissingPeriod(charge.limit));
            }
            counter.saw(charge.period);
            let mut key = hasher.hash_bytes(charge.key);
            if redirected.contains(&(charge.limit, key)) {
                key = KeyHash::OVERFLOW;
            }
            let ask = Ask::new(counter, key, charge.cost);
            let index = self.add(Ask { period: charge.period, place, ..ask });
            self.of_charge.push(index as u16);
        }
        Ok(())
    }

    /// Adds an ask, or its cost to that of one with equal limit and key; says which it is.
    #[inline]
    pub(crate) fn add(&mut self, mut ask: Ask<'r>) -> usize {
        let id = ask.counter.id;
        self.unordered |= self.asks.last().is_some_and(|last| last.counter.id >= id);
        if self.unordered {
            let same = |other: &Ask<'_>| other.counter.id == id && other.key == ask.key;
            if let Some(index) = self.asks.iter().position(same) {
                // Beyond 2^64 no limit admits anyway.
                self.asks[index].cost = self.asks[index].cost.saturating_add(ask.cost);
                return index;
            }
        }
        match &ask.counter.counts {
            // The line is on its way while the other keys are hashed.
            Counts::Table(table) => ask.home = Some(table.touch(ask.key)),
            Counts::Locked(_) => self.locks = true,
        }
        self.asks.push(ask);
        self.asks.len() - 1
    }
}
