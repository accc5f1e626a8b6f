//! What the process tells of itself, as Prometheus text.
//!
//! [`Metrics`] is one for the process. [`Metrics::recorder`] resolves a policy's series when it is loaded, and
//! [`Metrics::server`] an upstream server's, so that a request only adds to atomics. Labels come from the policy alone:
//! nothing that a client sends can make a series.

mod access_log;
mod answers;
mod door;
mod histogram;
mod interim;
mod labels;
mod memory;
mod pool;
mod proxy_protocol;
mod read_ahead;
mod recorder;
mod shared;
mod snapshot;
mod store;
#[cfg(test)]
mod tests;
mod upstream;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};
use tollgate_core::Timestamp;
use tollgate_policy::settings::Settings;
use tollgate_policy::{LimitReport, Rejection};
use tollgate_store::{SharedStore, Usage};

pub use door::{Flood, Handshake};
pub use histogram::Histogram;
pub use pool::PoolMetrics;
pub use read_ahead::ReadAhead;
pub use recorder::Recorder;
pub(crate) use snapshot::SnapshotMetrics;
pub use upstream::{ServerMetrics, UpstreamError};

pub(crate) use access_log::AccessLogMetrics;
use answers::Answers;
use histogram::Scale;
use labels::{Build, Limit, LimitOutcome, Outcome, Reason, ReloadResult, RouteOutcome};
pub(crate) use proxy_protocol::ProxyProtocolError;
use read_ahead::BodiesRead;
use recorder::LabelSets;

/// Recorded in nanoseconds, from 100 ns to 100 ms.
static DECISION_SECONDS: Scale = Scale {
    bounds: &[
        100,
        250,
        500,
        1_000,
        2_500,
        5_000,
        10_000,
        25_000,
        50_000,
        100_000,
        1_000_000,
        10_000_000,
        100_000_000,
    ],
    per_unit: 1_000_000_000,
};

/// Recorded in microseconds, from a millisecond to a minute.
static DELAY_SECONDS: Scale = Scale {
    bounds: &[
        1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000, 30_000_000, 60_000_000,
    ],
    per_unit: 1_000_000,
};

/// Recorded in millionths of the limit.
static USED_SHARE: Scale = Scale {
    bounds: &[100_000, 250_000, 500_000, 750_000, 900_000, 950_000, 990_000, 1_000_000],
    per_unit: 1_000_000,
};

/// Everything that the process records.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    decisions: Family<RouteOutcome, Counter>,
    limit_decisions: Family<LimitOutcome, Counter>,
    undecided: Family<Reason, Counter>,
    used_share: Family<Limit, Histogram, fn() -> Histogram>,
    delay_seconds: Histogram,
    decision_seconds: Histogram,
    answers: Answers,
    bodies_read: BodiesRead,
    reloads: Family<ReloadResult, Counter>,
    policy_version: Gauge,
    policy_loaded: Gauge<f64, AtomicU64>,
    door: door::Families,
    upstream: upstream::Families,
    pools: pool::Families,
    /// The series of the policy before the present one, and of the present one.
    generations: Mutex<[LabelSets; 2]>,
    /// Client connections that are open.
    pub connections: Gauge,
    /// Those of them that wait for their client and hold no buffers.
    pub connections_at_rest: Gauge,
    /// Client connections answered 503 because `max_connections` were open.
    pub connections_rejected: Counter,
    /// Client connections answered 429 because `max_connections_per_address` of their address were open.
    pub connections_crowded: Counter,
    pub(crate) access_log: AccessLogMetrics,
    pub(crate) proxy_protocol: proxy_protocol::ProxyProtocolMetrics,
    /// Client connections that the system did not hand over: file descriptors had run out, for instance.
    pub accept_errors: Counter,
    /// Requests between their head and the end of their answer.
    pub in_flight: Gauge,
    /// Requests that wait for their delay.
    pub waiting: Gauge,
    /// Requests whose client went away while they waited.
    pub abandoned: Counter,
    /// Upstreams' answers refused or cut off because they were larger than their route passes on.
    pub responses_too_large: Counter,
    /// HTTP/2 streams reset because their client did not take the answer.
    pub stalled_streams: Counter,
    /// Interim answers (1xx) of upstreams, by what became of them.
    interim: interim::InterimAnswers,
}

