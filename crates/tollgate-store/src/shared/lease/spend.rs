//! A decision's way to units on lease: from what is in hand, else by waiting for the store.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use smallvec::SmallVec;
use tollgate_core::{Charged, Decision, Micros, Outcome, Retry};

use super::hand::Serial;
use super::loans::{Loans, STORE};
use super::purse::{Entry, Errand, Owner, Purse};
use super::turn::Turn;
use super::verdict;
use super::wallet::{From, Spend};
use crate::shared::Node;
use crate::shared::course::{Asked, Course};
use crate::shared::limits::Held;
use crate::shared::remote::Remote;
use crate::{
    Call, Charge, ChargeOutcome, Receipt, Source, StoreError, StoreOutcome, Taken, Trouble, Uptime,
};

/// What was spent of one limit.
#[derive(Clone, Copy, Debug)]
struct Spent {
    name: u128,
    from: From,
}

/// What a wallet says, without waiting.
enum Said {
    /// It passes or not.
    Known(Outcome, Option<Spent>),
    /// Only the store can say.
    Ask,
}

impl Entry {
    /// Tries to spend. `first`: it is the first try of a request.
    fn spend(&mut self, charge: &Charge<'_>, first: bool, at: Uptime) -> Said {
        self.period = charge.period.or(self.period);
        if first {
            self.wallet.note(charge.cost, at, &self.pace);
        }
        let spend = self.wallet.spend(charge.cost, at);
        let (limit, period) = (&self.held.definition.limit, self.period);
        let Some(told) = self.wallet.told() else { return Said::Ask };
        match spend {
            Spend::Ask => Said::Ask,
            Spend::Refused(until) => {
                let said = verdict::refused(limit, told, charge.cost, period, until, at);
                Said::Known(said, None)
            }
            Spend::Spent(from) => {
                let in_hand = self.wallet.in_hand(at);
                let mut said = verdict::spent(limit, told, charge.cost, in_hand, period, at);
                if let From::Store(moment) = from {
                    said.at = moment;
                }
                Said::Known(said, Some(Spent { name: self.name, from }))
            }
        }
    }

    /// A request to borrow ahead, if it is time.
    fn ahead(&mut self, owner: Owner, nodes: u64, at: Uptime) -> Option<Errand> {
        let pace = self.pace;
        if !self.wallet.is_low(at, &pace) {
            return None;
        }
        let request = self.wallet.ask(0, 0, nodes, at, &pace);
        Some(self.errand(owner, request))
    }
}

impl<R: Remote> Node<R> {
    /// Decides a call of one leased limit from what is in hand; `None` where that does not say.
    #[inline]
    pub(in crate::shared) fn decide_in_hand(
        self: &Arc<Self>,
        call: &Call<'_>,
    ) -> Option<StoreOutcome> {
        let [charge] = call.charges else { return None };
        let limits = self.limits.load();
        let held = limits.get(charge.limit).ok()?;
        let pace = held.pace?;
        if held.rules().shadow || !self.may_lease(held, charge, call) {
            return None;
        }
        let owner = (held.id, self.local.name_of(charge.key));
        let at = Uptime::now();
        let nodes = u64::from(limits.nodes.live.get());
        let (outcome, spent, errand) =
            self.purse.with(&owner, |entry| match entry.spend(charge, false, at) {
                Said::Ask => None,
                Said::Known(outcome, spent) => {
                    entry.wallet.note(charge.cost, at, &pace);
                    Some((outcome, spent, entry.ahead(owner, nodes, at)))
                }
            })??;
        if let Some(errand) = errand {
            self.send(errand);
        }
        self.counters.outcome(Source::Lease);
        let admitted = !outcome.refused;
        let taken = spent.map(|spent| taken(0, held, charge, &outcome, &spent));
        let retry = if admitted { Retry::After(Micros::ZERO) } else { outcome.retry };
        Some(StoreOutcome {
            decision: Decision { admitted, delay: Micros::ZERO, retry },
            limits: SmallVec::from_iter([ChargeOutcome { outcome, source: Source::Lease }]),
            receipt: Receipt { taken: taken.into_iter().collect() },
            now: outcome.at,
        })
    }

    /// Whether this charge may be spent from units on lease.
    pub(in crate::shared) fn may_lease(
        &self,
        held: &Held,
        charge: &Charge<'_>,
        call: &Call<'_>,
    ) -> bool {
        let as_usual =
            !self.virtual_time && call.hold.is_none() && !self.left.load(Ordering::Relaxed);
        as_usual && held.pace.is_some() && (1..=held.capacity()).contains(&charge.cost)
    }

