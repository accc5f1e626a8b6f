//! Facts to charges, charges to the store, its answer to a decision.

use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Micros, Timestamp};
use tollgate_store::{
    Call, Charge, ChargeOutcome, MemoryStore, Source, Store, StoreError, StoreOutcome,
};

use super::{Bound, Engine, Mode, Rejection, Ruling};
use crate::charges::Planned;
use crate::{Charges, Decision, Ends, Facts, Held, LimitReport, Verdict};

/// Room for the charges that a store is asked for: mostly a few.
type Few<'a> = SmallVec<[Charge<'a>; 4]>;

impl<S: Store> Engine<S> {
    /// Decides one request. `hold`: how long slots are held after it leaves, where known (a replay). Such a request runs in
    /// any case: it cannot be withdrawn.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer.
    pub async fn decide(
        &self,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
    ) -> Result<Ruling, StoreError> {
        loop {
            let bound = self.policy();
            match self.decide_under(&bound, facts, now, hold).await {
                // Two reloads came between; the policy that is in force now knows its limits.
                Err(StoreError::UnknownLimit(_)) if self.version() != bound.version() => {}
                answer => return answer,
            }
        }
    }

    /// Decides one request by a policy that the caller holds (see [`Engine::policy`]), so that what it reads of the policy
    /// and the decision belong together.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer; also where the policy was replaced twice since.
    pub async fn decide_under(
        &self,
        bound: &Bound,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
    ) -> Result<Ruling, StoreError> {
        self.decide_in(bound, facts, now, hold, &mut Charges::default()).await
    }

    /// [`Engine::decide_under`]; `charges` is room that is used again, and holds afterwards what was asked.
    ///
    /// # Errors
    /// As [`Engine::decide_under`].
    pub async fn decide_in(
        &self,
        bound: &Bound,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
        charges: &mut Charges,
    ) -> Result<Ruling, StoreError> {
        let mode = self.mode();
        if let Err(rejection) = plan(bound, mode, facts, now, charges) {
            return Ok(Ruling::Rejected(rejection));
        }
        if charges.planned().is_empty() {
            return Ok(Ruling::Decided(unlimited(charges, now)));
        }
        match self.charge(bound, charges, now, hold).await {
            Err(StoreError::OtherPeriod(at)) => {
                // By a shared store's clock a quota's period is over already, or not yet: its clock counts.
                if let Err(rejection) = plan(bound, mode, facts, at, charges) {
                    return Ok(Ruling::Rejected(rejection));
                }
                self.charge(bound, charges, at, hold).await?;
            }
            answered => answered?,
        }
        Ok(Ruling::Decided(decision(bound, mode, charges, hold)))
    }

    async fn charge(
        &self,
        bound: &Bound,
        charges: &mut Charges,
        now: Timestamp,
        hold: Option<Micros>,
    ) -> Result<(), StoreError> {
        let (asked, answer) = charges.asked();
        let mut few = Few::new();
        few.extend(asked.map(|planned| charge(bound, planned)));
        let call = Call { charges: &few, now, hold };
        self.store().charge_all_into(&call, answer).await
    }
}

impl Engine<MemoryStore> {
    /// [`Engine::decide`], at once: the memory store never waits. `charges` is room that is used again.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer.
    pub fn decide_now(
        &self,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
        charges: &mut Charges,
    ) -> Result<Ruling, StoreError> {
        let mut bound = self.policy();
        let mut answer = self.decide_now_under(&bound, facts, now, hold, charges);
        // A decision is large, so it is looked at where it is and not moved.
        while matches!(answer, Err(StoreError::UnknownLimit(_)))
            && self.version() != bound.version()
        {
            bound = self.policy();
            answer = self.decide_now_under(&bound, facts, now, hold, charges);
        }
        answer
    }

    /// [`Engine::decide_under`], at once.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer; also where the policy was replaced twice since.
    pub fn decide_now_under(
        &self,
        bound: &Bound,
        facts: &Facts<'_>,
        now: Timestamp,
        hold: Option<Micros>,
        charges: &mut Charges,
    ) -> Result<Ruling, StoreError> {
        let mode = self.mode();
        if let Err(rejection) = plan(bound, mode, facts, now, charges) {
            return Ok(Ruling::Rejected(rejection));
        }
        if charges.planned().is_empty() {
            return Ok(Ruling::Decided(unlimited(charges, now)));
        }
        self.charge_now(bound, charges, now, hold)?;
        Ok(Ruling::Decided(decision(bound, mode, charges, hold)))
    }

    fn charge_now(
        &self,
        bound: &Bound,
        charges: &mut Charges,
        now: Timestamp,
        hold: Option<Micros>,
    ) -> Result<(), StoreError> {
        let (asked, answer) = charges.asked();
        let mut few = Few::new();
        few.extend(asked.map(|planned| charge(bound, planned)));
        self.store().charge_all_into_now(&Call { charges: &few, now, hold }, answer)
    }
}

