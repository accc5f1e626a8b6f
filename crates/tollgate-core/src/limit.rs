//! A checked limit: parameters whose arithmetic cannot overflow, and the rules of section 5.

use crate::plan::Plan;
use crate::{Algorithm, Bucket64, SpecError};

/// How a limit behaves beside others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Charged even when the request is refused, by it or by another; the debt is at most one capacity.
    pub count_refused: bool,
    /// Admits while the level is above zero and may go into debt.
    pub overdraw: bool,
    /// With `overdraw`: the deepest debt, in units; `None` is one capacity.
    pub max_debt: Option<u64>,
    /// Counts and reports, never decides.
    pub shadow: bool,
}

/// A limit that was checked and compiled: every product of its parameters fits the word it is computed in.
#[derive(Clone, Debug)]
pub struct Limit {
    algorithm: Algorithm,
    rules: Rules,
    plan: Plan,
}

impl Limit {
    /// Checks `algorithm` under `rules`.
    ///
    /// # Errors
    /// [`SpecError`] where a parameter is out of its range, a rule does not go with the algorithm, or a product could overflow.
    pub fn new(algorithm: Algorithm, rules: Rules) -> Result<Limit, SpecError> {
        check_rules(&algorithm, &rules)?;
        let plan = Plan::new(&algorithm, &rules)?;
        Ok(Limit { algorithm, rules, plan })
    }

    /// The parameters it was made from.
    #[must_use]
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// The rules it was made with.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The one-word form, where the limit is a token bucket or a leaky bucket with `nodelay` whose arithmetic fits 64 bits,
    /// admits anything at all, and has no rule. It reads and writes the words of [`Limit::encode`].
    #[must_use]
    pub fn bucket64(&self) -> Option<&Bucket64> {
        match &self.plan {
            Plan::Bucket(bucket) if self.rules == Rules::default() && !bucket.0.delays => {
                Some(bucket)
            }
            _ => None,
        }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }
}

fn check_rules(algorithm: &Algorithm, rules: &Rules) -> Result<(), SpecError> {
    if rules.max_debt.is_some() && !rules.overdraw {
        return Err(SpecError::DebtWithoutOverdraw);
    }
    let (name, may_overdraw) = match algorithm {
        Algorithm::TokenBucket(_) => ("token_bucket", true),
        Algorithm::LeakyBucket(_) => ("leaky_bucket", false),
        Algorithm::FixedWindow(_) => ("fixed_window", true),
        Algorithm::SlidingWindow(_) => ("sliding_window", true),
        Algorithm::SlidingLog(_) => ("sliding_log", false),
        Algorithm::Quota(_) => ("quota", true),
        Algorithm::Concurrency(_) => ("concurrency", false),
    };
    if rules.overdraw && !may_overdraw {
        return Err(SpecError::Rule {
            rule: "overdraw",
            algorithm: name,
            goes_with: "token_bucket, fixed_window, sliding_window and quota",
        });
    }
    if rules.count_refused && matches!(algorithm, Algorithm::Concurrency(_)) {
        return Err(SpecError::Rule {
            rule: "count_refused",
            algorithm: name,
            goes_with: "every algorithm but concurrency",
        });
    }
    Ok(())
}
