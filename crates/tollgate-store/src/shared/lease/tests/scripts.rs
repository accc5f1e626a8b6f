//! The scripts equal the model: traces of exchanges, exact charges, settles and resets on real servers.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tollgate_core::{Charged, Limit, Period, Timestamp};

use super::super::exchange::{Answer, MOST_REPORTS, Report, Reports, Request};
use super::super::pace::GENERATION;
use super::chance::Chance;
use super::model::{Fault, LeasedKey};
use super::never_more::{buckets, windows};
use super::world::{START, World};
use crate::redis::harness::{Program, Server};
use crate::redis::{Deadline, RedisOptions, RedisStore};
use crate::shared::Remote;
use crate::{Call, Charge, Definition, LimitId, Shape, Sharing, Store, Taken};

/// A store on a real server, whose clock is the test's.
struct Hosted {
    store: RedisStore,
    server: Server,
    runtime: Runtime,
}

impl Hosted {
    fn start(program: &Program) -> Hosted {
        let server = Server::start(program);
        let mut options = RedisOptions::from_url(&server.url()).expect("a URL");
        (options.budget, options.virtual_time) = (Duration::from_secs(20), true);
        let store = RedisStore::start(&options).expect("a store");
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(store.ready(Duration::from_secs(20))).expect("a connection");
        Hosted { store, server, runtime }
    }

    fn define(&self, limits: &[Limit]) -> Vec<LimitId> {
        let definition = |(place, limit): (usize, &Limit)| Definition {
            name: format!("limit {place}").into(),
            class: None,
            limit: limit.clone(),
            shape: Shape(String::new()),
            max_keys: 100,
            sharing: Sharing::default(),
        };
        let definitions: Vec<Definition> = limits.iter().enumerate().map(definition).collect();
        self.store.define(&definitions, Timestamp::from_micros(START))
    }
}

/// One key, on the server and in the model.
struct Twin<'h> {
    hosted: &'h Hosted,
    limit: Limit,
    id: LimitId,
    name: String,
    model: LeasedKey,
    /// Units out, as nodes would report them: term and units.
    held: Vec<(u64, u64)>,
    charged: Vec<Taken>,
    now: u64,
}

impl Twin<'_> {
    fn period(&self) -> Option<Period> {
        World::period(self.now)
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.now)
    }

    fn request(&mut self, chance: &mut Chance) -> Request {
        let mut reports = Reports::new();
        for _ in 0..chance.below(3).min(MOST_REPORTS as u64) {
            if self.held.is_empty() {
                break;
            }
            let place = chance.below(self.held.len() as u64) as usize;
            let (term, units) = self.held[place];
            let told = 1 + chance.below(units);
            let unspent = chance.below(told + 1);
            if chance.is(90) {
                self.held[place].1 -= told;
                self.held.retain(|(_, units)| *units > 0);
            }
            reports.push(Report { term, unspent, spent: told - unspent });
        }
        let (cost, times) =
            if chance.is(50) { (1 + chance.span(20), chance.span(30)) } else { (0, 0) };
        let want = if chance.is(60) { chance.span(300) } else { 0 };
        Request { reports, cost, times, want, parts: 1 + chance.span(20) }
    }

    fn exchange(&mut self, chance: &mut Chance) {
        let request = self.request(chance);
        let key = self.hosted.store.name(self.id, self.name.as_bytes());
        let call = self.hosted.store.exchange(self.id, key, &request, self.period(), self.at());
        let said = self.hosted.runtime.block_on(call).expect("an answer");
        let expected = self.model.exchange(&request, self.now, self.period());
        let numbers = |answer: &Answer| {
            let Answer { now, taken, lent, term, lasts, out, .. } = answer;
            (*now, *taken, *lent, if *lent > 0 { *term } else { 0 }, *lasts, *out)
        };
        assert_eq!(numbers(&said), numbers(&expected), "{request:?} of {:?}", self.limit);
        let standing = |state| self.limit.standing(state, self.period(), self.at());
        assert_eq!(standing(&said.state), standing(&expected.state), "{request:?}");
        if said.lent > 0 {
            self.held.push((said.term, said.lent));
        }
    }

    fn charge(&mut self, cost: u64) {
        let charge =
            Charge { limit: self.id, key: self.name.as_bytes(), cost, period: self.period() };
        let call = Call { charges: &[charge], now: self.at(), hold: None };
        let said = self.hosted.runtime.block_on(self.hosted.store.charge_all(&call));
        let mut said = said.expect("an answer");
        let expected = self.model.charge(cost, self.now, self.period());
        let outcome = said.limits[0].outcome;
        assert_eq!(outcome.refused, expected.refused, "{cost} of {:?}", self.limit);
        assert_eq!(outcome.standing, expected.standing, "{cost} of {:?}", self.limit);
        assert_eq!(outcome.retry, expected.retry);
        self.charged.append(&mut said.receipt.taken.drain(..).collect());
    }

    fn settle(&mut self, chance: &mut Chance) {
        if self.charged.is_empty() {
            return;
        }
        let taken = self.charged.remove(chance.below(self.charged.len() as u64) as usize);
        let charged: Charged = taken.charged;
        let keep = chance.below(charged.units + 1);
        self.model.settle(&charged, keep, self.now, self.period());
        let settled = self.hosted.store.settle(taken, keep, self.at());
        self.hosted.runtime.block_on(settled).expect("an answer");
    }

    fn reset(&mut self) {
        self.model.reset(self.now, self.period());
        let (key, deadline) = (self.name.as_bytes(), Deadline::within(Duration::from_secs(20)));
        let reset = self.hosted.store.reset_by(self.id, key, self.at(), deadline);
        self.hosted.runtime.block_on(reset).expect("an answer");
        self.charged.clear();
    }

    fn compare(&mut self) {
        let charge =
            Charge { limit: self.id, key: self.name.as_bytes(), cost: 0, period: self.period() };
        let peek = self.hosted.store.peek(&charge, self.at());
        let said = self.hosted.runtime.block_on(peek).expect("an answer");
        assert_eq!(said, self.model.standing(self.now, self.period()), "{:?}", self.limit);
    }
}

fn trace(hosted: &Hosted, limit: &Limit, id: LimitId, seed: u64) {
    let mut chance = Chance(seed);
    let mut twin = Twin {
        hosted,
        limit: limit.clone(),
        id,
        name: format!("key {seed}"),
        model: LeasedKey::new(limit.clone(), GENERATION, Fault::None),
        held: Vec::new(),
        charged: Vec::new(),
        now: START + chance.below(10_000_000),
    };
    for _ in 0..60 {
        twin.now += [0, chance.span(50_000), chance.span(3_000_000)][chance.below(3) as usize];
        match chance.below(20) {
            0 => twin.reset(),
            1..=3 => twin.settle(&mut chance),
            4..=8 => twin.charge(chance.span(60)),
            9 => twin.compare(),
            _ => twin.exchange(&mut chance),
        }
    }
    twin.compare();
}

#[test]
fn scripts_lend_as_the_model_does() {
    for program in Program::all() {
        let hosted = Hosted::start(&program);
        let limits: Vec<Limit> = buckets().into_iter().chain(windows()).collect();
        let ids = hosted.define(&limits);
        for (limit, id) in limits.iter().zip(ids) {
            (0..40).for_each(|seed| trace(&hosted, limit, id, seed));
        }
        hosted.server.assert_every_key_expires();
        assert_eq!(hosted.store.observed().differing, 0);
    }
}
