//! A second Tollgate, for tests: the same rules written down again from their description, with rationals and whole
//! histories in place of packed integers, as plainly as they can be said and without regard to speed. It shares no code
//! with the crates. `generate` makes policies and traces from a seed, `run` lets the command decide them and compares.

pub(crate) mod counters;
pub(crate) mod generate;
mod known;
pub(crate) mod policy;
pub(crate) mod rational;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod trace;
pub(crate) mod yaml;
