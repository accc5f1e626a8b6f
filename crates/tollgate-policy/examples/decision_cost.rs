//! What a decision with three limits costs, without and with the store: for an instruction counter, which is steady
//! where a clock is not. `valgrind --tool=callgrind target/release/examples/decision_cost [ROUNDS [WORD...]]`: the
//! difference between two numbers of rounds, divided by theirs, is what one takes.
//!
//! - Without a word, requests are as a replay has them: recorded fields, decided at once.
//! - `live`: as a gateway has them: a map of fields, decided in the first poll of a future.
//! - `charges`: the store is left out.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use http::{HeaderMap, HeaderValue};
use tollgate_core::Timestamp;
use tollgate_policy::file::{Surroundings, read};
use tollgate_policy::{Charges, Engine, Facts, Headers, Mode, Policy};
use tollgate_store::MemoryStore;

const RECORDED: &str = "
identity:
  user: { header: x-user-id, from: anyone }
  tenant: { header: x-tenant, from: anyone }
  plan: { header: x-plan, from: anyone, default: free }
limits:
  per-user: { key: [user], by: plan, sliding_window: { free: { limit: 30, window: 1m }, paid: { limit: 300, window: 1m } } }
  per-tenant: { key: [tenant], token_bucket: { rate: 50/s, burst: 100 } }
  cluster: { key: [], leaky_bucket: { rate: 8000/s, burst: 200 } }
routes:
  - { match: { path: /healthz }, limits: [] }
  - { match: { path: /v1/**, method: [POST] }, limits: [per-user, per-tenant, cluster] }
";

const LIVE: &str = "
identity:
  user: { header: x-user, from: anyone }
  tenant: { header: x-tenant, from: anyone }
limits:
  user: { key: [user], sliding_window: { limit: 1000000000, window: 1m } }
  tenant: { key: [tenant], token_bucket: { rate: 10000000/s, burst: 10000000 } }
  everybody: { key: [], leaky_bucket: { rate: 10000000/s, burst: 10000000, nodelay: true } }
routes:
  - { match: { path: /** }, limits: [user, tenant, everybody] }
";

const START: u64 = 1_767_225_600_000_000;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let rounds: u64 = arguments.next().map_or(Ok(10_000), |rounds| rounds.parse())?;
    let words: Vec<String> = arguments.collect();
    let said = |word: &str| words.iter().any(|said| said == word);
    let live = said("live");
    let text = if live { LIVE } else { RECORDED };
    let policy = Policy::compile(read("policy", text, &Surroundings::new("."))?.settings)?;
    let engine = Engine::new(policy, MemoryStore::default(), Mode::Enforce, now(0));
    match (live, !said("charges")) {
        (true, store) => live_requests(&engine, rounds, store),
        (false, store) => recorded_requests(&engine, rounds, store),
    }
}

fn now(round: u64) -> Timestamp {
    Timestamp::from_micros(START + round * 100)
}

fn users() -> Vec<String> {
    (0..64).map(|user| format!("user-{}", user * 1_573)).collect()
}

fn live_requests(engine: &Engine<MemoryStore>, rounds: u64, store: bool) -> Result<(), Failure> {
    let mut maps = Vec::new();
    for user in users() {
        let mut map = HeaderMap::new();
        map.insert("host", HeaderValue::from_static("127.0.0.1:9002"));
        map.insert("x-user", HeaderValue::from_str(&user)?);
        map.insert("x-tenant", HeaderValue::from_static("studio"));
        maps.push(map);
    }
    let bound = engine.policy();
    let mut charges = Charges::default();
    for round in 0..rounds {
        let map = &maps[round as usize % maps.len()];
        let facts = black_box(Facts::new("GET", "/", Headers::Map(map)));
        if store {
            let deciding = engine.decide_in(&bound, &facts, now(round), None, &mut charges);
            match pin!(deciding).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(ruling) => black_box(&ruling?),
                Poll::Pending => return Err("the memory store waits".into()),
            };
        } else {
            charge(&bound, &facts, round, &mut charges)?;
        }
    }
    Ok(())
}

fn recorded_requests(
    engine: &Engine<MemoryStore>,
    rounds: u64,
    store: bool,
) -> Result<(), Failure> {
    let bound = engine.policy();
    let mut charges = Charges::default();
    let users = users();
    for round in 0..rounds {
        let pairs = [
            ("host", "api.example.com"),
            ("x-user-id", users[round as usize % users.len()].as_str()),
            ("x-tenant", "tenant-917"),
            ("x-plan", "paid"),
        ];
        let facts = black_box(Facts::new("POST", "/v1/chat/completions", Headers::Pairs(&pairs)));
        if store {
            let ruling = engine.decide_now_under(&bound, &facts, now(round), None, &mut charges);
            black_box(&ruling?);
        } else {
            charge(&bound, &facts, round, &mut charges)?;
        }
    }
    Ok(())
}

fn charge(
    policy: &Policy,
    facts: &Facts<'_>,
    round: u64,
    charges: &mut Charges,
) -> Result<(), Failure> {
    let planned = policy.charges(facts, now(round), |subject| subject.class, charges);
    planned.map_err(|rejection| format!("{rejection:?}"))?;
    black_box(&*charges);
    Ok(())
}
