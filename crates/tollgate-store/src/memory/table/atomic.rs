//! What a line is made of. The test of all interleavings (`loom/`) compiles lines on its own.

pub(super) use std::sync::atomic::{AtomicU64, Ordering, fence};
