//! Forgets keys that count nothing any more, in the background: a store shrinks though nobody brings new keys.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::gateway::Gateway;

/// How often it goes on.
const EVERY: Duration = Duration::from_secs(1);

/// Steps that it takes then at most; between two of them the thread serves requests.
const STEPS: usize = 64;

/// Goes on until its runtime ends.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        for _ in 0..STEPS {
            if gateway.forget_idle_keys() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}
