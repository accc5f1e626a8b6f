//! What a call asks for: its distinct keys, and the groups that go together in one script.

use smallvec::SmallVec;
use tollgate_core::{Algorithm, Period};

use super::counter::{Counter, Live};
use super::key::KeyName;
use super::scripts::Kind;
use super::wire::{Arguments, Parameters};
use crate::StoreError;

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Whole units.
    Units(u64),
    /// Ticks of a bucket.
    Ticks(u128),
}

/// One distinct (limit, key) of a call.
#[derive(Debug)]
pub(crate) struct Ask<'r> {
    pub(crate) counter: &'r Counter,
    pub(crate) live: &'r Live,
    /// Those of `live`, or those by which it charges by force.
    pub(crate) parameters: &'r Parameters,
    /// The key's digest.
    pub(crate) key: u128,
    pub(crate) name: KeyName,
    pub(crate) slot: u16,
    pub(crate) amount: Amount,
    pub(crate) period: Option<Period>,
    /// The first charge that asks for it.
    pub(crate) place: usize,
}

impl Ask<'_> {
    /// What the script is told of it.
    pub(crate) fn arguments(&self, into: &mut Arguments) {
        match self.amount {
            Amount::Units(cost) => self.parameters.arguments(cost, self.period, into),
            Amount::Ticks(ticks) => self.parameters.step(ticks, ticks > 0, into),
        }
    }

    /// Units asked.
    pub(crate) fn cost(&self) -> u64 {
        match self.amount {
            Amount::Units(cost) => cost,
            Amount::Ticks(_) => 0,
        }
    }

    /// One more charge of the same key. Beyond 2^64 no limit admits anyway.
    fn add(&mut self, cost: u64) {
        self.amount = Amount::Units(self.cost().saturating_add(cost));
    }
}

/// A call's distinct keys, and which of them each charge means.
#[derive(Debug, Default)]
pub(crate) struct Plan<'r> {
    pub(crate) asks: SmallVec<[Ask<'r>; 4]>,
    pub(crate) of_charge: SmallVec<[u16; 4]>,
}

/// The places of asks whose keys share a slot.
pub(crate) type Group = SmallVec<[usize; 4]>;

impl<'r> Plan<'r> {
    /// Adds a charge; costs of equal limit and key are added up.
    pub(crate) fn add(&mut self, ask: Ask<'r>) {
        let same = |other: &Ask<'_>| other.counter.id == ask.counter.id && other.key == ask.key;
        let index = match self.asks.iter().position(same) {
            Some(index) => {
                self.asks[index].add(ask.cost());
                index
            }
            None => {
                self.asks.push(ask);
                self.asks.len() - 1
            }
        };
        self.of_charge.push(index as u16);
    }

    /// The groups in the order of their first charges. Where slots are held for a time that depends on the delay
    /// (`by_delay`), those that hold any come last, so that the delay is known.
    pub(crate) fn groups(&self, by_delay: bool) -> SmallVec<[Group; 2]> {
        let mut groups: SmallVec<[Group; 2]> = SmallVec::new();
        for (place, ask) in self.asks.iter().enumerate() {
            match groups.iter_mut().find(|group| self.asks[group[0]].slot == ask.slot) {
                Some(group) => group.push(place),
                None => groups.push(Group::from_slice(&[place])),
            }
        }
        if by_delay {
            groups.sort_by_key(|group| group.iter().any(|place| self.asks[*place].holds_slots()));
        }
        groups
    }
}

impl Ask<'_> {
    fn holds_slots(&self) -> bool {
        self.parameters.part.kind == Kind::Concurrency
    }
}

/// Whether `period` is there where it must be.
pub(crate) fn check_period(counter: &Counter, period: Option<Period>) -> Result<(), StoreError> {
    let quota = matches!(counter.limit.algorithm(), Algorithm::Quota(_));
    if quota && period.is_none() { Err(StoreError::MissingPeriod(counter.id)) } else { Ok(()) }
}
