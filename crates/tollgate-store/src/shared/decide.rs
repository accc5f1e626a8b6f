//! One decision: what the node knows first, then the shared store, in one call within the time budget.
//!
//! All or nothing holds over both stores. The local charges are made first, at one moment; a refusal by the shared store
//! gives them back, and so does a caller that is gone before it answered (what the shared store then charged stands, as
//! after a time-out). Where the node refuses, the shared store is asked only for what is charged all the same. There is no
//! await between its answer and the decision, so a caller gets all of a decision or never learns of it.

use std::sync::Arc;

use tollgate_core::Retry;

use super::Node;
use super::answer::Answer;
use super::breaker::Permit;
use super::course::{Asked, Call as Courses, Course, Portion};
use super::limits::Limits;
use super::remote::Remote;
use super::reserved::Reserved;
use crate::{Call, Charge, Source, StoreError, StoreOutcome};

impl<R: Remote> Node<R> {
    /// [`Store::charge_all`](crate::Store::charge_all).
    pub(super) async fn decide(
        self: &Arc<Self>,
        call: &Call<'_>,
    ) -> Result<StoreOutcome, StoreError> {
        let call = &Call { now: self.shared_time(call.now), ..*call };
        if let Some(answer) = self.decide_alone(call) {
            return answer;
        }
        if let Some(answer) = self.decide_in_hand(call) {
            return Ok(answer);
        }
        let limits = self.limits.load_full();
        let mut asked = self.courses(&limits, call)?;
        if let Some(answer) = self.known_exhausted(&limits, call, &asked)? {
            return Ok(answer);
        }
        asked.iter_mut().filter(|one| self.is_unreconciled(one)).for_each(Asked::go_without);
        if asked.iter().any(Asked::is_leased) {
            return self.decide_with_leases(&limits, call, &mut asked).await;
        }
        self.decide_rest(&limits, call, &mut asked).await
    }

    /// Decides all that is not leased, together with what leases have said.
    pub(super) async fn decide_rest(
        &self,
        limits: &Limits,
        call: &Call<'_>,
        asked: &mut [Asked<'_>],
    ) -> Result<StoreOutcome, StoreError> {
        if !asked.iter().any(Asked::is_far) {
            return self.decide_without(limits, call, asked, false);
        }
        match self.enter(call.now) {
            Ok(permit) => self.decide_with(limits, call, asked, permit).await,
            Err(_) => {
                asked.iter_mut().for_each(Asked::go_without);
                self.decide_without(limits, call, asked, false)
            }
        }
    }

    /// Decides a call of which the shared store knows nothing; `None` where it does.
    fn decide_alone(&self, call: &Call<'_>) -> Option<Result<StoreOutcome, StoreError>> {
        let limits = self.limits.load();
        let near = |charge: &Charge<'_>| match limits.get(charge.limit).map(|held| held.near()) {
            Ok(Some(Source::Estimate)) => self.estimates(),
            Ok(near) => near.is_some(),
            Err(_) => false,
        };
        if !call.charges.iter().all(near) {
            return None;
        }
        let said = self.local.charge_all_now(call);
        Some(said.map(|mut said| {
            for (charge, one) in call.charges.iter().zip(&mut said.limits) {
                let held = limits.get(charge.limit).ok();
                one.source = held.and_then(|held| held.near()).unwrap_or_default();
                self.counters.outcome(one.source);
            }
            for taken in &mut said.receipt.taken {
                taken.source = said.limits[taken.place].source;
                if taken.source == Source::Estimate
                    && let Ok(held) = limits.get(taken.limit)
                {
                    self.report_later(held, &call.charges[taken.place], taken);
                }
            }
            said
        }))
    }

