//! What one policy records: every handle is resolved when the policy is loaded, so that a request only adds.

use std::collections::HashSet;
use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use tollgate_policy::settings::{LimitSettings, Settings};
use tollgate_policy::{Decision, LimitReport, Name, Verdict};

use super::Metrics;
use super::histogram::Histogram;
use super::labels::{self, Limit, LimitOutcome, Outcome, RouteOutcome, Server};

/// How much of a limit is used is recorded in millionths.
const WHOLE: u64 = 1_000_000;

/// Records decisions under one policy; made by [`Metrics::recorder`] for each policy that is loaded.
#[derive(Debug)]
pub struct Recorder {
    metrics: Arc<Metrics>,
    routes: Vec<Route>,
    unrouted: Outcomes,
    /// Used share, by the limit's place.
    used: Vec<Histogram>,
    names: Vec<Name>,
}

/// The label sets that belong to one policy.
#[derive(Debug, Default)]
pub(super) struct LabelSets {
    routes: HashSet<RouteOutcome>,
    limits: HashSet<LimitOutcome>,
    used: HashSet<Limit>,
    servers: HashSet<Server>,
    pools: HashSet<Arc<str>>,
}

/// One counter for each outcome.
type Outcomes = [Counter; Outcome::ALL.len()];

#[derive(Debug)]
struct Route {
    outcomes: Outcomes,
    /// The route's limits, in its order.
    limits: Vec<Asked>,
}

/// A limit that a route asks.
#[derive(Debug)]
struct Asked {
    /// Its place.
    limit: usize,
    /// By the class that is asked.
    classes: Vec<Outcomes>,
}

impl Recorder {
    /// The recorder, and the label sets that it records under.
    pub(super) fn new(metrics: Arc<Metrics>, settings: &Settings) -> (Recorder, LabelSets) {
        let mut labels = LabelSets::default();
        let routes = labels::routes(settings)
            .into_iter()
            .zip(&settings.routes)
            .map(|(label, route)| {
                let limits = route.limits.iter().filter_map(|place| {
                    let limit = settings.limits.get(*place)?;
                    let classes = labels.classes(&metrics, limit, &label);
                    Some(Asked { limit: *place, classes })
                });
                let limits = limits.collect();
                Route { outcomes: labels.route(&metrics, &label), limits }
            })
            .collect();
        let unrouted = labels.route(&metrics, &labels::NO_ROUTE.into());
        let used = settings.limits.iter().map(|limit| labels.used(&metrics, &limit.name)).collect();
        labels.servers(settings);
        let names = settings.limits.iter().map(|limit| Name::from(&*limit.name)).collect();
        (Recorder { metrics, routes, unrouted, used, names }, labels)
    }

    /// Records a decision and the nanoseconds that it took to make it.
    pub fn decided(&self, decision: &Decision, nanos: u64) {
        let outcome = Outcome::of(decision);
        let route = decision.route.and_then(|place| self.routes.get(place));
        route.map_or(&self.unrouted, |route| &route.outcomes)[outcome as usize].inc();
        self.metrics.decision_seconds.record(nanos);
        if let Verdict::Delay(span) = decision.verdict {
            self.metrics.delay_seconds.record(span.get());
        }
        let enforced = decision.verdict == decision.judged;
        for (position, report) in decision.limits.iter().enumerate() {
            let outcome = Outcome::of_limit(report, enforced);
            self.limit(route.map_or(&[], |route| &route.limits), position, report, outcome);
        }
    }

    /// Records what one limit said, most likely the one at `position` of the route's `limits`: mostly all were asked.
    fn limit(&self, limits: &[Asked], position: usize, report: &LimitReport, outcome: Outcome) {
        // A decision made just before a reload is of another policy: it is counted, under the place it speaks of.
        if self.names.get(report.limit).is_none_or(|name| *name != report.name) {
            return self.metrics.decided_elsewhere(report, outcome);
        }
        let is_it = |asked: &&Asked| asked.limit == report.limit;
        let asked = limits.get(position).filter(is_it).or_else(|| limits.iter().find(is_it));
        match asked.and_then(|asked| asked.classes.get(report.class.unwrap_or(0))) {
            Some(outcomes) => {
                outcomes[outcome as usize].inc();
            }
            None => self.metrics.decided_elsewhere(report, outcome),
        }
        // How much is used of a limit that nobody can ask, nobody knows.
        if !report.unavailable {
            self.used[report.limit].record(used(report));
        }
    }
}

