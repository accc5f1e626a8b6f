//! The store's side as a pure model, and a simulated world of nodes around it.

mod cases;
mod chance;
pub(in crate::shared) mod model;
mod never_more;
mod node;
mod scenarios;
#[cfg(feature = "redis")]
mod scripts;
mod unclaimed;
mod world;
mod worthwhile;
