//! The shared store on real servers: what every store must do, and that it decides as the memory store does.
#![cfg(feature = "redis")]

#[path = "behaviour/mod.rs"]
mod behaviour;
#[path = "redis/cluster.rs"]
mod cluster;
#[path = "redis/expiry.rs"]
mod expiry;
#[path = "redis/field.rs"]
mod field;
#[path = "redis/hosted.rs"]
mod hosted;
#[path = "redis/model.rs"]
mod model;
#[path = "redis/random.rs"]
mod random;
#[path = "servers/mod.rs"]
mod servers;
#[path = "redis/traces.rs"]
mod traces;

use behaviour::behaviours;
use hosted::Hosted;
use servers::Program;

mod redis_7 {
    use super::*;

    fn store() -> Option<Hosted> {
        Program::redis().map(|program| Hosted::replay(&program))
    }

    behaviours!(store);
}

mod valkey_9 {
    use super::*;

    fn store() -> Option<Hosted> {
        Program::valkey().map(|program| Hosted::replay(&program))
    }

    behaviours!(store);
}
