//! Taking all of a call's charges or none.
//!
//! Charges whose keys share a slot go in one script; all do, unless the store is a cluster. There the groups are charged one
//! after the other, narrow to wide. Once one has refused, what the earlier ones took is given back, once, and the later ones
//! are asked without charging, so that the decision names all who refuse.

use std::sync::LazyLock;

use smallvec::SmallVec;
use tollgate_core::{
    Algorithm, Asked, Decision, FixedWindow, Limit, Micros, Outcome, Retry, Rules, State,
    Timestamp, step,
};

use super::RedisStore;
use super::ask::{Manner, Told};
use super::plan::{Ask, Group, Plan};
use crate::{Call, ChargeOutcome, Receipt, Source, StoreError, StoreOutcome, Taken};

/// What the groups have said so far.
pub(crate) struct Verdicts {
    told: SmallVec<[(Group, Told); 2]>,
    outcomes: SmallVec<[Outcome; 4]>,
    admitted: bool,
    delay: Micros,
}

impl RedisStore {
    /// [`Store::charge_all`](crate::Store::charge_all). Where it is not `open`, the request was refused elsewhere: only what is
    /// charged all the same is taken.
    pub(crate) async fn decide(
        &self,
        call: &Call<'_>,
        open: bool,
    ) -> Result<StoreOutcome, StoreError> {
        let deadline = self.0.servers.deadline();
        let registry = self.0.registry.load_full();
        let plan = self.plan(&registry, call, deadline).await?;
        let ticket = self.ticket();
        let mut manner = Manner {
            deadline,
            looks: false,
            open,
            hold: call.hold,
            delay: Micros::ZERO,
            ticket,
            now: call.now,
        };
        let mut so_far = Verdicts {
            told: SmallVec::new(),
            outcomes: SmallVec::from_elem(Outcome::default(), plan.asks.len()),
            admitted: open,
            delay: Micros::ZERO,
        };
        let mut returns = SmallVec::<[_; 2]>::new();
        for group in plan.groups(call.hold.is_some()) {
            let asks: SmallVec<[&Ask<'_>; 4]> =
                group.iter().map(|place| &plan.asks[*place]).collect();
            let told = match self.ask(&asks, &manner).await {
                Ok(told) => told,
                Err(error) => {
                    // There is no decision, so what was confirmed is nobody's.
                    if so_far.admitted {
                        self.return_all(so_far.taken(&plan, ticket), call.now);
                    }
                    return Err(error);
                }
            };
            // What is to be given back if this group refuses: it takes nothing itself then.
            let before = so_far.taken(&plan, ticket);
            let refused = so_far.hear(self, &asks, group, told, &manner);
            if refused && manner.open {
                manner.open = false;
                returns.extend(self.return_all(before, call.now));
            }
            manner.delay = so_far.delay;
        }
        if so_far.told.len() > 1 && !so_far.admitted {
            so_far.as_refused(&plan, &manner);
        }
        for returned in returns {
            self.until_returned(returned, deadline).await;
        }
        Ok(so_far.answer(&plan, ticket, call.now))
    }
}

impl Verdicts {
    /// Takes a group's word; says whether it refuses.
    fn hear(
        &mut self,
        store: &RedisStore,
        asks: &[&Ask<'_>],
        group: Group,
        told: Told,
        manner: &Manner,
    ) -> bool {
        let (decision, outcomes) = judge(asks, &told, manner);
        let mut refuses = false;
        for ((place, outcome), refused) in group.iter().zip(outcomes).zip(&told.refused) {
            let own = &mut self.outcomes[*place];
            *own = outcome;
            if own.refused != *refused {
                store.0.observed.differing();
                own.refused = *refused;
            }
            refuses |= *refused && !asks_shadow(asks, &group, *place);
        }
        self.admitted &= !refuses;
        self.delay = self.delay.max(decision.delay);
        self.told.push((group, told));
        refuses
    }

    /// What was taken since nobody refuses; what counts refusals stays taken.
    fn taken(&self, plan: &Plan<'_>, ticket: u64) -> Vec<Taken> {
        let asked = plan.asks.iter().zip(&self.outcomes);
        let lost = asked.filter(|(ask, outcome)| !ask.parameters.part.counts && !outcome.refused);
        lost.filter_map(|(ask, outcome)| taken(ask, outcome, ticket)).collect()
    }

    /// What all groups say once one has refused: those before had been asked as if none did.
    fn as_refused(&mut self, plan: &Plan<'_>, manner: &Manner) {
        let manner = Manner { open: false, ..*manner };
        for (group, told) in &self.told {
            let asks: SmallVec<[&Ask<'_>; 4]> =
                group.iter().map(|place| &plan.asks[*place]).collect();
            let (_, outcomes) = judge(&asks, told, &manner);
            for (place, outcome) in group.iter().zip(outcomes) {
                self.outcomes[*place] = outcome;
            }
        }
    }

    fn answer(&self, plan: &Plan<'_>, ticket: u64, now: Timestamp) -> StoreOutcome {
        let mut retry = Retry::After(Micros::ZERO);
        for (ask, outcome) in plan.asks.iter().zip(&self.outcomes) {
            if !self.admitted && !ask.live.limit.rules().shadow {
                retry = retry.max(outcome.retry);
            }
        }
        let delay = if self.admitted { self.delay } else { Micros::ZERO };
        let limits = plan.of_charge.iter().map(|index| ChargeOutcome {
            outcome: self.outcomes[usize::from(*index)],
            source: Source::Store,
        });
        let asked = plan.asks.iter().zip(&self.outcomes);
        StoreOutcome {
            decision: Decision { admitted: self.admitted, delay, retry },
            limits: limits.collect(),
            receipt: Receipt { taken: asked.filter_map(|(a, o)| taken(a, o, ticket)).collect() },
            now: self.told.iter().map(|(_, told)| told.now).max().unwrap_or(now),
        }
    }
}

fn asks_shadow(asks: &[&Ask<'_>], group: &Group, place: usize) -> bool {
    let ask = group.iter().position(|other| *other == place).and_then(|index| asks.get(index));
    ask.is_some_and(|ask| ask.parameters.part.shadow)
}

/// What an ask took.
fn taken(ask: &Ask<'_>, outcome: &Outcome, ticket: u64) -> Option<Taken> {
    let charged = outcome.charged(ticket)?;
    let (limit, key, period) = (ask.counter.id, ask.key, ask.period);
    Some(Taken { place: ask.place, limit, key, charged, period, source: Source::Store })
}

/// Runs core on the states that the script had read: it tells what remains and when to come again.
fn judge(asks: &[&Ask<'_>], told: &Told, manner: &Manner) -> (Decision, SmallVec<[Outcome; 4]>) {
    let judgement = step_all(asks, told, manner, manner.hold);
    // A slot is held after the longest delay of all, which limits that were asked before may have asked for.
    match manner.hold {
        Some(hold) if manner.delay > judgement.0.delay => {
            let longer = manner.delay.get() - judgement.0.delay.get();
            step_all(asks, told, manner, Some(Micros::new(hold.get().saturating_add(longer))))
        }
        _ => judgement,
    }
}

fn step_all(
    asks: &[&Ask<'_>],
    told: &Told,
    manner: &Manner,
    hold: Option<Micros>,
) -> (Decision, SmallVec<[Outcome; 4]>) {
    let mut states: SmallVec<[State; 4]> = told.states.clone();
    let mut another = State::Fresh;
    let mut asked: SmallVec<[Asked<'_>; 4]> = SmallVec::new();
    for (ask, state) in asks.iter().zip(&mut states) {
        let (limit, cost, period) = (&ask.live.limit, ask.cost(), ask.period);
        asked.push(Asked { limit, state, cost, period });
    }
    if !manner.open {
        // Another limit has refused: one that always does stands for it.
        asked.push(Asked { limit: &REFUSING, state: &mut another, cost: 0, period: None });
    }
    let mut outcomes: SmallVec<[Outcome; 4]> = SmallVec::from_elem(Outcome::default(), asked.len());
    let decision = step(&mut asked, told.now, manner.ticket, hold, &mut outcomes);
    outcomes.truncate(asks.len());
    (decision, outcomes)
}

/// It refuses whatever is asked.
static REFUSING: LazyLock<Limit> = LazyLock::new(|| {
    let nothing = FixedWindow { limit: 0, window: Micros::from_secs(1) };
    Limit::new(Algorithm::FixedWindow(nothing), Rules::default())
        .expect("a window of nothing is a limit")
});
