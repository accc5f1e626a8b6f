//! A policy as the model knows it. `yaml` writes it out as the policy file that the command reads.

/// A policy.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) limits: Vec<Limit>,
    pub(crate) routes: Vec<Route>,
}

/// A named limit.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) key: Vec<Identity>,
    /// By the identity `plan`; then each class has a name.
    pub(crate) by_plan: bool,
    pub(crate) classes: Vec<Class>,
    pub(crate) missing: Missing,
    pub(crate) shadow: bool,
    pub(crate) count_refused: bool,
    pub(crate) overdraw: bool,
    pub(crate) max_debt: Option<u64>,
    pub(crate) charge_when: Option<Vec<u16>>,
}

/// One class of a limit; a limit that is not by plan has one without a name.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) name: Option<&'static str>,
    /// `None` is unlimited.
    pub(crate) algorithm: Option<Algorithm>,
}

/// An algorithm and its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Algorithm {
    TokenBucket { rate: Rate, burst: Burst, starts_empty: bool },
    LeakyBucket { rate: Rate, burst: u64, nodelay: bool, max_wait: MaxWait },
    FixedWindow { limit: u64, window: Span },
    SlidingWindow { limit: u64, window: Span, cells: u64 },
    SlidingLog { limit: u64, window: Span },
    Quota { limit: u64, every: Every, zone: Option<&'static str>, starts: Option<i8> },
    Concurrency { limit: u64, ttl: Span },
}

/// `count` units in `per_micros` microseconds, and how the file spells it.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) count: u64,
    pub(crate) per_micros: i64,
    pub(crate) text: String,
}

/// A duration in microseconds, and how the file spells it.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) micros: i64,
    pub(crate) text: String,
}

/// A token bucket's capacity.
#[derive(Clone, Debug)]
pub(crate) enum Burst {
    /// Not said: the rate's count.
    Default,
    Units(u64),
    /// What the rate gives in this time.
    Span(Span),
}

/// How long a leaky bucket lets a request wait.
#[derive(Clone, Debug)]
pub(crate) enum MaxWait {
    /// Not said.
    None,
    Unlimited,
    At(Span),
}

/// A quota's period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Every {
    Hour,
    Day,
    Week,
    Month,
}

/// The identities that generated policies know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The header `x-user`, from anyone.
    User,
    /// The header `x-tenant`, from anyone.
    Tenant,
    /// The header `x-plan`, from anyone; `free` where it is missing.
    Plan,
    /// The client's address.
    Ip,
}

/// The class that stands in for a missing or unknown one.
pub(crate) const DEFAULT_PLAN: &str = "free";

/// What happens where a key's identity is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Not said: the address stands in.
    Default,
    Ip,
    Share,
    Skip,
}

/// A route.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// `/name` or `/name/**`.
    pub(crate) path: String,
    pub(crate) limits: Vec<usize>,
    pub(crate) cost: Cost,
}

/// What a request costs where its line does not say.
#[derive(Clone, Debug)]
pub(crate) enum Cost {
    /// Not said: 1.
    Default,
    Fixed(u64),
    /// The header `x-cost`, from anyone.
    Header {
        default: u64,
        min: Option<u64>,
        max: u64,
    },
}
