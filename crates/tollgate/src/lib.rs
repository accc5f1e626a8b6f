//! Tollgate: layered rate limiting with exact arithmetic. The library that a Rust service embeds, and the `tollgate` command.
//!
//! Everything is re-exported under one roof:
//!
//! - [`core`](mod@core): the algorithms, pure and `no_std`;
//! - [`store`]: where counts live;
//! - [`policy`]: the policy file, and the path from a request's facts to a decision;
//! - [`http`]: HTTP on the wire;
//! - [`server`]: the gateway, the admin listener, metrics;
//! - [`sim`]: the same engine on virtual time.
//!
//! The shortest way to a limit by key:
//!
//! ```
//! use tollgate::core::{Algorithm, Burst, Limit, Micros, Rate, Rules, TokenBucket};
//! use tollgate::store::{KeyedLimiter, SystemClock};
//!
//! let rate = Rate { count: 10, per: Micros::from_secs(1) };
//! let spec = TokenBucket { rate, burst: Burst::Units(20), empty_at: None };
//! let limit = Limit::new(Algorithm::TokenBucket(spec), Rules::default())?;
//! let limiter: KeyedLimiter<str> = KeyedLimiter::new(limit, 1_000_000, SystemClock::new())?;
//!
//! match limiter.check("alice") {
//!     Ok(_) => {}
//!     Err(refused) => panic!("a new key has twenty; told to wait {:?}", refused.retry),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! By a whole policy decides [`policy::Engine`].

pub use tollgate_core as core;
pub use tollgate_http as http;
pub use tollgate_policy as policy;
pub use tollgate_server as server;
pub use tollgate_sim as sim;
pub use tollgate_store as store;
