//! Delayed requests. Field case que-05 asks for a queue before slots; ours refuses where no slot is free, so its order is
//! tested on a leaky bucket.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tollgate_core::Timestamp;
use tollgate_store::ManualClock;

use crate::harness::{Connection, Gate, Seen, Setup, Upstream, Watch, request, until};
use crate::policies::{limited, limited_with};

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
    let limit = "{ key: [], leaky_bucket: { rate: 1 per 2s, burst: 3 } }";
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
    // A's decision came a little before its arrival upstream. Where nobody moved up, C ran after 4 s and D after 6 s.
    assert!(
        c > Duration::from_millis(1_900) && c < Duration::from_millis(3_900),
        "C ran after {c:?}"
    );
    assert!(
        d > Duration::from_millis(3_900) && d < Duration::from_millis(5_900),
        "D ran after {d:?}"
    );
}

#[test]
fn que_03_a_place_given_at_the_moment_of_leaving_is_not_lost() {
    let upstream = Upstream::start();
    let limit = "{ key: [user], leaky_bucket: { rate: 4/s, burst: 3 } }";
    let identity = "identity: { user: { header: x-user, from: anyone } }";
    let gate = Gate::start(&limited_with(upstream.address, limit, identity));
    let abandoned = || gate.metric("tollgate_requests_abandoned_total");
    // G's grant is due after 250 ms; its client leaves around that moment, earlier and later.
    for round in 0..10 {
        let (user, path) = (format!("u{round}"), format!("/g{round}"));
        let user = [("x-user", user.as_str())];
        let before = abandoned();
        let begun = Watch::start();
        assert_eq!(Connection::open(gate.address).ask("GET", "/a", &user).status, 200);
        let mut g = Connection::open(gate.address);
        g.send(request("GET", &path, &user));
        until("G waits", || gate.metric("tollgate_requests_waiting") == 1.0);
        std::thread::sleep(Duration::from_millis(240 + 2 * round).saturating_sub(begun.elapsed()));
        drop(g);
        until("G has ended", || gate.metric("tollgate_requests_waiting") == 0.0);
        // Behind a G that was taken back, H moves up, even where it was told to wait for G.
        assert_eq!(Connection::open(gate.address).ask("GET", "/h", &user).status, 200);
        // Either it ran and its charge stays, or it was taken back and never ran. The upstream may hear of it a little
        // later, and a busy gateway may notice later that its client has gone.
        let ran = || upstream.begun_for(&path);
        let taken_back = || (abandoned() - before) as usize;
        until("G ran or was taken back", || ran() + taken_back() >= 1);
        assert_eq!(ran() + taken_back(), 1, "ran {}, taken back {}", ran(), taken_back());
    }
}

#[test]
fn que_05_the_oldest_goes_first() {
    let upstream = Upstream::start();
    let limit = "{ key: [], leaky_bucket: { rate: 25/s, burst: 30 } }";
    let setup = Setup { workers: 1, ..Setup::default() };
    let gate = Gate::with(&limited(upstream.address, limit), setup);
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
    let start = SystemTime::now();
    for waiter in &mut waiters {
        waiter.send(request("GET", "/", &[]));
    }
    for waiter in &mut waiters {
        assert_eq!(waiter.reply().status, 200);
    }
    let mut times: Vec<Duration> = upstream.seen().iter().map(|seen| since(start, seen)).collect();
    times.sort();
    assert_eq!(times.len(), 60);
    for (number, time) in times.iter().enumerate() {
        // None before its own moment; the last of them after 590 ms.
        assert!(
            *time >= Duration::from_millis(10) * number as u32,
            "number {number} left after {time:?}"
        );
    }
    let total = gate.metric("tollgate_delay_seconds_sum");
    assert!(total <= 0.01 * (59.0 * 60.0 / 2.0) + 1e-6, "they were told to wait {total} s in all");
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
    let limit = "{ key: [], leaky_bucket: { rate: 1 per 20s, burst: 10, max_wait: unlimited } }";
    let gate = Gate::start(&limited_with(upstream.address, limit, "gateway: { max_waiting: 1 }"));
    assert_eq!(Connection::open(gate.address).get("/").status, 200);
    let first = waiting(&gate, "/first", 1);
    let mut connection = Connection::open(gate.address);
    for _ in 0..5 {
        let full = connection.get("/");
        assert_eq!(full.status, 503, "{full:?}");
        let wait: u64 =
            full.header("retry-after").and_then(|wait| wait.parse().ok()).expect("seconds");
        assert!(wait <= 40, "nothing was charged, so the wait does not grow: {wait}");
    }
    drop(first);
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
