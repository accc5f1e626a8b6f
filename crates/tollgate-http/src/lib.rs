//! Rate limiting on the HTTP wire, for every door that speaks it.
//!
//! - [`client_address`]: which address a request is counted by, from the socket's peer and one forwarding header.
//! - [`proxy_protocol`]: whose connection a balancer passes on; [`trace_context`]: what of a trace may be carried on.
//! - [`facts_of`]: what a policy must know of a request.
//! - [`Responder`]: a decision in the form that clients obey: `RateLimit` fields, `Retry-After`, and the whole answer to
//!   a refused request.
//! - [`Problem`]: every other answer that is our own, as `application/problem+json`.
//! - [`is_grpc`] and [`Answer::for_grpc`]: the same for a gRPC caller, as a status in a head without a body.
//!
//! Nothing here does I/O, reads a clock or makes randomness: moments come with the decision, randomness as an argument.

mod answer;
pub mod client_address;
mod facts;
mod fields;
mod grpc;
mod head;
mod lists;
mod prepared;
mod problem;
pub mod proxy_protocol;
mod responder;
mod rule;
mod stated;
mod text;
pub mod trace_context;

pub use answer::Answer;
pub use facts::facts_of;
pub use grpc::is_grpc;
pub use problem::{Kind, Problem};
pub use responder::Responder;
