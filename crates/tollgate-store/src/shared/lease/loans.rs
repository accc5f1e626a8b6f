//! What a decision has spent of leases so far: given back when it is dropped, unless all limits admit.

use std::sync::Arc;

use smallvec::SmallVec;

use super::hand::Serial;
use super::purse::Owner;
use super::wallet::From;
use crate::shared::Node;
use crate::shared::remote::Remote;
use crate::{StoreOutcome, Taken, Uptime};

/// The ticket of units that were taken in the store for those who waited; no serial is that.
pub(super) const STORE: u64 = u64::MAX;

/// What a decision has spent of leases.
pub(in crate::shared) struct Loans<'n, R: Remote> {
    node: &'n Arc<Node<R>>,
    spent: SmallVec<[(Owner, Taken); 2]>,
}

impl<'n, R: Remote> Loans<'n, R> {
    /// Nothing yet.
    pub(in crate::shared) fn new(node: &'n Arc<Node<R>>) -> Loans<'n, R> {
        Loans { node, spent: SmallVec::new() }
    }

    pub(super) fn extend(&mut self, taken: Option<Taken>, owner: Owner) {
        self.spent.extend(taken.map(|taken| (owner, taken)));
    }

    /// The decision has been made: what was spent belongs to it, or goes back.
    pub(in crate::shared) fn conclude(mut self, said: &mut StoreOutcome) {
        if said.decision.admitted {
            said.receipt.taken.extend(self.spent.drain(..).map(|(_, taken)| taken));
            return;
        }
        for (_, taken) in &self.spent {
            if let Some(one) = said.limits.get_mut(taken.place) {
                let standing = &mut one.outcome.standing;
                standing.remaining = standing.remaining.saturating_add(taken.charged.units);
                (one.outcome.units, one.outcome.changed) = (0, false);
            }
        }
    }
}

impl<R: Remote> Drop for Loans<'_, R> {
    fn drop(&mut self) {
        for (owner, taken) in self.spent.drain(..) {
            self.node.put_back(owner, taken);
        }
    }
}

impl<R: Remote> Node<R> {
    /// Gives back what a decision did not take after all: to the wallet, and where the store has been told that it was spent, to
    /// the store.
    fn put_back(self: &Arc<Self>, owner: Owner, taken: Taken) {
        let (units, ticket) = (taken.charged.units, taken.charged.ticket);
        let from = From::Lease(Serial(ticket));
        let is_back = ticket != STORE
            && self.purse.with(&owner, |entry| entry.wallet.put_back(from, units, Uptime::now()))
                == Some(true);
        if !is_back {
            self.send_taken(taken);
        }
    }
}