    /// Who decides each charge on a good day.
    fn courses<'c>(&self, limits: &'c Limits, call: &Call<'c>) -> Result<Courses<'c>, StoreError> {
        let course = |charge: &Charge<'c>| {
            let held = limits.get(charge.limit)?;
            let away = held.every().is_some() && !self.estimates();
            let course = match (held.near().filter(|_| !away), held.remote) {
                (Some(source), _) => Course::Near(held.id, source),
                (None, Some(remote)) if self.may_lease(held, charge, call) => Course::Lease(remote),
                (None, Some(remote)) => Course::Far(remote),
                (None, None) => return Err(StoreError::UnknownLimit(charge.limit)),
            };
            let key = self.local.name_of(charge.key);
            let mut asked = Asked { held, charge: *charge, key, course };
            if away {
                asked.go_without();
            }
            Ok(asked)
        };
        call.charges.iter().map(course).collect()
    }

    /// Refuses a call with a key that the shared store said is exhausted until later. Without asking it; and not where it
    /// would have to be asked all the same, nor in a replay.
    fn known_exhausted(
        &self,
        limits: &Limits,
        call: &Call<'_>,
        asked: &[Asked<'_>],
    ) -> Result<Option<StoreOutcome>, StoreError> {
        if self.exhausted.is_empty()
            || call.hold.is_some()
            || asked.iter().any(|one| one.held.charges_refused())
        {
            return Ok(None);
        }
        let mut answer = Answer::new(asked, call.now);
        let mut any = false;
        for (place, one) in asked.iter().enumerate() {
            if !one.is_far() || !one.held.stays_exhausted() {
                continue;
            }
            let cost = one.charge.cost;
            if let Some(mut known) = self.exhausted.find(one.held.id, one.key, cost, call.now) {
                if cost > one.held.capacity() {
                    known.retry = Retry::Never;
                }
                answer.add_known(place, known);
                any = true;
            }
        }
        if !any {
            return Ok(None);
        }
        let near = Portion::near(asked);
        answer.add(asked, &near, self.ask_near(limits, call, &near, true)?);
        Ok(Some(self.finish(answer, asked, false)))
    }

    /// Decides with the shared store.
    async fn decide_with(
        &self,
        limits: &Limits,
        call: &Call<'_>,
        asked: &mut [Asked<'_>],
        permit: Permit<'_>,
    ) -> Result<StoreOutcome, StoreError> {
        let near = Portion::near(asked);
        let refused = asked.iter().any(Asked::refuses);
        let reserved = Reserved::new(self, self.ask_near(limits, call, &near, refused)?);
        if refused || !reserved.admits() {
            return self.charge_refused(limits, call, asked, reserved, permit).await;
        }
        let far = Portion::far(asked);
        let far_call = Call { charges: &far.charges, ..*call };
        match self.ask(permit, self.remote.charge_all(&far_call)).await {
            Ok(said) => {
                self.learn(call, asked, &far, &said);
                let near_said = if said.decision.admitted {
                    reserved.keep()
                } else {
                    // Given back, and asked again as one that is refused elsewhere: what is charged all the same is.
                    drop(reserved);
                    self.ask_near(limits, call, &near, true)?
                };
                let mut answer = Answer::new(asked, call.now);
                answer.add(asked, &near, near_said);
                answer.add(asked, &far, said);
                Ok(self.finish(answer, asked, false))
            }
            Err(StoreError::Unavailable(trouble)) => {
                drop(reserved);
                asked.iter_mut().for_each(Asked::go_without);
                self.decide_without(limits, call, asked, trouble.leaves_doubt())
            }
            Err(error) => Err(error),
        }
    }

    /// The node refuses: the shared store is asked only for what is charged all the same.
    async fn charge_refused(
        &self,
        limits: &Limits,
        call: &Call<'_>,
        asked: &mut [Asked<'_>],
        reserved: Reserved<'_, R>,
        permit: Permit<'_>,
    ) -> Result<StoreOutcome, StoreError> {
        // What a refused call took stands, whether its caller waits or not.
        let near = Portion::near(asked);
        let mut answer = Answer::new(asked, call.now);
        answer.add(asked, &near, reserved.keep());
        let far = Portion::of(asked, |one| match one.course {
            Course::Far(limit) if one.held.charges_refused() => Some(limit),
            _ => None,
        });
        if far.charges.is_empty() {
            return Ok(self.finish(answer, asked, false));
        }
        let far_call = Call { charges: &far.charges, ..*call };
        match self.ask(permit, self.remote.charge_refused(&far_call)).await {
            Ok(said) => {
                self.learn(call, asked, &far, &said);
                answer.add(asked, &far, said);
                Ok(self.finish(answer, asked, false))
            }
            Err(StoreError::Unavailable(trouble)) => {
                far.places.iter().for_each(|place| asked[*place].go_without());
                let rest = Portion::of(asked, |one| match one.course {
                    Course::Near(limit, Source::Failure) => Some(limit),
                    _ => None,
                });
                answer.add(asked, &rest, self.ask_near(limits, call, &rest, true)?);
                Ok(self.finish(answer, asked, trouble.leaves_doubt()))
            }
            Err(error) => Err(error),
        }
    }

    /// Decides without the shared store. `doubt`: it was asked and may have charged.
    pub(super) fn decide_without(
        &self,
        limits: &Limits,
        call: &Call<'_>,
        asked: &[Asked<'_>],
        doubt: bool,
    ) -> Result<StoreOutcome, StoreError> {
        let near = Portion::near(asked);
        let refused = asked.iter().any(Asked::refuses);
        let mut answer = Answer::new(asked, call.now);
        answer.add(asked, &near, self.ask_near(limits, call, &near, refused)?);
        Ok(self.finish(answer, asked, doubt))
    }

    /// Asks the local store. `refused`: somebody else refuses, so that only what is charged all the same is taken.
    fn ask_near(
        &self,
        limits: &Limits,
        call: &Call<'_>,
        near: &Portion<'_>,
        refused: bool,
    ) -> Result<StoreOutcome, StoreError> {
        let mut charges = near.charges.clone();
        if refused {
            charges.push(Charge { limit: limits.refuser, key: b"", cost: 1, period: None });
        }
        self.local.charge_all_now(&Call { charges: &charges, ..*call })
    }

    /// The decision; what was admitted without the shared store is kept for it, unless there is doubt whether it charged.
    fn finish(&self, answer: Answer, asked: &[Asked<'_>], doubt: bool) -> StoreOutcome {
        let said = answer.finish(asked);
        for one in &said.limits {
            self.counters.outcome(one.source);
        }
        for taken in &said.receipt.taken {
            let one = &asked[taken.place];
            match taken.source {
                Source::Estimate => self.report_later(one.held, &one.charge, taken),
                Source::Failure if !doubt => self.charge_later(one, taken.charged.units, said.now),
                _ => {}
            }
        }
        if said.decision.admitted && !doubt {
            for one in asked.iter().filter(|one| one.course == Course::Pass) {
                self.charge_later(one, one.charge.cost, said.now);
            }
        }
        said
    }
}
