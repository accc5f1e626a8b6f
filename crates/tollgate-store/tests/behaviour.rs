//! What every store must do, run against each of them.

#[path = "behaviour/mod.rs"]
mod behaviour;

use behaviour::behaviours;
use tollgate_store::{MemoryOptions, MemoryStore};

mod memory {
    use super::*;

    fn store() -> Option<MemoryStore> {
        Some(MemoryStore::new(MemoryOptions::default()))
    }

    behaviours!(store);
}

mod memory_of_a_replay {
    use super::*;

    fn store() -> Option<MemoryStore> {
        Some(MemoryStore::new(MemoryOptions::unbounded()))
    }

    behaviours!(store);
}
