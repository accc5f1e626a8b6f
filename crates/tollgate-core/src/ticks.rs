//! From a rate to ticks: choosing the word in which a bucket is exact, or refusing it.

use crate::bucket::Bucket;
use crate::plan::Plan;
use crate::word::Word;
use crate::{Bucket64, Rate, Rules, SpecError, Timestamp};

/// A rate of n/P units per microsecond in lowest terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// n: ticks in a microsecond.
    per_micro: u64,
    /// P: ticks in a unit.
    unit: u64,
}

/// A bucket in ticks, before its word is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    ticks: Ticks,
    capacity: u128,
    ceiling: u128,
    units: u64,
}

/// How the two buckets differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// The longest wait that is admitted, in ticks; `None` is unlimited.
    pub(crate) max_wait: Option<u128>,
    /// The moment at which every key was empty.
    pub(crate) empty_at: Option<Timestamp>,
    /// Those that are admitted wait for their turn.
    pub(crate) delays: bool,
    pub(crate) overdraw: bool,
}

/// Up to this n, every moment is below 2^63 ticks. With capacity and debt below 2^61, a bucket's word, plus a capacity, is below 2^64.
const NARROW_PER_MICRO: u64 = 1 << 10;
const NARROW_CEILING: u128 = 1 << 61;
/// Every moment is below 2^117 ticks for any n, so that a word of at most this plus a moment is below 2^128.
const WIDE_CEILING: u128 = 1 << 120;
/// Spans that are told are below this many microseconds.
const LONGEST: u128 = 1 << 62;

impl Ticks {
    /// `rate` in lowest terms; its count is not zero.
    pub(crate) fn of(rate: Rate) -> Ticks {
        let divisor = greatest_common_divisor(rate.count, rate.per.get());
        Ticks { per_micro: rate.count / divisor, unit: rate.per.get() / divisor }
    }

    pub(crate) fn units(self, units: u64) -> u128 {
        u128::from(units) * u128::from(self.unit)
    }

    pub(crate) fn micros(self, micros: u64) -> u128 {
        u128::from(micros) * u128::from(self.per_micro)
    }
}

impl Size {
    /// A bucket that holds `capacity` ticks.
    pub(crate) fn new(ticks: Ticks, capacity: u128, rules: &Rules) -> Result<Size, SpecError> {
        let debt = rules.max_debt.map_or(capacity, |units| ticks.units(units));
        let fits =
            |size: u128| size <= WIDE_CEILING && size / u128::from(ticks.per_micro) < LONGEST;
        let too_large = |parameter| SpecError::BucketTooLarge { parameter };
        let units = u64::try_from(capacity / u128::from(ticks.unit)).ok();
        let units = units.filter(|_| fits(capacity)).ok_or(too_large("burst"))?;
        let ceiling = capacity.checked_add(debt).filter(|ceiling| fits(*ceiling));
        let parameter = if rules.max_debt.is_some() { "max_debt" } else { "burst" };
        let ceiling = ceiling.ok_or(too_large(parameter))?;
        Ok(Size { ticks, capacity, ceiling, units })
    }

    /// The compiled bucket, in the narrowest word that is exact.
    pub(crate) fn plan(&self, manner: &Manner) -> Plan {
        if self.capacity == 0 {
            Plan::Closed
        } else if self.ticks.per_micro <= NARROW_PER_MICRO && self.ceiling <= NARROW_CEILING {
            Plan::Bucket(Bucket64(self.bucket(manner)))
        } else {
            Plan::WideBucket(self.bucket(manner))
        }
    }

    fn bucket<W: Word>(&self, manner: &Manner) -> Bucket<W> {
        let fresh = |at: Timestamp| self.ticks.micros(at.as_micros()) + self.capacity;
        let most = self.ceiling / u128::from(self.ticks.unit);
        Bucket {
            per_micro: W::from(self.ticks.per_micro),
            unit: W::from(self.ticks.unit),
            capacity: W::of(self.capacity),
            ceiling: W::of(self.ceiling),
            max_wait: W::of(manner.max_wait.map_or(self.ceiling, |wait| wait.min(self.ceiling))),
            fresh: W::of(manner.empty_at.map_or(0, fresh)),
            units: self.units,
            // A cost has 64 bits, so that none is above a larger bound.
            most: u64::try_from(most).unwrap_or(u64::MAX),
            overdraw: manner.overdraw,
            delays: manner.delays,
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
