//! The command against the model.

mod command;
mod compare;
mod promise;
mod shrink;

pub(crate) use compare::check;
pub(crate) use promise::keeps_promises;
