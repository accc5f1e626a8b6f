//! What goes on in the background: keys that count nothing any more are forgotten, so that a store shrinks though nobody
//! brings new ones, upstream servers are looked after, and memory that is free goes back to the system.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::gateway::Gateway;
use crate::upstream::LOOK_EVERY;

/// How often it goes on.
const EVERY: Duration = Duration::from_secs(1);

/// Steps that it takes then at most; between two of them the thread serves requests.
const STEPS: usize = 64;

/// More than an allocator keeps at hand.
const LARGE: usize = 1024 * 1024;

/// Goes on until its runtime ends.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        give_back();
        for _ in 0..STEPS {
            if gateway.forget_idle_keys() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Has the allocator give back to the system what has been free for a second. mimalloc does that only where it is asked for
/// more than it has at hand, and a gateway whose clients have fallen silent asks for nothing. Nobody writes to what is taken
/// here, so that it takes no memory.
fn give_back() {
    drop(black_box(Vec::<u8>::with_capacity(LARGE)));
}

/// Looks after the upstream servers until its runtime ends.
pub(crate) async fn look_after_upstreams(gateway: Arc<Gateway>) {
    let mut tick = tokio::time::interval(LOOK_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        gateway.live().look_after_upstreams();
    }
}
