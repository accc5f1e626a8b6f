//! Eight processes with four threads each on one limit: the test's own program, started again as a node.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tollgate_store::{OnStoreFailure, Source};

use super::node::{LIMITS, Node, is_admitted, runtime};
use super::servers::{Fault, Process, Program, Proxy, Server, until};

/// What all of them together may take.
const ALLOWED: u64 = 1000;

/// Where a process finds the store; set only for those that the tests start.
const STORE: &str = "TOLLGATE_TEST_STORE";

/// How many milliseconds a decision may take there.
const BUDGET: &str = "TOLLGATE_TEST_BUDGET";

/// The test that is such a process.
const NODE: &str = "processes::a_node_takes_what_it_gets";

/// What each process does; in the tests' own process nothing.
#[test]
fn a_node_takes_what_it_gets() {
    let (Ok(url), Ok(budget)) = (std::env::var(STORE), std::env::var(BUDGET)) else { return };
    let budget = Duration::from_millis(budget.parse().expect("milliseconds"));
    let node = Node::share_within(&url, budget, ALLOWED, OnStoreFailure::Refuse);
    println!("node ready");
    std::io::stdin().read_line(&mut String::new()).expect("a word to begin");
    let admitted = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = runtime();
                loop {
                    let outcome = runtime.block_on(node.request()).expect("a decision");
                    if is_admitted(&outcome) {
                        admitted.fetch_add(1, Ordering::Relaxed);
                    } else if outcome.limits.iter().any(|limit| limit.source == Source::Failure) {
                        // Not the limit's word: the store is away.
                        std::thread::sleep(Duration::from_millis(1));
                    } else {
                        break;
                    }
                }
            });
        }
    });
    println!("node admitted {}", admitted.into_inner());
}

/// A server with a proxy before it, and eight processes that have begun.
fn started(program: &Program, budget: Duration) -> (Server, Proxy, Vec<Process>) {
    let server = Server::start(program);
    let proxy = Proxy::start(server.address());
    let (url, budget) = (proxy.url(), budget.as_millis().to_string());
    let settings = [(STORE, url.as_str()), (BUDGET, budget.as_str())];
    let mut processes: Vec<Process> = (0..8).map(|_| Process::start(NODE, &settings)).collect();
    processes.iter_mut().for_each(Process::go);
    (server, proxy, processes)
}

fn counted(server: &Server) -> [u64; LIMITS.len()] {
    Node::start(&server.url(), ALLOWED).counted()
}

#[test]
fn eight_processes_take_exactly_the_limit() {
    let Some(program) = Program::redis() else { return };
    // A loaded machine is no reason to fail: nobody's answer is late.
    let (server, _proxy, mut processes) = started(&program, Duration::from_secs(20));
    let admitted: u64 = processes.iter_mut().map(Process::admitted).sum();
    assert_eq!(admitted, ALLOWED);
    assert_eq!(counted(&server), [ALLOWED; LIMITS.len()]);
    server.assert_every_key_expires();
}

#[test]
fn eight_processes_never_take_more_while_connections_break_and_processes_die() {
    let Some(program) = Program::redis() else { return };
    let (server, proxy, mut processes) = started(&program, Duration::from_millis(20));
    let auditor = Node::start(&server.url(), ALLOWED);
    let taken = |share: u64| until("they take", || auditor.counted()[0] >= ALLOWED * share / 10);
    taken(1);
    // One dies in the midst of its calls; what it had taken stays taken.
    drop(processes.pop());
    for (share, fault) in [(2, Fault::Reset), (4, Fault::DropReplies), (6, Fault::Swallow)] {
        taken(share);
        proxy.set(fault);
        std::thread::sleep(Duration::from_millis(300));
        proxy.set(Fault::None);
    }
    let admitted: u64 = processes.iter_mut().map(Process::admitted).sum();
    println!("seven of eight processes: {admitted} admitted, {:?}", proxy.seen().commands);
    assert!(admitted <= ALLOWED, "{admitted}");
    assert_eq!(counted(&server), [ALLOWED; LIMITS.len()]);
    server.assert_every_key_expires();
}
