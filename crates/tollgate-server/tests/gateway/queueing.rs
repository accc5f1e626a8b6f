//! Delayed requests. Field case que-05 asks for a queue before slots; ours refuses where no slot is free, so its order is
//! tested on a leaky bucket.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tollgate_core::Timestamp;
use tollgate_store::ManualClock;

use crate::harness::{Connection, Gate, Seen, Setup, Upstream, Watch, request, until};
use crate::policies::{limited, limited_with};

/// What was seen of the requests for `path`.
fn arrivals(upstream: &Upstream, path: &str) -> Vec<SystemTime> {
    upstream.seen().iter().filter(|seen| seen.target == path).map(|seen| seen.at).collect()
}

fn since(start: SystemTime, seen: &Seen) -> Duration {
    seen.at.duration_since(start).unwrap_or_default()
}

/// Sends a request over a connection of its own and waits until it waits.
fn waiting(gate: &Gate, path: &str, number: usize) -> Connection {
    let mut connection = Connection::open(gate.address);
    connection.send(request("GET", path, &[]));
    until("it waits", || gate.metric("tollgate_requests_waiting") >= number as f64);
    connection
}

#[test]
fn que_01_those_behind_a_cancelled_waiter_move_up() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 1/s, burst: 3 } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    assert_eq!(Connection::open(gate.address).get("/a").status, 200);
    let start = upstream.last().at;
    let b = waiting(&gate, "/b", 1);
    let mut c = waiting(&gate, "/c", 2);
    drop(b);
    until("its place is free", || gate.metric("tollgate_requests_abandoned_total") >= 1.0);
    assert_eq!(gate.metric("tollgate_requests_waiting"), 1.0);
    let mut d = Connection::open(gate.address);
    d.send(request("GET", "/d", &[]));
    assert_eq!((c.reply().status, d.reply().status), (200, 200));
    let seen = upstream.seen();
    let targets: Vec<&str> = seen.iter().map(|seen| seen.target.as_str()).collect();
    assert_eq!(targets, ["/a", "/c", "/d"], "B never ran");
    let (c, d) = (since(start, &seen[1]), since(start, &seen[2]));
    // A's decision came a little before its arrival upstream.
    assert!(
        c > Duration::from_millis(900) && c < Duration::from_millis(1_700),
        "C ran after {c:?}"
    );
    assert!(
        d > Duration::from_millis(1_900) && d < Duration::from_millis(2_700),
        "D ran after {d:?}"
    );
}

#[test]
fn que_03_a_place_given_at_the_moment_of_leaving_is_not_lost() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 5/s, burst: 3 } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    // The grant is due at 200 ms; the client leaves around it, earlier and later.
    for round in 0..10 {
        let before = Watch::start();
        assert_eq!(Connection::open(gate.address).get("/a").status, 200);
        let g = waiting(&gate, "/g", 1);
        let ran_before = arrivals(&upstream, "/g").len();
        std::thread::sleep(
            (Duration::from_millis(190 + 2 * round)).saturating_sub(before.elapsed()),
        );
        drop(g);
        until("G has ended", || gate.metric("tollgate_requests_waiting") == 0.0);
        let h = Watch::start();
        assert_eq!(Connection::open(gate.address).get("/h").status, 200);
        let ran = arrivals(&upstream, "/g").len() - ran_before;
        // Where G was still on its way when H was admitted, the upstream sees it a little later.
        assert!(ran <= 1);
        assert!(h.elapsed() < Duration::from_millis(900), "H waited for both: {:?}", h.elapsed());
        // Refill what the round took.
        until("the bucket is fresh", || {
            before.elapsed() > Duration::from_millis(650)
                && gate.metric("tollgate_requests_waiting") == 0.0
        });
    }
}

#[test]
fn que_05_the_oldest_goes_first() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 50/s, burst: 30 } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    assert_eq!(Connection::open(gate.address).get("/first").status, 200);
    let mut waiters: Vec<Connection> = Vec::new();
    for number in 0..10 {
        let mut connection = Connection::open(gate.address);
        connection.send(request("GET", &format!("/{number:02}"), &[]));
        let decided = number + 2;
        until("it was decided", || {
            gate.metric("tollgate_decision_seconds_count") >= f64::from(decided)
        });
        waiters.push(connection);
    }
    for waiter in &mut waiters {
        assert_eq!(waiter.reply().status, 200);
    }
    let targets: Vec<String> =
        upstream.seen().into_iter().skip(1).map(|seen| seen.target).collect();
    let mut sorted = targets.clone();
    sorted.sort();
    assert_eq!(targets, sorted);
}

