//! From a request to a decision: who is counted, several limits at once, and the time that a trace drives.

mod bucket;
mod build;
mod decide;
mod keys;
mod replay;

pub(crate) use replay::Replay;
