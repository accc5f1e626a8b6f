//! The compiled algorithms, and which one a call is for.
//!
//! Every algorithm answers the same questions. Its state is brought to now first ([`Plan::tidy`]); the other methods are for
//! a state that was.

use crate::bucket::Bucket;
use crate::concurrency::ConcurrencyPlan;
use crate::counter::Counter;
use crate::fixed_window::Aligned;
use crate::moment::{Moment, Taken, Ticket};
use crate::quota::Calendar;
use crate::sliding_log::SlidingLogPlan;
use crate::sliding_window::SlidingWindowPlan;
use crate::{
    Algorithm, Bucket64, Charged, Micros, Retry, Rules, SpecError, Standing, State, concurrency,
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
    SlidingWindow(SlidingWindowPlan),
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
            Algorithm::SlidingWindow(spec) => {
                Plan::SlidingWindow(sliding_window::compile(spec, rules)?)
            }
            Algorithm::SlidingLog(spec) => Plan::SlidingLog(sliding_log::compile(spec, rules)?),
            Algorithm::Quota(spec) => Plan::Quota(quota::compile(spec, rules)?),
            Algorithm::Concurrency(spec) => Plan::Concurrency(concurrency::compile(spec, rules)?),
        })
    }

    /// Brings `state` to now: forgets what counts no more and cuts what a wrong clock wrote; `true` where it cut something.
    #[inline]
    pub(crate) fn tidy(&self, state: &mut State, at: &Moment) -> bool {
        match self {
            Plan::Closed => false,
            Plan::Bucket(plan) => plan.0.tidy(state, at),
            Plan::WideBucket(plan) => plan.tidy(state, at),
            Plan::FixedWindow(plan) => plan.tidy(state, at),
            Plan::SlidingWindow(plan) => plan.tidy(state, at),
            Plan::SlidingLog(plan) => plan.tidy(state, at),
            Plan::Quota(plan) => plan.tidy(state, at),
            Plan::Concurrency(plan) => plan.tidy(state, at),
        }
    }

    #[inline]
    pub(crate) fn refuses(&self, state: &State, cost: u64, at: &Moment) -> bool {
        match self {
            Plan::Closed => true,
            Plan::Bucket(plan) => plan.0.refuses(state, cost, at),
            Plan::WideBucket(plan) => plan.refuses(state, cost, at),
            Plan::FixedWindow(plan) => plan.refuses(state, cost),
            Plan::SlidingWindow(plan) => plan.refuses(state, cost, at),
            Plan::SlidingLog(plan) => plan.refuses(state, cost),
            Plan::Quota(plan) => plan.refuses(state, cost),
            Plan::Concurrency(plan) => plan.refuses(state, cost),
        }
    }

    /// When `cost` would be admitted: after nothing where it is now.
    pub(crate) fn retry(&self, state: &State, cost: u64, at: &Moment) -> Retry {
        match self {
            Plan::Closed => Retry::Never,
            Plan::Bucket(plan) => plan.0.retry(state, cost, at),
            Plan::WideBucket(plan) => plan.retry(state, cost, at),
            Plan::FixedWindow(plan) => plan.retry(state, cost, at),
            Plan::SlidingWindow(plan) => plan.retry(state, cost, at),
            Plan::SlidingLog(plan) => plan.retry(state, cost, at),
            Plan::Quota(plan) => plan.retry(state, cost, at),
            Plan::Concurrency(plan) => plan.retry(cost),
        }
    }

    /// How long a request that is admitted waits before it leaves.
    #[inline]
    pub(crate) fn wait(&self, state: &State, at: &Moment) -> Micros {
        match self {
            Plan::Bucket(plan) => plan.0.wait(state, at),
            Plan::WideBucket(plan) => plan.wait(state, at),
            _ => Micros::ZERO,
        }
    }

    /// Takes `cost`, or as much of it as the deepest debt allows.
    #[inline]
    pub(crate) fn take(&self, state: &mut State, cost: u64, at: &Moment, ticket: Ticket) -> Taken {
        match self {
            Plan::Closed => Taken::units(0, at.now),
            Plan::Bucket(plan) => plan.0.take(state, cost, at),
            Plan::WideBucket(plan) => plan.take(state, cost, at),
            Plan::FixedWindow(plan) => plan.take(state, cost, at),
            Plan::SlidingWindow(plan) => plan.take(state, cost, at),
            Plan::SlidingLog(plan) => plan.take(state, cost, at, ticket),
            Plan::Quota(plan) => plan.take(state, cost, at),
            Plan::Concurrency(plan) => plan.take(state, cost, at, ticket),
        }
    }

    #[inline]
    pub(crate) fn standing(&self, state: &State, at: &Moment) -> Standing {
        match self {
            Plan::Closed => Standing::default(),
            Plan::Bucket(plan) => plan.0.standing(state, at),
            Plan::WideBucket(plan) => plan.standing(state, at),
            Plan::FixedWindow(plan) => plan.standing(state, at),
            Plan::SlidingWindow(plan) => plan.standing(state, at),
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
        at: &Moment,
    ) -> bool {
        match self {
            Plan::Closed => false,
            Plan::Bucket(plan) => plan.0.give_back(state, charged, keep, at),
            Plan::WideBucket(plan) => plan.give_back(state, charged, keep, at),
            Plan::FixedWindow(plan) => plan.give_back(state, charged, keep),
            Plan::SlidingWindow(plan) => plan.give_back(state, charged, keep),
            Plan::SlidingLog(plan) => plan.give_back(state, charged, keep),
            Plan::Quota(plan) => plan.give_back(state, charged, keep),
            Plan::Concurrency(plan) => plan.give_back(state, charged, keep),
        }
    }
}
