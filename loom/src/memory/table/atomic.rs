//! What a line is made of, under loom.

pub(super) use loom::sync::atomic::{AtomicU64, Ordering, fence};
