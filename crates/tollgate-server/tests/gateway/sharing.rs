//! The gateway on a store that it shares, and while that is away.

use std::path::PathBuf;
use std::sync::Arc;

use tollgate_core::Timestamp;
use tollgate_store::{Clock, SystemClock};

use crate::harness::{Connection, Gate, Reply, Setup, Upstream, request};
use crate::servers::{Program, Server, until};

/// A gateway, its upstream and the server where it counts.
struct Stage {
    server: Server,
    upstream: Upstream,
}

impl Stage {
    /// `None` where the server's program is missing.
    fn start() -> Option<Stage> {
        let server = Server::start(&Program::redis()?);
        Some(Stage { server, upstream: Upstream::start() })
    }

    /// A policy with these limits and routes.
    fn policy(&self, limits: &str, routes: &str) -> String {
        format!(
            "store: {{ url: \"{}\", secret: s, namespace: test, budget: 200ms }}\n\
             upstreams: {{ app: {{ servers: [\"{}\"] }} }}\nlimits:\n{limits}\nroutes:\n{routes}",
            self.server.url(),
            self.upstream.address
        )
    }

    /// Every path is limited by `limit`.
    fn limited(&self, limit: &str) -> String {
        self.policy(&format!("  it: {limit}"), "- { limits: [it], upstream: app }")
    }
}

fn get(gate: &Gate, path: &str) -> Reply {
    Connection::open(gate.address).get(path)
}

fn statuses(gate: &Gate, path: &str, times: usize) -> Vec<u16> {
    (0..times).map(|_| get(gate, path).status).collect()
}

#[test]
fn what_two_gateways_admit_is_one_limit() {
    let Some(stage) = Stage::start() else { return };
    let yaml = stage.limited("{ key: [ip], sliding_window: { limit: 10, window: 1h } }");
    let gates = [Gate::start(&yaml), Gate::start(&yaml)];
    let all: Vec<u16> = (0..16).map(|turn| get(&gates[turn % 2], "/").status).collect();
    assert_eq!(all.iter().filter(|status| **status == 200).count(), 10, "{all:?}");
    assert!(all[..10].iter().all(|status| *status == 200), "{all:?}");
    let refused = get(&gates[0], "/");
    assert_eq!(refused.status, 429);
    assert!(refused.header("ratelimit").is_some_and(|field| field.starts_with("\"it\";r=0")));
    let counted = gates[0].metric("tollgate_limit_decisions_by_source_total{source=\"store\"}");
    assert!(counted >= 6.0, "{counted}");
    assert!(gates[0].metric("tollgate_store_latency_seconds_count") >= 6.0);
    stage.server.assert_every_key_expires();
}

#[test]
fn a_status_that_does_not_count_gives_back_and_a_slot_is_freed() {
    let Some(stage) = Stage::start() else { return };
    let yaml = stage.policy(
        "  failures: { key: [ip], fixed_window: { limit: 2, window: 1h }, charge_when: { status: 401 } }\n\
         \x20 slots: { key: [ip], concurrency: { limit: 1, ttl: 1h } }",
        "- { match: { path: /hold/** }, limits: [slots], upstream: app }\n\
         - { limits: [failures], upstream: app }",
    );
    let gate = Gate::start(&yaml);
    let good = statuses(&gate, "/status/200", 6);
    // What is given back reaches the store when the answer is on its way to the client.
    assert!(good.iter().filter(|status| **status == 200).count() >= 3, "{good:?}");
    until("the successes are given back", || get(&gate, "/status/200").status == 200);
    until("the failures are used up", || get(&gate, "/status/401").status == 429);

    let mut holding = Connection::open(gate.address);
    holding.send(request("GET", "/hold/a", &[]));
    until("the upstream works", || stage.upstream.begun_for("/hold/a") == 1);
    assert_eq!(get(&gate, "/hold/b").status, 429, "the slot is held");
    stage.upstream.let_go();
    assert_eq!(holding.reply().status, 200);
    until("the slot is free", || get(&gate, "/hold/c").status == 200);
}

#[test]
fn what_a_delay_asks_for_is_waited_by_the_gateways_own_clock() {
    let Some(stage) = Stage::start() else { return };
    let limit = "{ key: [ip], leaky_bucket: { rate: 10/s, burst: 1, max_wait: 1s } }";
    let gate = Gate::start(&stage.limited(limit));
    let all = statuses(&gate, "/", 3);
    assert!(all.iter().all(|status| *status == 200), "{all:?}");
    assert!(gate.metric("tollgate_delay_seconds_count") >= 1.0, "the second had to wait");
}

/// The machine's clock, an hour behind or ahead.
struct Wrong {
    machine: SystemClock,
    micros: i64,
}

impl Clock for Wrong {
    fn now(&self) -> Timestamp {
        let now = self.machine.now().as_micros();
        Timestamp::from_micros(now.saturating_add_signed(self.micros))
    }
}

