//! What is sent again, what is not, and how often in all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{Connection, Gate, Raw, Upstream};
use crate::policies::{of_pool, of_server, pool};

/// A service that answers everything with `head`, and how often it was asked.
fn always(head: &'static str) -> (Raw, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let raw = Raw::start(move |stream, _| {
        use std::io::Write;
        while Raw::head(stream).is_some() {
            count.fetch_add(1, Ordering::SeqCst);
            if stream.write_all(head.as_bytes()).is_err() {
                return;
            }
        }
    });
    (raw, asked)
}

const OVERLOADED: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy";

fn statuses(gate: &Gate, method: &str, times: usize) -> Vec<u16> {
    let mut connection = Connection::open(gate.address);
    (0..times).map(|_| connection.ask(method, "/", &[("content-length", "0")]).status).collect()
}

#[test]
fn nothing_is_sent_again_unless_the_policy_says_so() {
    let (busy, _) = always(OVERLOADED);
    let good = Upstream::start();
    let gate = Gate::start(&pool(&[&busy.address, &good.address], ", ejection: off"));
    let seen = statuses(&gate, "GET", 10);
    assert_eq!(seen.iter().filter(|status| **status == 503).count(), 5, "{seen:?}");
    assert_eq!(good.seen().len(), 5);
}

#[test]
fn an_idempotent_request_goes_to_another_server_where_the_policy_says_so() {
    let (busy, asked) = always(OVERLOADED);
    let good = Upstream::start();
    let more = ", ejection: off, retries: { on: [502, 503, 504] }";
    let gate = Gate::start(&pool(&[&busy.address, &good.address], more));
    assert_eq!(statuses(&gate, "GET", 10), [200; 10]);
    assert_eq!(asked.load(Ordering::SeqCst), 5);
    assert_eq!(gate.metric(&of_pool("retries_total", ",reason=\"status\"")), 5.0);
    let seen = statuses(&gate, "POST", 10);
    assert_eq!(seen.iter().filter(|status| **status == 503).count(), 5, "a POST is not: {seen:?}");
    // What the first server said of it was read away: its connection served on.
    assert!(busy.connections() <= 4, "{}", busy.connections());
}

#[test]
fn the_last_answer_is_passed_on_where_no_other_server_is_left() {
    let (one, _) = always(OVERLOADED);
    let (other, _) = always(OVERLOADED);
    let more = ", ejection: off, retries: { on: [503], attempts: 5 }";
    let gate = Gate::start(&pool(&[&one.address, &other.address], more));
    let reply = Connection::open(gate.address).get("/");
    assert_eq!((reply.status, reply.text().as_str()), (503, "busy"));
    let alone = Gate::start(&pool(&[&one.address], more));
    assert_eq!(Connection::open(alone.address).get("/").text(), "busy");
    assert_eq!(alone.metric(&of_pool("retries_total", ",reason=\"status\"")), 0.0);
}

#[test]
fn time_outs_and_broken_answers_are_followed_by_another_server() {
    let silent = Raw::start(|stream, _| {
        let _ = std::io::copy(stream, &mut std::io::sink());
    });
    let broken = Raw::start(|stream, _| {
        let _ = Raw::head(stream);
    });
    let good = Upstream::start();
    for (bad, word) in [(&silent, "timeout"), (&broken, "broken")] {
        let more =
            format!(", first_byte_timeout: 100ms, ejection: off, retries: {{ on: [{word}] }}");
        let gate = Gate::start(&pool(&[&bad.address, &good.address], &more));
        assert_eq!(statuses(&gate, "GET", 4), [200; 4], "{word}");
        let again = of_pool("retries_total", &format!(",reason=\"{word}\""));
        assert_eq!(gate.metric(&again), 2.0, "{word}");
    }
}

#[test]
fn an_outage_is_not_multiplied() {
    let services: Vec<_> = (0..4).map(|_| always(OVERLOADED)).collect();
    let addresses: Vec<&dyn std::fmt::Display> =
        services.iter().map(|(service, _)| &service.address as &dyn std::fmt::Display).collect();
    let more = ", ejection: off, \
                retries: { on: [503], attempts: 3, budget: { share: 20%, floor: 0 } }";
    let gate = Gate::start(&pool(&addresses, more));
    let requests = 200;
    let mut connection = Connection::open(gate.address);
    for _ in 0..requests {
        assert_eq!(connection.get("/").status, 503);
    }
    let asked: usize = services.iter().map(|(_, asked)| asked.load(Ordering::SeqCst)).sum();
    assert_eq!(asked, requests + requests / 5, "a fifth more, and no more");
    assert!(gate.metric(&of_pool("retries_refused_total", "")) > 0.0);
}

#[test]
fn a_server_that_fails_is_left_out_and_comes_back() {
    let (failing, asked) = always("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n");
    let good = Upstream::start();
    let more = ", ejection: { failures: 3, first: 300ms }";
    let gate = Gate::start(&pool(&[&failing.address, &good.address], more));
    let seen = statuses(&gate, "GET", 40);
    let failed = seen.iter().filter(|status| **status == 500).count();
    assert!((3..10).contains(&failed), "{failed} of {seen:?}");
    let out = of_server("ejections_total", failing.address, "");
    assert!(gate.metric(&out) >= 1.0);
    let before = asked.load(Ordering::SeqCst);
    crate::harness::until("it is asked again", || {
        statuses(&gate, "GET", 4);
        asked.load(Ordering::SeqCst) > before
    });
    crate::harness::until("one more failure is enough", || {
        statuses(&gate, "GET", 4);
        gate.metric(&out) >= 2.0
    });
}

#[test]
fn no_request_is_refused_because_servers_are_left_out() {
    let services: Vec<_> =
        (0..2).map(|_| always("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n")).collect();
    let more = ", ejection: { failures: 1, first: 1m, share: 100% }";
    let gate = Gate::start(&pool(&[&services[0].0.address, &services[1].0.address], more));
    assert_eq!(statuses(&gate, "GET", 20), [500; 20], "each is asked and says so itself");
    let healthy = of_server("healthy", services[0].0.address, "");
    crate::harness::until("both are left out", || gate.metric(&healthy) == 0.0);
    let asked: usize = services.iter().map(|(_, asked)| asked.load(Ordering::SeqCst)).sum();
    assert_eq!(asked, 20);
}

#[test]
fn at_most_a_share_of_the_pool_is_left_out() {
    let services: Vec<_> =
        (0..4).map(|_| always("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n")).collect();
    let addresses: Vec<&dyn std::fmt::Display> =
        services.iter().map(|(service, _)| &service.address as &dyn std::fmt::Display).collect();
    let more = ", ejection: { failures: 1, first: 1m, share: 50% }";
    let gate = Gate::start(&pool(&addresses, more));
    assert_eq!(statuses(&gate, "GET", 40), [500; 40]);
    let out = |place: usize| of_server("ejections_total", services[place].0.address, "");
    let left_out: f64 = (0..4).map(|place| gate.metric(&out(place))).sum();
    assert_eq!(left_out, 2.0);
}
