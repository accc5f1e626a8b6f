//! The policy file, compiled; and the path from a request's facts to a decision.
//!
//! [`Facts`] (who is asking) -> [`Policy::charges`] (which limits, which key, what cost) -> `Store::charge_all` (all or
//! nothing) -> [`Decision`] -> the door's own wire form -> `settle` and `release`.

mod client_address;
mod decision;
mod engine;
mod facts;
pub mod file;
mod policy;
pub mod settings;

pub use client_address::{ClientAddress, ForwardedHeader, Hops};
pub use decision::{Decision, LimitReport, Verdict};
pub use engine::{Engine, Mode, Rejection, Ruling};
pub use facts::{Facts, Headers};
pub use policy::{Loaded, Policy};
