//! Eight processes with four threads each: the test's own program, started again as a node.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tollgate_core::Algorithm;
use tollgate_store::SyncMode::{self, Exact, Leased};

use super::node::{Node, bucket, left, runtime, window};
use super::servers::{Process, Program, Server, until};

/// Where a process finds the store, and which limits it takes from; set only for those that the tests start.
const STORE: &str = "TOLLGATE_TEST_STORE";
const LIMITS: &str = "TOLLGATE_TEST_LIMITS";

/// The test that is such a process.
const NODE: &str = "processes::a_node_takes_what_it_gets";

fn limits(name: &str) -> Vec<(Algorithm, SyncMode)> {
    match name {
        "exact" => vec![(window(1_000), Exact)],
        "leased" => vec![(window(1_000), Leased)],
        "bucket" => vec![(bucket(200, 1_000), Leased)],
        "layers" => vec![(window(1_200), Leased), (window(1_100), Leased), (window(1_000), Exact)],
        other => panic!("no limits are called {other}"),
    }
}

/// What each process does; in the tests' own process nothing.
#[test]
fn a_node_takes_what_it_gets() {
    let (Ok(url), Ok(name)) = (std::env::var(STORE), std::env::var(LIMITS)) else { return };
    let node = Node::start(&url, &limits(&name));
    println!("node ready");
    std::io::stdin().read_line(&mut String::new()).expect("a word to begin");
    let admitted = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| runtime().block_on(take(&node, &admitted)));
        }
    });
    runtime().block_on(node.store.close());
    println!("node admitted {}", admitted.into_inner());
}

/// Takes until there has been nothing for two seconds: what others hold may come back. At most ten seconds, since a bucket
/// always has more.
async fn take(node: &Node, admitted: &AtomicU64) {
    let (begun, mut last) = (SystemTime::now(), SystemTime::now());
    let since = |moment: SystemTime| moment.elapsed().unwrap_or_default();
    while since(last) < Duration::from_secs(2) && since(begun) < Duration::from_secs(10) {
        if node.admits().await {
            admitted.fetch_add(1, Ordering::Relaxed);
            last = SystemTime::now();
        } else {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn started(server: &Server, limits: &str) -> Vec<Process> {
    let url = server.url();
    let settings = [(STORE, url.as_str()), (LIMITS, limits)];
    let mut processes: Vec<Process> = (0..8).map(|_| Process::start(NODE, &settings)).collect();
    processes.iter_mut().for_each(Process::go);
    processes
}

fn sum(processes: &mut [Process]) -> u64 {
    processes.iter_mut().map(Process::admitted).sum()
}

#[test]
fn eight_processes_take_exactly_the_limit_or_a_little_less_on_lease() {
    for program in Program::all() {
        for (name, least) in [("exact", 1_000), ("leased", 970)] {
            let server = Server::start(&program);
            let admitted = sum(&mut started(&server, name));
            assert!((least..=1_000).contains(&admitted), "{name}: {admitted} admitted");
            let charged = 1_000 - left(&server.url(), &limits(name))[0];
            assert_eq!(charged, admitted, "{name}: all that was not spent is returned");
            server.assert_every_key_expires();
        }
    }
}

#[test]
fn a_process_that_dies_with_a_lease_takes_it_along_and_no_more() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let mut processes = started(&server, "leased");
    until("they take", || left(&server.url(), &limits("leased"))[0] < 900);
    // kill -9, in the midst of it.
    drop(processes.pop());
    let admitted = sum(&mut processes);
    let charged = 1_000 - left(&server.url(), &limits("leased"))[0];
    assert!(admitted <= charged && charged <= 1_000, "{admitted} admitted, {charged} charged");
    server.assert_every_key_expires();
}

#[test]
fn a_bucket_with_leases_out_admits_its_burst_and_its_rate() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let begun = SystemTime::now();
    let admitted = sum(&mut started(&server, "bucket"));
    let seconds = begun.elapsed().unwrap_or_default().as_secs() + 1;
    assert!(admitted <= 1_000 + 200 * seconds, "{admitted} in {seconds} s");
    // They ask for ten seconds.
    assert!(admitted >= 2_500, "{admitted} in {seconds} s");
    server.assert_every_key_expires();
}

#[test]
fn three_layers_charge_nothing_for_what_is_refused() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let admitted = sum(&mut started(&server, "layers"));
    assert!((970..=1_000).contains(&admitted), "{admitted} admitted");
    let left = left(&server.url(), &limits("layers"));
    assert_eq!(left, [1_200 - admitted, 1_100 - admitted, 1_000 - admitted]);
    server.assert_every_key_expires();
}