/// Which share of a limit is used, in millionths; a limit of 0 is always used up.
fn used(report: &LimitReport) -> u64 {
    let left = report.standing.remaining.min(report.quota);
    let share = match left.checked_mul(WHOLE) {
        Some(left) => left.checked_div(report.quota).unwrap_or(0),
        // Wide division takes as long as all the rest of this.
        None => {
            let left = u128::from(left) * u128::from(WHOLE);
            u64::try_from(left / u128::from(report.quota)).unwrap_or(WHOLE)
        }
    };
    WHOLE - share.min(WHOLE)
}

impl LabelSets {
    fn route(&mut self, metrics: &Metrics, route: &Arc<str>) -> Outcomes {
        Outcome::ALL.map(|outcome| {
            let labels = RouteOutcome { route: Arc::clone(route), outcome };
            let counter = metrics.decisions.get_or_create_owned(&labels);
            self.routes.insert(labels);
            counter
        })
    }

    fn classes(
        &mut self,
        metrics: &Metrics,
        limit: &LimitSettings,
        route: &Arc<str>,
    ) -> Vec<Outcomes> {
        let classes = limit.classes.iter().map(|class| class.name.clone().unwrap_or_default());
        classes
            .map(|class| {
                Outcome::ALL.map(|outcome| {
                    let labels = LimitOutcome {
                        limit: Arc::clone(&limit.name),
                        class: Arc::clone(&class),
                        route: Arc::clone(route),
                        outcome,
                    };
                    let counter = metrics.limit_decisions.get_or_create_owned(&labels);
                    self.limits.insert(labels);
                    counter
                })
            })
            .collect()
    }

    fn used(&mut self, metrics: &Metrics, limit: &Arc<str>) -> Histogram {
        let labels = Limit { limit: Arc::clone(limit) };
        let histogram = metrics.used_share.get_or_create_owned(&labels);
        self.used.insert(labels);
        histogram
    }

    fn servers(&mut self, settings: &Settings) {
        for pool in &settings.upstreams {
            self.pools.insert(Arc::clone(&pool.name));
            let servers = pool.servers.iter().map(|server| Server {
                pool: Arc::clone(&pool.name),
                server: server.address.to_string().into(),
            });
            self.servers.extend(servers);
        }
    }

    /// Takes out of `metrics` the series that `self` has and none of `kept`.
    pub(super) fn retire(&self, kept: [&LabelSets; 2], metrics: &Metrics) {
        let [one, two] = kept;
        remove(&metrics.decisions, &self.routes, [&one.routes, &two.routes]);
        remove(&metrics.limit_decisions, &self.limits, [&one.limits, &two.limits]);
        remove(&metrics.used_share, &self.used, [&one.used, &two.used]);
        for server in absent(&self.servers, [&one.servers, &two.servers]) {
            metrics.upstream.forget(server);
        }
        for pool in absent(&self.pools, [&one.pools, &two.pools]) {
            metrics.pools.forget(pool);
        }
    }
}

fn remove<S, M, C>(family: &Family<S, M, C>, labels: &HashSet<S>, kept: [&HashSet<S>; 2])
where
    S: Clone + std::hash::Hash + Eq,
    C: MetricConstructor<M>,
{
    for set in absent(labels, kept) {
        family.remove(set);
    }
}

/// Those of `labels` that are in none of `kept`.
fn absent<'a, S: std::hash::Hash + Eq>(
    labels: &'a HashSet<S>,
    kept: [&'a HashSet<S>; 2],
) -> impl Iterator<Item = &'a S> {
    labels.iter().filter(move |set| kept.iter().all(|kept| !kept.contains(set)))
}
