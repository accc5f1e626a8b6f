//! A quota whose period is not the server's: by its clock the day is over already, or has not begun.

use std::sync::Mutex;

use tollgate_core::{Period, Standing, Timestamp};
use tollgate_store::{
    Call, Charge, Definition, LimitId, MemoryOptions, MemoryStore, Store, StoreError, StoreOutcome,
    Taken,
};

use super::*;

/// A store with a clock of its own, which takes no charge of another period than its own.
struct Elsewhere {
    store: MemoryStore,
    clock: Mutex<Timestamp>,
    /// The periods that it was asked for.
    asked: Mutex<Vec<Option<Period>>>,
}

impl Elsewhere {
    fn new(clock: Timestamp) -> Elsewhere {
        let store = MemoryStore::new(MemoryOptions::default());
        Elsewhere { store, clock: Mutex::new(clock), asked: Mutex::default() }
    }
}

impl Store for Elsewhere {
    fn define(&self, definitions: &[Definition], now: Timestamp) -> Vec<LimitId> {
        self.store.define(definitions, now)
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        let now = *self.clock.lock().unwrap();
        self.asked.lock().unwrap().extend(call.charges.iter().map(|charge| charge.period));
        let holds = |period: &Period| period.start <= now && now < period.end;
        if call.charges.iter().filter_map(|charge| charge.period.as_ref()).all(holds) {
            self.store.charge_all_now(&Call { now, ..*call })
        } else {
            Err(StoreError::OtherPeriod(now))
        }
    }

    async fn settle(&self, taken: Taken, units: u64, now: Timestamp) -> Result<(), StoreError> {
        self.store.settle_now(taken, units, now)
    }

    async fn release(&self, taken: Taken, now: Timestamp) -> Result<(), StoreError> {
        self.store.release_now(taken, now)
    }

    async fn peek(&self, charge: &Charge<'_>, now: Timestamp) -> Result<Standing, StoreError> {
        self.store.peek_now(charge, now)
    }

    async fn reset(&self, limit: LimitId, key: &[u8]) -> Result<(), StoreError> {
        self.store.reset_now(limit, key)
    }
}

const DAY: u64 = 86_400;

fn period(day: u64) -> Period {
    let moment = |day: u64| Timestamp::from_micros(day * DAY * 1_000_000);
    Period { start: moment(day), end: moment(day + 1) }
}

fn second(seconds: u64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// Whether a request passes under two a day, when the gateway's clock says `here`.
fn passes(engine: &Engine<Elsewhere>, here: Timestamp) -> bool {
    let ruling = get().facts(|facts| at_once(engine.decide(facts, here, None)));
    match ruling.expect("the engine asks again") {
        Ruling::Decided(decision) => matches!(decision.verdict, Verdict::Admit),
        Ruling::Rejected(rejection) => panic!("{rejection:?}"),
    }
}

fn engine(there: Timestamp) -> Engine<Elsewhere> {
    let yaml = one_limit("{ key: [ip], quota: { limit: 2, every: day } }");
    Engine::new(policy(&yaml), Elsewhere::new(there), Mode::Enforce, second(0))
}

#[test]
fn the_stores_day_counts_where_it_is_another_one_than_the_gateways() {
    // The store is ten seconds ahead, over midnight; and ten seconds behind.
    for (here, there, day) in
        [(100 * DAY - 5, 100 * DAY + 5, 100), (100 * DAY + 5, 100 * DAY - 5, 99)]
    {
        let engine = engine(second(there));
        assert!(passes(&engine, second(here)) && passes(&engine, second(here)));
        assert!(!passes(&engine, second(here)), "two a day");
        let asked = engine.store().asked.lock().unwrap().clone();
        let own = (here / DAY, day);
        let expected = [own.0, own.1].map(|day| Some(period(day))).repeat(3);
        assert_eq!(asked, expected, "each is asked again with the store's own day, once");
    }
}

#[test]
fn the_next_day_begins_by_the_stores_clock() {
    let engine = engine(second(100 * DAY - 1));
    let here = second(100 * DAY - 1);
    assert!(passes(&engine, here) && passes(&engine, here) && !passes(&engine, here));
    *engine.store().clock.lock().unwrap() = second(100 * DAY);
    assert!(passes(&engine, here) && passes(&engine, here) && !passes(&engine, here));
}