/// Finds the charges; in mode off the route only, and in shadow mode a missing identity refuses nobody.
fn plan(
    bound: &Bound,
    mode: Mode,
    facts: &Facts<'_>,
    now: Timestamp,
    charges: &mut Charges,
) -> Result<(), Rejection> {
    match mode {
        Mode::Off => bound.route(facts, charges),
        Mode::Enforce => bound.charges(facts, now, |subject| subject.class, charges),
        Mode::Shadow => match bound.charges(facts, now, |subject| subject.class, charges) {
            Err(Rejection::MissingIdentity { .. }) => bound.route(facts, charges),
            other => other,
        },
    }
}

/// What the store is asked for.
#[inline]
fn charge<'a>(bound: &Bound, (planned, key): (&Planned, &'a [u8])) -> Charge<'a> {
    Charge { limit: bound.id(planned.definition), key, cost: planned.cost, period: planned.period }
}

/// A decision in which no limit has a say.
fn unlimited(charges: &Charges, now: Timestamp) -> Decision {
    Decision {
        verdict: Verdict::Admit,
        judged: Verdict::Admit,
        route: charges.route,
        limits: Vec::new(),
        now,
        taken: Vec::new(),
    }
}

/// What the store's answer comes to.
#[inline]
fn decision(bound: &Bound, mode: Mode, charges: &mut Charges, hold: Option<Micros>) -> Decision {
    let route = charges.route;
    let (planned, answer) = charges.answered();
    let judged = match answer.decision {
        said if !said.admitted => Verdict::Refuse(said.retry),
        said if said.delay > Micros::ZERO => Verdict::Delay(said.delay),
        _ => Verdict::Admit,
    };
    let reports = planned.iter().zip(&answer.limits);
    let report = |(planned, said): (&Planned, &ChargeOutcome)| describe(bound, planned, said);
    // A limit that was not asked, since another had refused before, says nothing.
    let unasked = |said: &ChargeOutcome| said.source == Source::Unasked;
    let limits = if answer.limits.iter().any(unasked) {
        reports.filter(|(_, said)| !unasked(said)).map(report).collect()
    } else {
        reports.map(report).collect()
    };
    Decision {
        verdict: if mode == Mode::Enforce { judged } else { Verdict::Admit },
        judged,
        route,
        limits,
        now: answer.now,
        taken: held(bound, planned, answer, judged, hold),
    }
}

#[inline]
fn describe(bound: &Bound, planned: &Planned, said: &ChargeOutcome) -> LimitReport {
    let ChargeOutcome { outcome, source } = said;
    let limit = &bound.limits[planned.limit];
    let class = &limit.classes[planned.class];
    let period = planned
        .period
        .map(|period| Micros::new(period.end.as_micros().saturating_sub(period.start.as_micros())));
    LimitReport {
        limit: planned.limit,
        name: limit.name,
        class: limit.by.map(|_| planned.class),
        cost: planned.cost,
        refused: outcome.refused,
        shadow: limit.shadow,
        retry: outcome.retry,
        wait: outcome.wait,
        quota: class.quota,
        window: class.window.or(period),
        standing: outcome.standing,
        source: *source,
        unavailable: *source == Source::Failure && !limit.goes_on,
    }
}

/// What the end of the request may still change. Most requests hold nothing, and allocate nothing. One that waits holds
/// all that it took, for it may be withdrawn; not where its end is known beforehand.
#[inline]
fn held(
    bound: &Bound,
    planned: &[Planned],
    answer: &mut StoreOutcome,
    judged: Verdict,
    hold: Option<Micros>,
) -> Vec<Held> {
    let withdrawn = matches!(judged, Verdict::Delay(_)) && hold.is_none();
    if !withdrawn && !planned.iter().any(|planned| planned.ends) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for taken in answer.receipt.taken.drain(..) {
        let Some(planned) = planned.get(taken.place) else { continue };
        let limit = &bound.limits[planned.limit];
        // Where it is known how long slots are held, they end by themselves.
        let slot = limit.classes[planned.class].slots && hold.is_none();
        let said = answer.limits.get(taken.place);
        // By another, or by itself though it is a shadow limit, which charges as if it were enforced.
        let refused =
            matches!(judged, Verdict::Refuse(_)) || said.is_some_and(|said| said.outcome.refused);
        let ends = match &limit.charge_when {
            _ if slot => Ends::Release,
            // It concerns admitted requests only: a refusal that was charged stands.
            Some(statuses) if !refused => Ends::ChargeWhen(Arc::clone(statuses)),
            _ if withdrawn => Ends::Stays,
            _ => continue,
        };
        let wait = said.map_or(Micros::ZERO, |said| said.outcome.wait);
        all.push(Held { taken, ends, wait });
    }
    all
}
