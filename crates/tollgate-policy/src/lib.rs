//! The policy file, compiled; and the path from a request's facts to a decision.
//!
//! [`Facts`] (who is asking) -> [`Policy::charges`] (which limits, which key, what cost) -> `Store::charge_all` (all or
//! nothing) -> [`Decision`] -> the door's own wire form -> `settle` and `release`.

mod address;
mod calendar;
mod charges;
mod client_address;
mod cost;
mod decision;
mod engine;
mod facts;
pub mod file;
mod identity;
mod key;
mod limit;
mod lookups;
mod name;
mod path;
mod policy;
mod route;
pub mod settings;
#[cfg(test)]
mod testing;

pub use charges::{Charges, Planned, Subject};
pub use client_address::{ClientAddress, ForwardedHeader, Hops};
pub use decision::{Decision, Ends, Held, LimitReport, Verdict};
pub use engine::{Bound, Engine, Mode, Rejection, Ruling};
pub use facts::{Facts, Headers};
pub use key::readable_key;
pub use name::Name;
pub use path::{BadPath, normalise};
pub use policy::{CompileError, Place, Policy, Problem};
