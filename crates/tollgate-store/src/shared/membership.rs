//! Who counts together: every node tells the shared store that it is alive, and hears who else is.

use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Node;
use super::limits::Nodes;
use super::remote::Remote;
use crate::Clock;

/// How often.
pub(super) const EVERY: Duration = Duration::from_secs(1);

impl<R: Remote> Node<R> {
    /// Tells that it is alive, and goes on as one of those that it hears of.
    pub(super) async fn beat(&self) {
        if let Some(nodes) = self.hear().await {
            self.set_nodes(nodes, self.now());
        }
    }

    /// Tells and hears. While the store is away this is its probe, and what was heard last holds.
    pub(super) async fn hear(&self) -> Option<Nodes> {
        if self.left.load(Ordering::Relaxed) {
            return None;
        }
        let permit = self.enter(self.now()).ok()?;
        let sent = self.clock.now().as_micros();
        let members = self.ask_aside(permit, self.remote.beat(self.name)).await.ok()?;
        let received = self.clock.now().as_micros();
        self.follow_clock(members.now.as_micros(), sent, received);
        self.unreported.set_stale(false);
        let live = NonZeroU32::new(members.live)?;
        // A node that is not counted yet has the last place.
        Some(Nodes { live, rank: members.rank.min(live.get() - 1) })
    }

    /// Goes by the shared store's clock, as all nodes do; by the node's own where they differ by no more than the call took.
    fn follow_clock(&self, theirs: u64, sent: u64, received: u64) {
        if self.virtual_time {
            return;
        }
        let middle = sent.midpoint(received);
        let ahead = theirs as i64 - middle as i64;
        let known = self.ahead.load(Ordering::Relaxed);
        let doubt = received.saturating_sub(sent).max(1_000);
        if ahead.abs_diff(known) > doubt {
            self.ahead.store(ahead, Ordering::Relaxed);
        }
    }

    /// Says that this node goes, so that the others need not wait for it to be missed.
    pub(super) async fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
        self.return_all().await;
        let Ok(permit) = self.enter(self.now()) else { return };
        // Where the store is away, it forgets the node by itself.
        let _ = self.ask_aside(permit, self.remote.leave(self.name)).await;
    }
}
