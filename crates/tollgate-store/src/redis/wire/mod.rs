//! What goes over the wire: a limit's parameters as doubles, and states as core reads them.

mod argument;
mod exact;
mod parameters;
mod reply;
mod state;

pub(crate) use argument::Arguments;
pub use exact::Unsupported;
pub(crate) use exact::{MOST, Split, check};
pub(crate) use parameters::{Parameters, REPLAY};
pub(crate) use reply::{Answer, Reply, whole};
pub(crate) use state::{decode, decode_bucket, encode_bucket, tag_of};
