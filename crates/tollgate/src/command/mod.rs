//! What the command can do, a file each.

pub(crate) mod effective;
pub(crate) mod load;
pub(crate) mod replay;
mod replay_store;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod test;
pub(crate) mod validate;
