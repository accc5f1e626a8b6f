//! One answer from what several stores said.

use smallvec::SmallVec;
use tollgate_core::{Decision, Micros, Outcome, Retry, Standing, Timestamp};

use super::course::{Asked, Course, Portion};
use super::exhausted::Known;
use crate::{ChargeOutcome, Receipt, Source, StoreOutcome};

/// When a request that was refused since the store is away may try again: the breaker looks about that often.
const AWAY: Micros = Micros::from_secs(1);

/// What was said so far.
#[derive(Debug)]
pub(super) struct Answer {
    limits: SmallVec<[ChargeOutcome; 4]>,
    receipt: Receipt,
    now: Timestamp,
}

impl Answer {
    /// What is said without asking anybody.
    pub(super) fn new(asked: &[Asked<'_>], now: Timestamp) -> Answer {
        let limits = asked
            .iter()
            .map(|one| match one.course {
                Course::Pass => {
                    let limit = &one.held.definition.limit;
                    let standing = limit.standing(&Default::default(), one.charge.period, now);
                    said(Outcome { at: now, standing, ..Outcome::default() }, Source::Failure)
                }
                Course::Refuse => {
                    said(refused(Retry::After(AWAY), Standing::default()), Source::Failure)
                }
                Course::Leased(outcome) => said(outcome, Source::Lease),
                Course::Near(..) | Course::Far(_) | Course::Lease(_) => {
                    said(Outcome::default(), Source::Unasked)
                }
            })
            .collect();
        Answer { limits, receipt: Receipt::default(), now }
    }

    /// Adds what is known of the charge at `place` from before.
    pub(super) fn add_known(&mut self, place: usize, known: Known) {
        self.limits[place] = said(refused(known.retry, known.standing), Source::Exhausted);
    }

    /// Adds what a store said of `portion`.
    pub(super) fn add(
        &mut self,
        asked: &[Asked<'_>],
        portion: &Portion<'_>,
        mut said: StoreOutcome,
    ) {
        let source = |place: usize| match asked[place].course {
            Course::Near(_, source) => source,
            _ => Source::Store,
        };
        for (place, one) in portion.places.iter().zip(&said.limits) {
            let source = source(*place);
            self.limits[*place] = ChargeOutcome { outcome: one.outcome, source };
        }
        for mut taken in said.receipt.taken.drain(..) {
            let Some(place) = portion.places.get(taken.place) else { continue };
            taken.place = *place;
            taken.limit = asked[*place].held.id;
            taken.source = source(*place);
            self.receipt.taken.push(taken);
        }
        self.now = self.now.max(said.now);
    }

    /// What all say together.
    pub(super) fn finish(mut self, asked: &[Asked<'_>]) -> StoreOutcome {
        let enforced = |(one, _): &(&Asked<'_>, &ChargeOutcome)| !one.held.rules().shadow;
        let admitted =
            asked.iter().zip(&self.limits).filter(enforced).all(|(_, said)| !said.outcome.refused);
        let mut decision =
            Decision { admitted, delay: Micros::ZERO, retry: Retry::After(Micros::ZERO) };
        for (_, said) in asked.iter().zip(&self.limits).filter(enforced) {
            if admitted {
                decision.delay = decision.delay.max(said.outcome.wait);
            } else {
                decision.retry = decision.retry.max(said.outcome.retry);
            }
        }
        if !admitted {
            self.limits.iter_mut().for_each(|said| said.outcome.wait = Micros::ZERO);
        }
        let Answer { limits, receipt, now } = self;
        StoreOutcome { decision, limits, receipt, now }
    }
}

fn said(outcome: Outcome, source: Source) -> ChargeOutcome {
    ChargeOutcome { outcome, source }
}

fn refused(retry: Retry, standing: Standing) -> Outcome {
    Outcome { refused: true, retry, standing, ..Outcome::default() }
}
