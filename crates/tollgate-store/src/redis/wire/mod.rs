//! What goes over the wire: a limit's parameters as doubles, and states as core reads them.

mod argument;
mod exact;
mod parameters;
mod reply;
mod state;

pub(crate) use argument::Arguments;
pub(crate) use exact::{MOST, Ticks};
pub use exact::Unsupported;
pub(crate) use parameters::Parameters;
pub(crate) use reply::{Answer, Read, Reply};
pub(crate) use state::{encode_bucket, decode_bucket};
