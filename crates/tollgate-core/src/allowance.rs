//! How many units a counting limit allows: the arithmetic that windows, logs, quotas and slots share.

use crate::{Rules, SpecError};

/// A checked `limit` with its debt.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) limit: u64,
    /// The limit and the deepest debt.
    pub(crate) most: u64,
    overdraw: bool,
}

/// What is used of an allowance: the exact number lies between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) down: u64,
    pub(crate) up: u64,
}

impl Used {
    pub(crate) const fn exactly(units: u64) -> Used {
        Used { down: units, up: units }
    }
}

/// Counts of a limit and its debt stay below this, so that sums of a few of them fit 64 bits, and times a window 128.
const MOST: u64 = 1 << 62;

impl Allowance {
    pub(crate) fn new(limit: u64, rules: &Rules) -> Result<Allowance, SpecError> {
        let reason = "a limit and its debt are counted together in 62 bits";
        let too_large =
            |parameter, value, most| SpecError::TooLarge { parameter, value, most, reason };
        let debt = if limit == 0 { 0 } else { rules.max_debt.unwrap_or(limit) };
        let bound = if rules.max_debt.is_some() { MOST } else { MOST / 2 };
        if limit > bound {
            return Err(too_large("limit", limit, bound));
        }
        if debt > MOST - limit {
            return Err(too_large("max_debt", debt, MOST - limit));
        }
        Ok(Allowance { limit, most: limit + debt, overdraw: rules.overdraw })
    }

    /// A limit of nothing refuses also who asks for nothing.
    pub(crate) fn refuses(&self, used: Used, cost: u64) -> bool {
        if self.overdraw && cost > 0 {
            return used.down >= self.limit;
        }
        self.limit == 0 || used.up > self.limit || (cost > self.limit - used.up && !self.overdraw)
    }

    /// No waiting will help.
    pub(crate) fn never(&self, cost: u64) -> bool {
        self.limit == 0 || (cost > self.limit && !self.overdraw)
    }

    /// An admission asks for a level above zero, rather than for one of at least `cost`.
    pub(crate) fn asks_above_zero(&self, cost: u64) -> bool {
        self.overdraw && cost > 0
    }

    /// The part of `cost` that the deepest debt lets it take.
    pub(crate) fn take(&self, used: Used, cost: u64) -> u64 {
        cost.min(self.most.saturating_sub(used.up))
    }

    pub(crate) fn remaining(&self, used: Used) -> u64 {
        self.limit.saturating_sub(used.up)
    }
}
