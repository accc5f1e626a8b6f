//! Replay of recorded requests in virtual time, as section 9 of the design says.

mod driver;
mod line;
mod peaks;
mod pending;
mod summary;
mod top;

pub use driver::Driver;
pub use line::DecisionLines;
pub use peaks::Busiest;
pub use summary::{Summary, Tally};
