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

/// The charges that a store is asked for.
type Asked<'a> = SmallVec<[Charge<'a>; 4]>;

impl<S: Store> Engine<S> {
    /// Decides one request. `hold`: how long slots are held after it leaves, where known (a replay).
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
        let mode = self.mode();
        let mut charges = Charges::default();
        if let Err(rejection) = plan(bound, mode, facts, now, &mut charges) {
            return Ok(Ruling::Rejected(rejection));
        }
        let asked = ask(bound, &charges);
        if asked.is_empty() {
            return Ok(Ruling::Decided(unlimited(&charges, now)));
        }
        let mut answer = self.store().charge_all(&Call { charges: &asked, now, hold }).await;
        ruling(bound, mode, &charges, &mut answer, hold)
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
        let asked = ask(bound, charges);
        if asked.is_empty() {
            return Ok(Ruling::Decided(unlimited(charges, now)));
        }
        let mut answer = self.store().charge_all_now(&Call { charges: &asked, now, hold });
        ruling(bound, mode, charges, &mut answer, hold)
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

fn ask<'a>(bound: &Bound, charges: &'a Charges) -> Asked<'a> {
    let charge = |(planned, key): (&Planned, &'a [u8])| Charge {
        limit: bound.id(planned.definition),
        key,
        cost: planned.cost,
        period: planned.period,
    };
    charges.iter().map(charge).collect()
}

/// A decision in which no limit has a say.
fn unlimited(charges: &Charges, now: Timestamp) -> Decision {
    Decision {
        verdict: Verdict::Admit,
        judged: Verdict::Admit,
        route: charges.route,
        limits: SmallVec::new(),
        now,
        taken: Vec::new(),
    }
}

/// What the store's answer comes to. It is large, so it is read where it is and not moved.
#[inline]
fn ruling(
    bound: &Bound,
    mode: Mode,
    charges: &Charges,
    answer: &mut Result<StoreOutcome, StoreError>,
    hold: Option<Micros>,
) -> Result<Ruling, StoreError> {
    match answer {
        Ok(answer) => Ok(Ruling::Decided(report(bound, mode, charges, answer, hold))),
        Err(error) => Err(error.clone()),
    }
}

#[inline]
fn report(
    bound: &Bound,
    mode: Mode,
    charges: &Charges,
    answer: &mut StoreOutcome,
    hold: Option<Micros>,
) -> Decision {
    let judged = match answer.decision {
        said if !said.admitted => Verdict::Refuse(said.retry),
        said if said.delay > Micros::ZERO => Verdict::Delay(said.delay),
        _ => Verdict::Admit,
    };
    let said = charges.iter().zip(&answer.limits);
    let limits = if answer.limits.iter().any(unasked) {
        said.filter(|(_, said)| !unasked(said))
            .map(|(of, said)| describe(bound, of.0, said))
            .collect()
    } else {
        // In one go: with a filter the room for them is not known beforehand.
        said.map(|(of, said)| describe(bound, of.0, said)).collect()
    };
    Decision {
        verdict: if mode == Mode::Enforce { judged } else { Verdict::Admit },
        judged,
        route: charges.route,
        limits,
        now: answer.now,
        taken: held(bound, charges, answer, judged, hold),
    }
}

/// Whether nothing was asked of a limit, since another had refused before.
fn unasked(said: &ChargeOutcome) -> bool {
    said.source == Source::Unasked
}

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
/// all that it took, for it may be withdrawn.
fn held(
    bound: &Bound,
    charges: &Charges,
    answer: &mut StoreOutcome,
    judged: Verdict,
    hold: Option<Micros>,
) -> Vec<Held> {
    let mut held = Vec::new();
    if !matches!(judged, Verdict::Delay(_)) && !charges.end_matters() {
        return held;
    }
    for taken in std::mem::take(&mut answer.receipt).taken {
        let Some((planned, _)) = charges.iter().nth(taken.place) else { continue };
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
            _ if matches!(judged, Verdict::Delay(_)) => Ends::Stays,
            _ => continue,
        };
        let wait = said.map_or(Micros::ZERO, |said| said.outcome.wait);
        held.push(Held { taken, ends, wait });
    }
    held
}
