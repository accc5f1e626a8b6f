//! Mixed load on the built command while services die and come back and the policy and the certificates change: nobody gets a
//! wrong answer, nobody loses a request but by a service's fault, and nothing grows.
//!
//! It lasts 20 seconds; `TOLLGATE_SOAK_SECONDS=1800 cargo test -p tollgate --test soak` makes it half an hour.

mod certificates;
mod clients;
mod footprint;
mod ledger;
mod service;
mod stage;
#[path = "../web/mod.rs"]
mod web;

use std::sync::Arc;
use std::time::Duration;

use footprint::Footprint;
use ledger::Ledger;
use stage::{ALLOWED, Stage};

/// How long the load lasts.
fn length() -> Duration {
    let seconds = std::env::var("TOLLGATE_SOAK_SECONDS").ok();
    let seconds = seconds.map(|seconds| seconds.parse().expect("TOLLGATE_SOAK_SECONDS in seconds"));
    Duration::from_secs(seconds.unwrap_or(20))
}

/// What a process may grow by between a quarter of the time and its end, beyond a tenth of what it had.
const GROWTH: u64 = 16 * 1024 * 1024;

#[test]
fn mixed_load_through_deaths_and_reloads() {
    let stage = Stage::start();
    let ledger = Arc::new(Ledger::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (early, troubles) = std::thread::scope(|scope| {
        let trouble = scope.spawn(|| stage.trouble(&ledger, length()));
        let early = runtime.expect("a runtime").block_on(async {
            let clients = clients::start(&stage, &ledger);
            tokio::time::sleep(length() / 4).await;
            let early = Footprint::of(stage.gateway.id());
            while !trouble.is_finished() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            ledger.end();
            for client in clients {
                client.await.expect("a client");
            }
            early
        });
        (early, trouble.join().expect("no panic"))
    });
    let late = Footprint::of(stage.gateway.id());
    println!("{ledger}\n{troubles}\nat a quarter of the time {early}, at the end {late}");

    ledger.assert_no_wrong_answer();
    assert_eq!(ledger.counted(), ALLOWED, "the limit holds through all reloads");
    assert!(late.memory <= early.memory + early.memory / 10 + GROWTH, "{early}, then {late}");
    stage.assert_descriptors_are_given_back();
    stage.assert_slot_is_free();
    stage.assert_reloaded(&troubles);
    let (presented, renewals) = (ledger.certificates() as u64, troubles.renewals);
    assert!(presented * 2 >= renewals, "{renewals} certificates, of which {presented} were seen");
}
