//! What the targets share: limits and operations out of arbitrary bytes.

pub mod bytes;
pub mod framed;
pub mod limits;
pub mod snapshots;
pub mod world;