    /// Tries to spend from what is in hand, and sets the course if that says. A limit that has as many wallets as it may is
    /// counted exactly.
    pub(in crate::shared) fn try_lease(
        self: &Arc<Self>,
        place: usize,
        one: &mut Asked<'_>,
        loans: &mut Loans<'_, R>,
    ) {
        self.spend_or_join(place, one, true, loans);
    }

    /// Waits until units on lease say whether the charge passes, for `time` at most.
    ///
    /// # Errors
    /// Where the store has not said.
    pub(in crate::shared) async fn await_lease(
        self: &Arc<Self>,
        place: usize,
        one: &mut Asked<'_>,
        time: Duration,
        loans: &mut Loans<'_, R>,
    ) -> Result<(), StoreError> {
        if self.breaker.is_open() {
            return Err(Trouble::BreakerOpen.into());
        }
        let waits = async {
            while let Some(waiter) = self.spend_or_join(place, one, false, loans) {
                waiter.turn.over().await?;
            }
            Ok(())
        };
        self.remote.within(time, waits).await.unwrap_or(Err(Trouble::TimedOut.into()))
    }

    /// Spends if it is known whether that may be; if not, and this is not the `first` try, joins those who wait for the store.
    fn spend_or_join<'n>(
        self: &'n Arc<Self>,
        place: usize,
        one: &mut Asked<'_>,
        first: bool,
        loans: &mut Loans<'_, R>,
    ) -> Option<Waiter<'n>> {
        let (Course::Lease(remote), Some(pace)) = (one.course, one.held.pace) else { return None };
        let (owner, cost, at) = ((one.held.id, one.key), one.charge.cost, Uptime::now());
        let nodes = u64::from(self.live_nodes());
        let name = || self.remote.name(remote, one.charge.key);
        let mut unclaimed = None;
        let said = self.purse.open(owner, one.held, pace, name, at, |entry| {
            unclaimed = entry.unclaimed(at);
            match entry.spend(&one.charge, first, at) {
                Said::Known(outcome, spent) => {
                    (Some((outcome, spent)), None, entry.ahead(owner, nodes, at))
                }
                Said::Ask if first => (None, None, None),
                Said::Ask => {
                    let (turn, errand) = entry.join(owner, cost, nodes, at);
                    (None, Some(turn), errand)
                }
            }
        });
        if let Some(taken) = unclaimed {
            self.send_taken(taken);
        }
        let Some((known, turn, errand)) = said else {
            one.course = Course::Far(remote);
            return None;
        };
        if let Some((outcome, spent)) = known {
            one.course = Course::Leased(outcome);
            loans.extend(
                spent.map(|spent| taken(place, one.held, &one.charge, &outcome, &spent)),
                owner,
            );
        }
        if let Some(errand) = errand {
            self.send(errand);
        }
        turn.map(|turn| Waiter { purse: &self.purse, owner, cost, turn })
    }
}

impl Entry {
    /// Joins those who wait, for the request that is on its way or for one that is to be sent now.
    fn join(
        &mut self,
        owner: Owner,
        cost: u64,
        nodes: u64,
        at: Uptime,
    ) -> (Arc<Turn>, Option<Errand>) {
        self.waiting.join(cost);
        if let Some(turn) = &self.turn {
            return (turn.clone(), None);
        }
        let pace = self.pace;
        let request = self.wallet.ask(cost, self.waiting.count(cost), nodes, at, &pace);
        let errand = self.errand(owner, request);
        (errand.turn.clone(), Some(errand))
    }
}

/// One who waits for the store.
struct Waiter<'n> {
    purse: &'n Purse,
    owner: Owner,
    cost: u64,
    turn: Arc<Turn>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.purse.with(&self.owner, |entry| entry.waiting.leave(self.cost));
    }
}

fn taken(
    place: usize,
    held: &Held,
    charge: &Charge<'_>,
    outcome: &Outcome,
    spent: &Spent,
) -> Taken {
    let ticket = match spent.from {
        From::Lease(Serial(serial)) => serial,
        From::Store(_) => STORE,
    };
    Taken {
        place,
        limit: held.id,
        key: spent.name,
        charged: Charged { units: charge.cost, fraction: 0, at: outcome.at, ticket },
        period: charge.period,
        source: Source::Lease,
    }
}
