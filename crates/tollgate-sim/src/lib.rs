//! The production engine on virtual time: replay of recorded requests, and the tests of a policy.

mod error;
pub mod format;
pub mod input;
pub mod policy_test;
mod record;
pub mod replay;

pub use error::ReplayError;
pub use record::Record;