#[test]
fn que_07_a_wait_that_is_too_long_is_refused_at_once() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 1 per 10s, burst: 5, max_wait: 5s } }";
    let start = 1_700_000_000_000_000;
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(start)));
    let setup = Setup { clock: Arc::clone(&clock) as _, ..Setup::default() };
    let gate = Gate::with(&limited(upstream.address, limit), setup);
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    clock.set(Timestamp::from_micros(start + 1_000_000));
    let refused = connection.get("/");
    assert_eq!((refused.status, refused.header("retry-after").as_deref()), (429, Some("4")));
    clock.set(Timestamp::from_micros(start + 6_000_000));
    connection.send(request("GET", "/late", &[]));
    until("it waits", || gate.metric("tollgate_requests_waiting") == 1.0);
    assert_eq!(upstream.seen().len(), 1, "nothing else ran");
}

#[test]
fn que_09_each_waiter_has_a_moment_of_its_own() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 100/s, burst: 200 } }";
    let gate = Gate::start(&limited(upstream.address, limit));
    let mut waiters: Vec<Connection> = (0..60).map(|_| Connection::open(gate.address)).collect();
    for waiter in &mut waiters {
        waiter.send(request("GET", "/", &[]));
    }
    for waiter in &mut waiters {
        assert_eq!(waiter.reply().status, 200);
    }
    let mut times: Vec<SystemTime> = upstream.seen().iter().map(|seen| seen.at).collect();
    times.sort();
    // No more than one in 10 ms left; arrivals are a little less regular than departures.
    for (early, late) in times.iter().zip(times.iter().skip(20)) {
        let span = late.duration_since(*early).unwrap_or_default();
        assert!(span > Duration::from_millis(150), "20 waiters left within {span:?}");
    }
    assert_eq!(times.len(), 60);
}

#[test]
fn que_10_more_than_a_bucket_holds_is_refused_for_good() {
    let upstream = Upstream::start();
    let yaml = |classes: &str| {
        format!(
            "identity: {{ plan: {{ header: x-plan, from: anyone, default: free }} }}\n\
             upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
             limits:\n  it: {{ key: [], by: plan, leaky_bucket: {classes} }}\n\
             routes:\n- {{ match: {{ path: /** }}, limits: [it], cost: 11, upstream: app }}\n",
            upstream.address
        )
    };
    let gate = Gate::start(&yaml("{ free: { rate: 10/s, burst: 9 }, vip: unlimited }"));
    let mut connection = Connection::open(gate.address);
    let refused = connection.get("/");
    assert_eq!((refused.status, refused.header("retry-after")), (429, None), "{refused:?}");
    assert_eq!(connection.ask("GET", "/", &[("x-plan", "vip")]).status, 200);
}

#[test]
fn a_full_waiting_room_is_503_and_takes_nothing() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 2/s, burst: 10 } }";
    let gate = Gate::start(&limited_with(upstream.address, limit, "gateway: { max_waiting: 1 }"));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    let mut first = waiting(&gate, "/first", 1);
    let mut connection = Connection::open(gate.address);
    for _ in 0..5 {
        let full = connection.get("/");
        assert_eq!(full.status, 503, "{full:?}");
        assert_eq!(
            full.header("retry-after").as_deref(),
            Some("1"),
            "nothing was charged: the wait does not grow"
        );
    }
    assert_eq!(first.reply().status, 200);
    assert_eq!(gate.metric("tollgate_undecided_total{reason=\"queue_full\"}"), 5.0);
}

#[test]
fn a_client_that_leaves_behind_an_unread_body_is_noticed() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 1 per 10s, burst: 3 } }";
    let gate = Gate::start(&limited_with(upstream.address, limit, ""));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    let mut connection = Connection::open(gate.address);
    connection.send(request("POST", "/", &[("content-length", "1000000")]));
    connection.send(vec![b'x'; 100_000]);
    until("it waits", || gate.metric("tollgate_requests_waiting") == 1.0);
    drop(connection);
    until("its place is free", || gate.metric("tollgate_requests_waiting") == 0.0);
    assert_eq!(gate.metric("tollgate_requests_abandoned_total"), 1.0);
    assert_eq!(upstream.seen().len(), 1);
}

#[test]
fn in_shadow_mode_nobody_waits() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 1 per 10s, burst: 3 } }";
    let setup = Setup { mode: tollgate_policy::Mode::Shadow, ..Setup::default() };
    let gate = Gate::with(&limited(upstream.address, limit), setup);
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        assert_eq!(connection.get("/").status, 200);
    }
}
