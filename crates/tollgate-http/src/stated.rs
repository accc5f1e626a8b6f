//! The times that an answer states: rounded so that a client which obeys is never early.

use tollgate_core::{Micros, Retry};
use tollgate_policy::{Decision, Verdict};

/// Where the moment at which a slot frees is not known, clients are told to wait this long.
pub(crate) const UNKNOWN: Micros = Micros::from_secs(1);

/// By how much the stated times of one answer are longer than the exact ones. All of an answer's times are stretched
/// alike, so that they stay in their order; none is ever shortened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jitter {
    /// At most that share more, in per cent.
    percent: u8,
    /// Uniform over its whole range: which share of `percent`.
    random: u64,
}

impl Jitter {
    pub(crate) fn new(percent: u8, random: u64) -> Jitter {
        Jitter { percent, random }
    }

    /// `span`, made longer.
    pub(crate) fn stretch(self, span: Micros) -> Micros {
        if self.percent == 0 {
            return span;
        }
        let most = u128::from(span.get()) * u128::from(self.percent) / 100;
        let extra = (most * u128::from(self.random)) >> 64;
        Micros::new(span.get().saturating_add(u64::try_from(extra).unwrap_or(u64::MAX)))
    }
}

/// What a refusal says of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not refused.
    Passed,
    /// Refused; the same request would pass after this span, which is not zero.
    After(Micros),
    /// Refused, whatever the wait.
    Never,
}

impl Wait {
    pub(crate) fn of(decision: &Decision, jitter: Jitter) -> Wait {
        match decision.verdict {
            Verdict::Admit | Verdict::Delay(_) => Wait::Passed,
            Verdict::Refuse(Retry::Never) => Wait::Never,
            Verdict::Refuse(Retry::After(Micros::ZERO)) => Wait::After(jitter.stretch(UNKNOWN)),
            Verdict::Refuse(Retry::After(span)) => Wait::After(jitter.stretch(span)),
        }
    }

    /// `Retry-After`: whole seconds, rounded up, so at least 1.
    pub(crate) fn seconds(self) -> Option<u64> {
        match self {
            Wait::After(span) => Some(span.ceil_secs()),
            Wait::Passed | Wait::Never => None,
        }
    }

    /// The same in milliseconds, rounded up: at most `seconds * 1000`, and more than a second less never.
    pub(crate) fn millis(self) -> Option<u64> {
        match self {
            Wait::After(span) => Some(span.get().div_ceil(1000)),
            Wait::Passed | Wait::Never => None,
        }
    }
}
