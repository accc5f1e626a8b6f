//! A decision with leased limits among its own: units in hand first, then the node's own limits, then the store.

use std::sync::Arc;

use super::loans::Loans;
use crate::shared::Node;
use crate::shared::course::{Asked, Course};
use crate::shared::limits::Limits;
use crate::shared::remote::Remote;
use crate::{Call, StoreError, StoreOutcome, Taken, Trouble, Uptime};

impl<R: Remote> Node<R> {
    /// Decides a call with leased limits. All or nothing holds over them as well: what is spent of a lease goes back to it when
    /// another limit refuses, and when the caller is gone before the end.
    pub(in crate::shared) async fn decide_with_leases(
        self: &Arc<Self>,
        limits: &Limits,
        call: &Call<'_>,
        asked: &mut [Asked<'_>],
    ) -> Result<StoreOutcome, StoreError> {
        let begun = Uptime::now();
        let mut loans = Loans::new(self);
        for place in 0..asked.len() {
            let counted_twice = asked.iter().filter(|one| is_same(one, &asked[place])).count() > 1;
            match asked[place].course {
                Course::Lease(remote) if counted_twice => asked[place].course = Course::Far(remote),
                _ => self.try_lease(place, &mut asked[place], &mut loans),
            }
        }
        let waits = asked.iter().any(Asked::is_leased) && !asked.iter().any(Asked::refuses);
        if waits {
            if self.would_refuse(call, asked) {
                let said = self.decide_rest(limits, call, asked).await?;
                if !said.decision.admitted {
                    return Ok(conclude(loans, said));
                }
                // It has changed its mind: as if it had not been asked.
                self.undo(said.receipt.taken);
            }
            self.await_leases(asked, begun, &mut loans).await?;
        }
        if begun == Uptime::now() || !asked.iter().any(Asked::is_far) {
            return Ok(conclude(loans, self.decide_rest(limits, call, asked).await?));
        }
        let left = self.remote.budget().saturating_sub(since(begun));
        let rest = self.remote.within(left, self.decide_rest(limits, call, asked)).await;
        let said = match rest {
            Some(said) => said?,
            None => {
                self.counters.error(Trouble::TimedOut);
                asked.iter_mut().for_each(Asked::go_without);
                self.decide_without(limits, call, asked, true)?
            }
        };
        Ok(conclude(loans, said))
    }

    /// Waits for the leases that are short of units, one after the other, until one refuses. Where the store does not say,
    /// the call goes on without it.
    async fn await_leases(
        self: &Arc<Self>,
        asked: &mut [Asked<'_>],
        begun: Uptime,
        loans: &mut Loans<'_, R>,
    ) -> Result<(), StoreError> {
        for place in 0..asked.len() {
            if !asked[place].is_leased() {
                continue;
            }
            let left = self.remote.budget().saturating_sub(since(begun));
            match self.await_lease(place, &mut asked[place], left, loans).await {
                Ok(()) if asked[place].refuses() => return Ok(()),
                Ok(()) => {}
                Err(StoreError::Unavailable(_)) => {
                    asked.iter_mut().for_each(Asked::go_without);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether one of the node's own limits will refuse, as it looks.
    fn would_refuse(&self, call: &Call<'_>, asked: &[Asked<'_>]) -> bool {
        asked.iter().any(|one| {
            let Course::Near(limit, _) = one.course else { return false };
            let charge = crate::Charge { limit, ..one.charge };
            let standing = self.local.peek_now(&charge, call.now);
            !one.held.rules().shadow
                && standing.is_ok_and(|standing| standing.remaining < one.charge.cost)
        })
    }

    /// Gives back what was taken by a decision that is not to be.
    fn undo(self: &Arc<Self>, taken: impl IntoIterator<Item = Taken>) {
        for taken in taken {
            let node = self.clone();
            self.remote.spawn(async move {
                // Where there is no answer it stays taken.
                let _ = node.settle_one(taken, 0, node.clock.now()).await;
            });
        }
    }
}

fn conclude<R: Remote>(loans: Loans<'_, R>, mut said: StoreOutcome) -> StoreOutcome {
    loans.conclude(&mut said);
    said
}

fn is_same(one: &Asked<'_>, other: &Asked<'_>) -> bool {
    (one.held.id, one.key) == (other.held.id, other.key)
}

fn since(begun: Uptime) -> std::time::Duration {
    std::time::Duration::from_micros(Uptime::now().since(begun).get())
}
