//! What the memory store alone promises: races, bounds, expiry, reload under load, and agreement with a plain map.

#[path = "memory/bounds.rs"]
mod bounds;
#[path = "memory/expiry.rs"]
mod expiry;
#[path = "memory/model.rs"]
mod model;
#[path = "memory/races.rs"]
mod races;
#[path = "memory/reload.rs"]
mod reload;
#[path = "memory/world.rs"]
mod world;
