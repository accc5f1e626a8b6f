//! What a decision with three limits costs, without and with the store: for an instruction counter, which is steady
//! where a clock is not. `valgrind --tool=callgrind target/release/examples/decision_cost [ROUNDS [charges]]`: the
//! difference between two numbers of rounds, divided by theirs, is what one takes. With `charges` the store is left out.

use std::hint::black_box;

use tollgate_core::Timestamp;
use tollgate_policy::file::{Surroundings, read};
use tollgate_policy::{Charges, Engine, Facts, Headers, Mode, Policy};
use tollgate_store::MemoryStore;

const POLICY: &str = "
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

const START: u64 = 1_767_225_600_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: u64 = arguments.next().map_or(Ok(10_000), |rounds| rounds.parse())?;
    let store = arguments.next().is_none();
    let policy = Policy::compile(read("policy", POLICY, &Surroundings::new("."))?.settings)?;
    let now = |round: u64| Timestamp::from_micros(START + round * 100);
    let engine = Engine::new(policy, MemoryStore::default(), Mode::Enforce, now(0));
    let bound = engine.policy();
    let mut charges = Charges::default();
    let users: Vec<_> = (0..64).map(|user| format!("user-{}", user * 1_573)).collect();
    for round in 0..rounds {
        let pairs = [
            ("host", "api.example.com"),
            ("x-user-id", users[round as usize % users.len()].as_str()),
            ("x-tenant", "tenant-917"),
            ("x-plan", "paid"),
        ];
        let facts = black_box(Facts::new("POST", "/v1/chat/completions", Headers::Pairs(&pairs)));
        if store {
            black_box(&engine.decide_now_under(&bound, &facts, now(round), None, &mut charges)?);
        } else {
            bound
                .charges(&facts, now(round), |subject| subject.class, &mut charges)
                .map_err(|rejection| format!("{rejection:?}"))?;
            black_box(&charges);
        }
    }
    Ok(())
}