impl Metrics {
    /// An empty set. `store` is asked at each scrape what it remembers:
    /// `MemoryStore::usage`.
    #[must_use]
    pub fn new(store: impl Fn() -> Vec<Usage> + Send + Sync + 'static) -> Arc<Metrics> {
        Arc::new(Metrics::of_store(store))
    }

    /// The same, of a node that shares `shared` with others.
    #[must_use]
    pub fn of_node(
        store: impl Fn() -> Vec<Usage> + Send + Sync + 'static,
        shared: SharedStore,
    ) -> Arc<Metrics> {
        let mut metrics = Metrics::of_store(store);
        metrics.registry.register_collector(Box::new(shared::SharedScrape(shared)));
        Arc::new(metrics)
    }

    /// The same, of a node whose counts are kept in a file.
    pub(crate) fn of_keeper(
        store: impl Fn() -> Vec<Usage> + Send + Sync + 'static,
        snapshots: &SnapshotMetrics,
    ) -> Arc<Metrics> {
        let mut metrics = Metrics::of_store(store);
        snapshots.register(&mut Adder(&mut metrics.registry));
        Arc::new(metrics)
    }

    fn of_store(store: impl Fn() -> Vec<Usage> + Send + Sync + 'static) -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("tollgate"),
            decisions: Family::default(),
            limit_decisions: Family::default(),
            undecided: Family::default(),
            used_share: Family::new_with_constructor(|| Histogram::new(&USED_SHARE)),
            delay_seconds: Histogram::new(&DELAY_SECONDS),
            decision_seconds: Histogram::new(&DECISION_SECONDS),
            answers: Answers::default(),
            bodies_read: BodiesRead::default(),
            reloads: Family::default(),
            policy_version: Gauge::default(),
            policy_loaded: Gauge::default(),
            door: door::Families::default(),
            upstream: upstream::Families::default(),
            pools: pool::Families::default(),
            generations: Mutex::default(),
            connections: Gauge::default(),
            connections_at_rest: Gauge::default(),
            connections_rejected: Counter::default(),
            connections_crowded: Counter::default(),
            access_log: AccessLogMetrics::default(),
            proxy_protocol: proxy_protocol::ProxyProtocolMetrics::default(),
            accept_errors: Counter::default(),
            in_flight: Gauge::default(),
            waiting: Gauge::default(),
            abandoned: Counter::default(),
            responses_too_large: Counter::default(),
            stalled_streams: Counter::default(),
            interim: interim::InterimAnswers::default(),
        };
        metrics.register_decisions();
        metrics.register_process();
        metrics.door.register(&mut metrics.registry);
        metrics.upstream.register(&mut metrics.registry);
        metrics.pools.register(&mut metrics.registry);
        metrics.registry.register_collector(Box::new(store::Scrape::new(store)));
        metrics.registry.register_collector(Box::new(memory::Memory));
        metrics
    }

    fn register_decisions(&mut self) {
        let mut add = Adder(&mut self.registry);
        add.metric(
            "decisions",
            "Requests decided, by route and what came of them",
            &self.decisions,
        );
        add.metric(
            "limit_decisions",
            "What each limit said of the requests that it was asked about",
            &self.limit_decisions,
        );
        add.metric("undecided", "Requests that got no decision, by reason", &self.undecided);
        add.metric(
            "limit_used_share",
            "Share of a limit that its key had used after a decision, 0 to 1",
            &self.used_share,
        );
        add.metric(
            "delay_seconds",
            "How long admitted requests were made to wait",
            &self.delay_seconds,
        );
        add.metric("decision_seconds", "How long a decision took", &self.decision_seconds);
    }

    fn register_process(&mut self) {
        let mut add = Adder(&mut self.registry);
        add.metric("answers", "Answers of our own, by status", &self.answers.family);
        self.bodies_read.register(&mut add);
        add.metric("connections", "Client connections that are open", &self.connections);
        add.metric(
            "connections_at_rest",
            "Client connections that are open, wait for their client and hold no buffers",
            &self.connections_at_rest,
        );
        add.metric(
            "connections_rejected",
            "Client connections answered 503 because max_connections were open",
            &self.connections_rejected,
        );
        add.metric(
            "connections_crowded",
            "Client connections answered 429 because max_connections_per_address of their address were open",
            &self.connections_crowded,
        );
        self.access_log.register(&mut add);
        self.proxy_protocol.register(&mut add);
        add.metric(
            "accept_errors",
            "Failures to accept a client connection, as when file descriptors have run out",
            &self.accept_errors,
        );
        add.metric("requests_in_flight", "Requests being served", &self.in_flight);
        add.metric("requests_waiting", "Requests that wait for their delay", &self.waiting);
        add.metric(
            "requests_abandoned",
            "Requests whose client left while they waited",
            &self.abandoned,
        );
        add.metric(
            "responses_too_large",
            "Answers of upstreams refused or cut off because they were larger than max_response_bytes",
            &self.responses_too_large,
        );
        add.metric(
            "http2_stalled_streams",
            "HTTP/2 streams reset because their client did not take the answer within body_timeout",
            &self.stalled_streams,
        );
        self.interim.register(&mut add);
        add.metric("policy_version", "Policies loaded since the start", &self.policy_version);
        add.metric(
            "policy_loaded_timestamp_seconds",
            "When the policy in force was loaded",
            &self.policy_loaded,
        );
        add.metric("policy_reloads", "Attempts to load a policy, by result", &self.reloads);
        let build = Info::new(Build { version: env!("CARGO_PKG_VERSION") });
        self.registry.register("build", "The program", build);
    }

    /// The recorder of a policy that was loaded at `now`. Series of limits, classes and routes that neither this policy
    /// nor the one before it knows are dropped, so that reloads do not pile them up.
    #[must_use]
    pub fn recorder(self: &Arc<Self>, settings: &Settings, now: Timestamp) -> Recorder {
        let mut generations = self.generations.lock();
        let (recorder, new) = Recorder::new(Arc::clone(self), settings);
        let [before, present] = &mut *generations;
        before.retire([present, &new], self);
        *before = std::mem::replace(present, new);
        self.policy_version.inc();
        self.policy_loaded.set(now.as_micros() as f64 / 1e6);
        self.reloads.get_or_create(&ReloadResult { result: "ok" }).inc();
        recorder
    }

    /// Records that a policy was wrong and the one before it stays in force.
    pub fn reload_failed(&self) {
        self.reloads.get_or_create(&ReloadResult { result: "error" }).inc();
    }

    /// Records a request that the policy could not decide.
    pub fn rejected(&self, rejection: &Rejection) {
        self.undecided.get_or_create(&Reason::of(rejection)).inc();
    }

    /// Records a request for which the store gave no answer.
    pub fn store_failed(&self) {
        self.undecided.get_or_create(&Reason::STORE).inc();
    }

    /// Records a request that was to wait and found no room.
    pub fn queue_full(&self) {
        self.undecided.get_or_create(&Reason::QUEUE_FULL).inc();
    }

    /// Records an answer of our own, a refusal or a problem.
    pub fn answered(&self, status: http::StatusCode) {
        self.answers.count(status.as_u16());
    }

    /// Records an interim answer of an upstream, which `passed` or was one too many.
    pub(crate) fn interim_answer(&self, passed: bool) {
        self.interim.count(passed);
    }

    /// Records that a body was read before its request was decided.
    pub fn read_ahead(&self, result: ReadAhead) {
        self.bodies_read.count(result);
    }

    /// The series of one upstream server.
    #[must_use]
    pub fn server(&self, pool: &str, server: &str) -> ServerMetrics {
        self.upstream.server(pool, server)
    }

    /// The series of one upstream as a whole.
    #[must_use]
    pub fn pool(&self, pool: &str) -> PoolMetrics {
        self.pools.pool(pool)
    }

    /// A decision of a policy that the recorder does not know.
    fn decided_elsewhere(&self, report: &LimitReport, outcome: Outcome) {
        let labels = LimitOutcome {
            limit: report.name.into(),
            class: Arc::from(""),
            route: Arc::from("(reloading)"),
            outcome,
        };
        self.limit_decisions.get_or_create(&labels).inc();
    }

    /// All of it, in the Prometheus text format; its type is [`Metrics::CONTENT_TYPE`].
    ///
    /// # Errors
    /// Where a series cannot be written as text, which is a fault of this program.
    pub fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::with_capacity(16 * 1024);
        prometheus_text::encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// The media type of what [`Metrics::render`] writes.
    pub const CONTENT_TYPE: &'static str = prometheus_text::CONTENT_TYPE;
}

/// Registers metrics that share their counts with the handles that record.
struct Adder<'a>(&'a mut Registry);

impl Adder<'_> {
    fn metric<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: &M) {
        self.0.register(name, help, metric.clone());
    }
}
