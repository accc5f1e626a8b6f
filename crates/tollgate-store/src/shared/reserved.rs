//! What the node charged before the shared store was asked.

use super::Node;
use super::remote::Remote;
use crate::StoreOutcome;

/// The local store's answer, whose charges are given back when it is dropped: the shared store refused, or is away, or the
/// caller is gone.
pub(super) struct Reserved<'n, R: Remote> {
    node: &'n Node<R>,
    said: StoreOutcome,
}

impl<'n, R: Remote> Reserved<'n, R> {
    pub(super) fn new(node: &'n Node<R>, said: StoreOutcome) -> Reserved<'n, R> {
        Reserved { node, said }
    }

    /// Whether the node admits.
    pub(super) fn admits(&self) -> bool {
        self.said.decision.admitted
    }

    /// The charges stand.
    pub(super) fn keep(mut self) -> StoreOutcome {
        let StoreOutcome { decision, limits, receipt, now } = &mut self.said;
        let (limits, receipt) = (std::mem::take(limits), std::mem::take(receipt));
        StoreOutcome { decision: *decision, limits, receipt, now: *now }
    }
}

impl<R: Remote> Drop for Reserved<'_, R> {
    fn drop(&mut self) {
        if self.said.receipt.taken.is_empty() {
            return;
        }
        let now = self.node.now();
        for taken in self.said.receipt.taken.drain(..) {
            // A limit that was forgotten since has nothing to be given back to.
            let _ = self.node.local.settle_now(taken, 0, now);
        }
    }
}
