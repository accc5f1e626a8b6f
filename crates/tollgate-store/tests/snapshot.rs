//! What a snapshot promises: counts go on in another process as they would have in this one, and no file does harm.

#[path = "snapshot/age.rs"]
mod age;
#[path = "snapshot/damage.rs"]
mod damage;
#[path = "snapshot/files.rs"]
mod files;
#[path = "snapshot/framed.rs"]
mod framed;
#[path = "snapshot/going_on.rs"]
mod going_on;
#[path = "snapshot/under_load.rs"]
mod under_load;
#[path = "snapshot/world.rs"]
mod world;
