//! Any operations on any limits: no panic, and the laws of `world` hold after every one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_fuzz::bytes::Bytes;
use tollgate_fuzz::world::World;

/// Operations of one run; longer inputs say nothing new.
const MOST: usize = 64;

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes::new(data);
    let Some(mut world) = World::new(&mut bytes) else { return };
    for _ in 0..MOST {
        if bytes.are_used_up() {
            break;
        }
        world.act(&mut bytes);
    }
});
