//! The compiled algorithms, and which one a call is for.
//!
//! Every algorithm answers the same questions. A state is brought to now first ([`Plan::check`], [`Plan::tidy`]);
//! [`Plan::commit`] and [`Plan::standing`] are for a state that was.

use crate::bucket::Bucket;
use crate::concurrency::ConcurrencyPlan;
use crate::counter::Counter;
use crate::fixed_window::Aligned;
use crate::kept::Kept;
use crate::moment::{Checked, Commit, Moment};
use crate::quota::Calendar;
use crate::sliding_log::SlidingLogPlan;
use crate::sliding_window::SlidingWindowPlan;
use crate::{
    Algorithm, Bucket64, Charged, Outcome, Retry, Rules, SpecError, Standing, State, concurrency,
    fixed_window, leaky_bucket, quota, sliding_log, sliding_window, token_bucket,
};

/// A compiled algorithm.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    /// A bucket that holds nothing, or never fills.
    Closed,
    Bucket(Bucket64),
    WideBucket(Bucket<u128>),
    FixedWindow(Counter<Aligned>),
    /// Of one cell.
    SlidingPair(SlidingWindowPlan),
    /// Of several.
    SlidingCells(SlidingWindowPlan),
    SlidingLog(SlidingLogPlan),
    Quota(Counter<Calendar>),
    Concurrency(ConcurrencyPlan),
}

impl Plan {
    pub(crate) fn new(algorithm: &Algorithm, rules: &Rules) -> Result<Plan, SpecError> {
        Ok(match algorithm {
            Algorithm::TokenBucket(spec) => token_bucket::compile(spec, rules)?,
            Algorithm::LeakyBucket(spec) => leaky_bucket::compile(spec, rules)?,
            Algorithm::FixedWindow(spec) => Plan::FixedWindow(fixed_window::compile(spec, rules)?),
            Algorithm::SlidingWindow(spec) => sliding_window::compile(spec, rules)?,
            Algorithm::SlidingLog(spec) => Plan::SlidingLog(sliding_log::compile(spec, rules)?),
            Algorithm::Quota(spec) => Plan::Quota(quota::compile(spec, rules)?),
            Algorithm::Concurrency(spec) => Plan::Concurrency(concurrency::compile(spec, rules)?),
        })
    }

    /// Brings `state` to now: forgets what counts no more and cuts what a wrong clock wrote; `true` where it cut something.
    pub(crate) fn tidy(&self, state: &mut State, at: Moment<'_>) -> bool {
        match self {
            Plan::Closed => false,
            Plan::Bucket(plan) => plan.0.tidy(state, at),
            Plan::WideBucket(plan) => plan.tidy(state, at),
            Plan::FixedWindow(plan) => plan.tidy(state, at),
            Plan::SlidingPair(plan) => plan.tidy_pair(state, at),
            Plan::SlidingCells(plan) => plan.tidy_cells(state, at),
            Plan::SlidingLog(plan) => plan.tidy(state, at),
            Plan::Quota(plan) => plan.tidy(state, at),
            Plan::Concurrency(plan) => plan.tidy(state, at),
        }
    }

    /// Brings `state` to now and says what this limit alone says; nothing is taken.
    #[inline(always)]
    pub(crate) fn check(&self, state: &mut impl Kept, cost: u64, at: Moment<'_>) -> Checked {
        match self {
            Plan::Bucket(plan) => plan.0.check(state, cost, at),
            Plan::FixedWindow(plan) => plan.check(state, cost, at),
            Plan::SlidingPair(plan) => plan.check_pair(state, cost, at),
            _ => self.check_larger(state, cost, at),
        }
    }

    /// Apart, so that the small ones stay small.
    #[inline(never)]
    fn check_larger(&self, state: &mut impl Kept, cost: u64, at: Moment<'_>) -> Checked {
        match (self, state.state()) {
            (Plan::WideBucket(plan), _) => plan.check(state, cost, at),
            (Plan::Quota(plan), _) => plan.check(state, cost, at),
            (Plan::SlidingCells(plan), Some(state)) => plan.check_cells(state, cost, at),
            (Plan::SlidingLog(plan), Some(state)) => plan.check(state, cost, at),
            (Plan::Concurrency(plan), Some(state)) => plan.check(state, cost, at),
            _ => Checked::at_once(true, false),
        }
    }

    /// Takes what is to be taken, and tells in `outcome` how it then stands.
    #[inline(always)]
    pub(crate) fn commit(
        &self,
        state: &mut impl Kept,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        match self {
            Plan::Bucket(plan) => plan.0.commit(state, at, what, outcome),
            Plan::FixedWindow(plan) => plan.commit(state, at, what, outcome),
            Plan::SlidingPair(plan) => plan.commit_pair(state, at, what, outcome),
            _ => self.commit_larger(state, at, what, outcome),
        }
    }

    #[inline(never)]
    fn commit_larger(
        &self,
        state: &mut impl Kept,
        at: Moment<'_>,
        what: &Commit,
        outcome: &mut Outcome,
    ) {
        match (self, state.state()) {
            (Plan::WideBucket(plan), _) => plan.commit(state, at, what, outcome),
            (Plan::Quota(plan), _) => plan.commit(state, at, what, outcome),
            (Plan::SlidingCells(plan), Some(state)) => plan.commit_cells(state, at, what, outcome),
            (Plan::SlidingLog(plan), Some(state)) => plan.commit(state, at, what, outcome),
            (Plan::Concurrency(plan), Some(state)) => plan.commit(state, at, what, outcome),
            _ => outcome.retry = Retry::Never,
        }
    }

    pub(crate) fn standing(&self, state: &State, at: Moment<'_>) -> Standing {
        match self {
            Plan::Closed => Standing::default(),
            Plan::Bucket(plan) => plan.0.standing(state, at),
            Plan::WideBucket(plan) => plan.standing(state, at),
            Plan::FixedWindow(plan) => plan.standing(state, at),
            Plan::SlidingPair(plan) => plan.standing_pair(state, at),
            Plan::SlidingCells(plan) => plan.standing_cells(state, at),
            Plan::SlidingLog(plan) => plan.standing(state, at),
            Plan::Quota(plan) => plan.standing(state, at),
            Plan::Concurrency(plan) => plan.standing(state, at),
        }
    }

    /// Gives back what was `charged` beyond `keep` units; only a bucket asks when.
    pub(crate) fn give_back(
        &self,
        state: &mut State,
        charged: &Charged,
        keep: u64,
        at: Moment<'_>,
    ) -> bool {
        match self {
            Plan::Closed => false,
            Plan::Bucket(plan) => plan.0.give_back(state, charged, keep, at),
            Plan::WideBucket(plan) => plan.give_back(state, charged, keep, at),
            Plan::FixedWindow(plan) => plan.give_back(state, charged, keep),
            Plan::SlidingPair(plan) => plan.give_back_pair(state, charged, keep),
            Plan::SlidingCells(plan) => plan.give_back_cells(state, charged, keep),
            Plan::SlidingLog(plan) => plan.give_back(state, charged, keep),
            Plan::Quota(plan) => plan.give_back(state, charged, keep),
            Plan::Concurrency(plan) => plan.give_back(state, charged, keep),
        }
    }
}
