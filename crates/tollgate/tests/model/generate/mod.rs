//! Policies and traces from a seed.

mod limits;
mod policies;
mod random;
mod requests;
mod spans;
mod times;
mod traces;

pub(crate) use random::Random;

use super::policy::Policy;
use super::trace::Request;

/// One seed's policy and trace.
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) policy: Policy,
    pub(crate) requests: Vec<Request>,
}

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let policy = policies::policy(&mut random);
    let requests = traces::trace(&policy, &mut random);
    Case { seed, policy, requests }
}
