//! A wallet's requests on their way: they go on beside the decisions, whether anybody waits for them or not.

use std::sync::Arc;

use super::exchange::{Answer, Report, Reports, Request};
use super::purse::{Entry, Errand, Purse, Returns};
use crate::shared::Node;
use crate::shared::concurrently::concurrently;
use crate::shared::remote::Remote;
use crate::{StoreError, Taken, Trouble, Uptime};

/// So many returns are under way at a time, when nobody waits for them.
const RETURNS: usize = 16;

impl<R: Remote> Node<R> {
    /// Sends a request, without waiting.
    pub(super) fn send(self: &Arc<Self>, errand: Errand) {
        let node = self.clone();
        self.remote.spawn(async move { node.run(errand).await });
    }

    /// Sends a request and hands the answer to its wallet.
    async fn run(&self, errand: Errand) {
        let over = Over { purse: &self.purse, errand: &errand };
        self.purse.counters.asked(&errand.request);
        let result = self.exchange(&errand, &errand.request).await;
        let LeftOver { lent, unclaimed } = over.hand_over(result);
        if let Some(taken) = unclaimed {
            self.give_back(taken).await;
        }
        if let Some(left_over) = lent {
            // Its wallet is gone: what was lent goes back at once.
            self.purse.counters.asked(&left_over);
            if self.exchange(&errand, &left_over).await.is_err() {
                self.purse.counters.unanswered();
            }
        }
    }

    /// Gives back what was taken in the store and is nobody's.
    async fn give_back(&self, taken: Taken) {
        // Where there is no answer the units count as spent.
        let _ = self.settle_one(taken, 0, self.clock.now()).await;
    }

    /// The same, without waiting.
    pub(super) fn send_taken(self: &Arc<Self>, taken: Taken) {
        let node = self.clone();
        self.remote.spawn(async move { node.give_back(taken).await });
    }

    /// Sends what goes back, and waits for the answers.
    async fn send_back(&self, returns: Returns) {
        concurrently(returns.errands, RETURNS, |errand| self.run(errand)).await;
        concurrently(returns.taken, RETURNS, |taken| self.give_back(taken)).await;
    }

    async fn exchange(&self, errand: &Errand, request: &Request) -> Result<Answer, StoreError> {
        let limit = errand.held.remote.ok_or(StoreError::UnknownLimit(errand.held.id))?;
        let permit = self.enter(self.now())?;
        let call = self.remote.lease(limit, errand.name, request, errand.period, self.now());
        if request.times > 0 {
            self.ask(permit, call).await
        } else {
            self.ask_aside(permit, call).await
        }
    }

    /// Returns what is to be returned by now, in one part of the wallets.
    pub(in crate::shared) async fn tidy_leases(&self, part: usize) {
        self.send_back(self.purse.tidy(part, Uptime::now())).await;
    }

    /// Returns what was borrowed of limits that are no longer the same.
    pub(in crate::shared) fn return_what_changed(self: &Arc<Self>) {
        let limits = self.limits.load();
        let has_changed = |entry: &mut Entry| {
            let same = limits.get(entry.held.id).ok().filter(|held| {
                let (new, old) = (&held.definition.limit, &entry.held.definition.limit);
                let as_before = (new.algorithm(), new.rules()) == (old.algorithm(), old.rules());
                as_before
                    && held.pace.is_some()
                    && !held.retired
                    && held.remote == entry.held.remote
            });
            same.is_none()
        };
        let Returns { errands, taken } = self.purse.give_up(Uptime::now(), has_changed);
        errands.into_iter().for_each(|errand| self.send(errand));
        taken.into_iter().for_each(|taken| self.send_taken(taken));
    }

    /// Returns all that is in hand, once what is on its way has come. For the end: nothing is borrowed any more.
    pub(in crate::shared) async fn return_all(&self) {
        for turn in self.purse.turns() {
            let _ = self.remote.within(self.remote.budget(), turn.over()).await;
        }
        self.send_back(self.purse.give_up(Uptime::now(), |_| true)).await;
    }
}

/// What of an answer is nobody's.
#[derive(Default)]
struct LeftOver {
    /// What was lent to a wallet that is gone.
    lent: Option<Request>,
    /// What an earlier answer brought, and those who waited came too late for.
    unclaimed: Option<Taken>,
}

/// Ends a request's turn, whatever becomes of it.
struct Over<'n> {
    purse: &'n Purse,
    errand: &'n Errand,
}

impl Over<'_> {
    /// Hands the answer to the wallet, wakes who waits, and says what is to be returned since there is no wallet any more.
    fn hand_over(self, result: Result<Answer, StoreError>) -> LeftOver {
        let error = result.as_ref().err().cloned();
        let left_over = self.finish(result);
        self.errand.turn.end(error);
        left_over
    }

    fn finish(&self, result: Result<Answer, StoreError>) -> LeftOver {
        let Errand { owner, turn, period, held, .. } = self.errand;
        let counters = &self.purse.counters;
        let lent = match &result {
            Ok(answer) => Some((answer.term, answer.lent)),
            Err(_) => None,
        };
        lent.map_or_else(|| counters.unanswered(), |(_, units)| counters.lent(units));
        let mut unclaimed = None;
        let known = self.purse.with(owner, |entry| {
            if entry.turn.take_if(|other| Arc::ptr_eq(other, turn)).is_none() {
                return false;
            }
            // Read here, so that what was taken for those who wait is theirs as long as it is meant to be.
            let (at, limit, pace) = (Uptime::now(), &held.definition.limit, entry.pace);
            unclaimed = entry.unclaimed(at);
            match result {
                Ok(answer) => entry.wallet.receive(answer, *period, at, limit, &pace),
                Err(_) => entry.wallet.fail(at),
            }
            true
        });
        let report = |(term, unspent)| {
            Request::of(Reports::from_slice(&[Report { term, unspent, spent: 0 }]))
        };
        let lent = lent.filter(|(_, units)| *units > 0 && known != Some(true)).map(report);
        LeftOver { lent, unclaimed }
    }
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        if !self.errand.turn.is_over() {
            // Broken off: those who wait must not wait for ever.
            let error = StoreError::Unavailable(Trouble::Disconnected);
            self.finish(Err(error.clone()));
            self.errand.turn.end(Some(error));
        }
    }
}