#[test]
fn a_wrong_clock_makes_nobody_wait_longer_nor_pass_sooner() {
    let Some(stage) = Stage::start() else { return };
    for (round, micros) in [-3_600_000_000, 3_600_000_000].into_iter().enumerate() {
        let limits = format!(
            "  line-{round}: {{ key: [ip], leaky_bucket: {{ rate: 10/s, burst: 2, max_wait: 1s }} }}\n\
             \x20 hour-{round}: {{ key: [ip], sliding_window: {{ limit: 3, window: 1h }} }}"
        );
        let route = format!("- {{ limits: [line-{round}, hour-{round}], upstream: app }}");
        let clock = Arc::new(Wrong { machine: SystemClock::new(), micros });
        let yaml = stage.policy(&limits, &route);
        let gate = Gate::with(&yaml, Setup { clock, ..Setup::default() });
        assert_eq!(statuses(&gate, "/", 4), [200, 200, 200, 429], "{micros}");
        assert!(gate.metric("tollgate_delay_seconds_count") >= 1.0);
        assert!(gate.metric("tollgate_delay_seconds_sum") < 1.0);
    }
}

#[test]
fn a_reload_keeps_what_the_store_counted() {
    let Some(stage) = Stage::start() else { return };
    let limit = |limit: u32| {
        stage.limited(&format!("{{ key: [ip], sliding_window: {{ limit: {limit}, window: 1h }} }}"))
    };
    let gate = Gate::start(&limit(3));
    assert_eq!(statuses(&gate, "/", 4), [200, 200, 200, 429]);
    gate.reload(&limit(5));
    assert_eq!(statuses(&gate, "/", 3), [200, 200, 429]);
}

#[test]
fn the_last_requests_reach_the_store_before_the_gateway_ends() {
    let Some(stage) = Stage::start() else { return };
    let yaml = stage.limited("{ key: [ip], concurrency: { limit: 1, ttl: 1h } }");
    for round in 0..3 {
        let mut gate = Gate::start(&yaml);
        assert_eq!(get(&gate, "/").status, 200, "the slot of round {round} was left behind");
        gate.stop();
        gate.ended();
    }
}

/// Nobody is answered 500, nobody waits for a server that is gone, and it comes back by itself.
#[test]
fn red_17_each_limit_says_what_holds_while_the_store_is_away() {
    let Some(mut stage) = Stage::start() else { return };
    let window = "sliding_window: { limit: 5, window: 1h }";
    let limits = format!(
        "  part: {{ key: [ip], {window} }}\n  open: {{ key: [ip], {window}, on_store_failure: allow }}\n\
         \x20 shut: {{ key: [ip], {window}, on_store_failure: refuse }}"
    );
    let routes = ["part", "open", "shut"].map(|name| {
        format!("- {{ match: {{ path: /{name} }}, limits: [{name}], upstream: app }}\n")
    });
    let gate = Gate::start(&stage.policy(&limits, &routes.concat()));
    assert_eq!(get(&gate, "/shut").status, 200);
    stage.server.kill();
    until("the gateway notices", || {
        get(&gate, "/open");
        gate.metric("tollgate_store_degraded") == 1.0
    });
    let part = statuses(&gate, "/part", 7);
    assert_eq!(part, [200, 200, 200, 200, 200, 429, 429], "one node's part is the whole");
    assert!(statuses(&gate, "/open", 8).iter().all(|status| *status == 200));
    let shut = get(&gate, "/shut");
    assert_eq!(shut.status, 503);
    assert_eq!(shut.header("retry-after").as_deref(), Some("1"));
    assert!(shut.text().contains("temporary-reduced-capacity"), "{}", shut.text());
    assert_eq!(shut.header("ratelimit"), None, "nothing is known to tell of");
    assert_eq!(get(&gate, "/open").header("ratelimit"), None);
    assert!(get(&gate, "/part").header("ratelimit").is_some());
    assert!(gate.metric("tollgate_limit_decisions_by_source_total{source=\"failure\"}") >= 9.0);
    let page = gate.metrics.render().expect("a page");
    assert!(page.contains("tollgate_store_errors_total{error=\"disconnected\"}"), "{page}");
    stage.server.revive();
    until("the store is back", || {
        get(&gate, "/open");
        gate.metric("tollgate_store_degraded") == 0.0
    });
    until("it counts again", || get(&gate, "/shut").status == 200);
    let after = statuses(&gate, "/part", 2);
    assert!(
        after.iter().all(|status| *status == 429),
        "what was admitted meanwhile counts: {after:?}"
    );
}

/// A gateway that starts while the store is away serves; one whose policy names no sound store does not.
#[test]
fn a_gateway_begins_without_its_store() {
    let Some(mut stage) = Stage::start() else { return };
    stage.server.kill();
    let limit = "{ key: [ip], sliding_window: { limit: 2, window: 1h } }";
    let gate = Gate::start(&stage.limited(limit));
    assert_eq!(statuses(&gate, "/", 3), [200, 200, 429]);
    stage.server.revive();
    until("the store is there", || {
        get(&gate, "/");
        gate.metric("tollgate_limit_decisions_by_source_total{source=\"store\"}") > 0.0
    });
}

#[test]
fn a_secret_that_is_not_here_is_an_error_at_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("policy.yaml");
    let yaml = "listen: 127.0.0.1:0\nadmin: off\n\
                store: { url: \"redis://127.0.0.1:1\", secret: { env: TOLLGATE_NO_SUCH_SECRET } }\n\
                upstreams: { app: { servers: [\"127.0.0.1:1\"] } }\nroutes: [{ limits: [], upstream: app }]\n";
    std::fs::write(&path, yaml).expect("a file");
    let error = tollgate_server::serve(&path, &tollgate_server::Options::default())
        .expect_err("it does not serve");
    let said = error.to_string();
    assert!(said.contains("the environment has no `TOLLGATE_NO_SUCH_SECRET`"), "{said}");
    assert!(said.contains(":3:"), "{said}");
}
