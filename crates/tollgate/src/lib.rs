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

pub use tollgate_core as core;
pub use tollgate_http as http;
pub use tollgate_policy as policy;
pub use tollgate_server as server;
pub use tollgate_sim as sim;
pub use tollgate_store as store;
