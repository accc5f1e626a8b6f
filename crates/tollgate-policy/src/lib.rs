//! The policy file, compiled; and the path from a request's facts to a decision.
//!
//! [`Facts`] (who is asking) -> [`Policy::charges`] (which limits, which key, what cost) -> `Store::charge_all` (all or
//! nothing) -> [`Decision`] -> the door's own wire form -> `settle` and `release`.
//!
//! ```
//! use tollgate_core::Timestamp;
//! use tollgate_policy::file::{Surroundings, read};
//! use tollgate_policy::{Charges, Engine, Facts, Headers, Mode, Policy, Ruling, Verdict};
//! use tollgate_store::MemoryStore;
//!
//! let text = "
//! identity:
//!   user: { header: x-user, from: anyone }
//! limits:
//!   per-user: { key: [user], token_bucket: { rate: 1/m } }
//! routes:
//!   - { match: { path: /v1/** }, limits: [per-user] }
//! ";
//! let settings = read("policy.yaml", text, &Surroundings::new("."))?.settings;
//! let now = Timestamp::from_micros(1_767_225_600_000_000);
//! let engine = Engine::new(Policy::compile(settings)?, MemoryStore::default(), Mode::Enforce, now);
//!
//! let ada = [("x-user", "ada")];
//! let facts = Facts::new("GET", "/v1/x", Headers::Pairs(&ada));
//! let mut charges = Charges::default();
//! for passes in [true, false] {
//!     let Ruling::Decided(decision) = engine.decide_now(&facts, now, None, &mut charges)? else {
//!         panic!("the path is good, and no identity is asked for in vain");
//!     };
//!     assert_eq!(decision.verdict == Verdict::Admit, passes);
//!     engine.settle_now(decision, Some(200), now)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod bodies;
mod calendar;
mod certificate;
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

pub use certificate::ClientCertificate;
pub use charges::{Charges, Planned, Subject};
pub use client_address::{Chain, ClientAddress, ForwardedHeader, Forwarding, Hops};
pub use decision::{Decision, Ends, Held, LimitReport, Verdict};
pub use engine::{Bound, Engine, Mode, Rejection, Ruling};
pub use facts::{Facts, Headers};
pub use key::readable_key;
pub use name::Name;
pub use path::{BadPath, normalise};
pub use policy::{CompileError, Place, Policy, Problem};
