//! Servers that die, freeze and come back under load: nothing is lost that was not theirs to lose.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use crate::harness::{Connection, Gate, Nginx, request, until};
use crate::policies::{of_server, pool};

const BLOCK: &str = "location / { return 200 $server_port; }";

/// Clients that ask without pause.
struct Load {
    over: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<Vec<u16>>>,
}

impl Load {
    /// `clients` that send requests of `method`.
    fn start(gate: &Gate, clients: usize, method: &'static str) -> Load {
        let (over, answered) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let address = gate.address;
        let client = |_| {
            let (over, answered) = (Arc::clone(&over), Arc::clone(&answered));
            std::thread::spawn(move || {
                let mut connection = Connection::open(address);
                let mut bad = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let length = if method == "POST" { "2" } else { "0" };
                    connection.send(request(method, "/", &[("content-length", length)]));
                    if method == "POST" {
                        connection.send("hi");
                    }
                    let reply = connection.reply();
                    if reply.status != 200 {
                        bad.push(reply.status);
                    }
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                bad
            })
        };
        let threads = (0..clients).map(client).collect();
        Load { over, answered, threads }
    }

    /// Waits until so many more were answered.
    fn goes_on(&self, count: usize) {
        let from = self.answered.load(Ordering::Relaxed);
        until("requests are answered", || self.answered.load(Ordering::Relaxed) >= from + count);
    }

    /// Ends it; the statuses that were not 200.
    fn end(self) -> Vec<u16> {
        self.over.store(true, Ordering::Relaxed);
        self.threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect()
    }
}

fn three() -> Option<[Nginx; 3]> {
    Some([Nginx::start(BLOCK)?, Nginx::start(BLOCK)?, Nginx::start(BLOCK)?])
}

fn gate(servers: &[Nginx; 3], more: &str) -> Gate {
    let [one, two, three] = servers;
    Gate::start(&pool(&[&one.address, &two.address, &three.address], more))
}

#[test]
fn one_of_three_servers_dies_under_load_and_comes_back() {
    let Some(mut servers) = three() else { return };
    // One that had just opened its connection, and not sent the first byte, may be sent again only because this says so.
    let gate = gate(&servers, ", retries: { on: [broken] }");
    let load = Load::start(&gate, 6, "GET");
    load.goes_on(300);
    let requests = of_server("requests_total", servers[0].address, "");
    for _ in 0..3 {
        servers[0].kill();
        load.goes_on(300);
        servers[0].revive();
        let before = gate.metric(&requests);
        until("it serves again", || gate.metric(&requests) > before + 10.0);
    }
    assert_eq!(load.end(), [0_u16; 0], "every request got its answer");
}

#[test]
fn what_cannot_be_sent_twice_is_lost_only_where_the_server_had_it() {
    let Some(mut servers) = three() else { return };
    let gate = gate(&servers, "");
    let clients = 6;
    let load = Load::start(&gate, clients, "POST");
    load.goes_on(300);
    servers[0].kill();
    load.goes_on(600);
    let lost = load.end();
    assert!(lost.len() <= clients, "more than were on their way: {lost:?}");
    assert!(lost.iter().all(|status| *status == 502), "{lost:?}");
}

#[test]
fn a_server_that_freezes_is_left_out() {
    let Some(servers) = three() else { return };
    let more = ", first_byte_timeout: 300ms, ejection: { failures: 2, first: 1m }, \
                retries: { on: [timeout] }";
    let gate = gate(&servers, more);
    let load = Load::start(&gate, 6, "GET");
    load.goes_on(300);
    servers[1].freeze();
    let out = of_server("ejections_total", servers[1].address, "");
    until("it is left out", || gate.metric(&out) == 1.0);
    load.goes_on(300);
    servers[1].thaw();
    assert_eq!(load.end(), [0_u16; 0], "what it did not answer another did");
}

#[test]
fn one_of_three_http2_servers_dies_under_load() {
    let http2 = || Nginx::listening("http2", BLOCK);
    let (Some(one), Some(two), Some(three)) = (http2(), http2(), http2()) else { return };
    let mut servers = [one, two, three];
    let gate = gate(&servers, ", http2: true, retries: { on: [broken] }");
    let load = Load::start(&gate, 6, "GET");
    load.goes_on(300);
    servers[2].kill();
    load.goes_on(600);
    servers[2].revive();
    load.goes_on(100);
    assert_eq!(load.end(), [0_u16; 0], "every request got its answer");
}
