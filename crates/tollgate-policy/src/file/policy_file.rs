//! The whole file: its sections, in the order in which each needs what others declare.

use super::access_log::{AccessLogForm, access_log};
use super::answers::{FamilyWord, Percent, answers};
use super::client_address::{ClientAddressForm, client_address};
use super::collections::{Named, OneOrMany};
use super::gateway::{GatewayForm, gateway};
use super::identity::{IdentityForm, World, identities};
use super::limits::{self, LimitForm};
use super::listeners::{self, ListenerForm};
use super::names::Known;
use super::routes::{RouteForm, RouteWorld, routes};
use super::shape::{At, record};
use super::sink::Sink;
use super::store::{StoreForm, store};
use super::tables::{TableForm, tables};
use super::test_case::TestCase;
use super::test_forms::TestForm;
use super::tests_section::tests;
use super::upstreams::{UpstreamForm, socket, upstreams};
use crate::settings::{DefaultRoute, GatewaySettings, Listener, ResetForm, Settings, TraceContext};
use crate::{Hops, Mode};

record! {
    /// A Tollgate policy: who is asking, which limits there are, and which requests meet them.
    PolicyFile, "a policy" {
        /// Where the gateway listens, such as `127.0.0.1:8080`. Without it the policy serves the other doors only.
        optional listen: String,
        /// Where the gateway listens, by name, where it listens in several places or speaks more than plain HTTP. Not with `listen`.
        optional listeners: Vec<Named<ListenerForm>>,
        /// Where metrics and health are served: 127.0.0.1:8090 unless said otherwise; `off` for nowhere.
        optional admin: String,
        /// Where counts live: `memory` (default), `{ memory: { snapshot: counts.snapshot } }` to keep them over a restart, or a store that nodes share, such as `{ url: redis://127.0.0.1:6379 }`.
        optional store: StoreForm,
        /// The mode, unless the command line or `TOLLGATE_MODE` says otherwise.
        optional mode: Mode,
        /// Pools of servers, by name.
        optional upstreams: Vec<Named<UpstreamForm>>,
        /// How the client's address is found.
        optional client_address: ClientAddressForm,
        /// Tables, by name.
        optional tables: Vec<Named<TableForm>>,
        /// Who is asking: identities, by name. `ip` is there without being declared.
        optional identity: Vec<Named<IdentityForm>>,
        /// Limits, by name.
        optional limits: Vec<Named<LimitForm>>,
        /// Which requests meet which limits; the first that matches wins.
        required routes: Vec<At<RouteForm>>,
        /// What happens where no route matches, at the doors and in a replay.
        optional default: DefaultRoute,
        /// Whether CORS preflights are charged, unless a route says otherwise.
        optional count_preflight: bool,
        /// Which families of header fields describe limits; `[ietf, x-ratelimit]` unless said otherwise.
        optional headers: OneOrMany<FamilyWord>,
        /// Whether `X-RateLimit-Reset` is seconds since the epoch (default) or from now.
        optional reset: ResetForm,
        /// By how much, at most, stated retry times are lengthened at random, so that clients do not return together.
        optional retry_jitter: Percent,
        /// Time and size limits of the gateway.
        optional gateway: GatewayForm,
        /// A line for each request, or for a share of them; without it none is written.
        optional access_log: AccessLogForm,
        /// `begin` (default): a valid W3C trace context is passed on, and where there is none a trace begins here. `pass`: one that is
        /// malformed is dropped. `leave`: it is left as it came.
        optional trace_context: TraceContext,
        /// Whether requests and their answers carry an `x-request-id` (default): a trusted peer's own, otherwise a new one.
        optional request_id: bool,
        /// The policy's own tests; `tollgate test` runs them.
        optional tests: Vec<At<TestForm>>,
    }
}

impl PolicyFile {
    /// What the file means. Where an error was said, what comes of it is of no use.
    pub(crate) fn meaning(&self, sink: &mut Sink<'_>) -> (Settings, Vec<TestCase>) {
        let names = Names::of(self, sink);
        let client_address = client_address(self.client_address.as_ref(), sink);
        let trusts_proxies =
            matches!(&client_address.hops, Hops::Trusted(networks) if !networks.is_empty());
        let tables = tables(self.tables.as_ref(), sink);
        let world = World {
            tables: &tables,
            table_names: &names.tables,
            identity_names: &names.identities,
            trusts_proxies,
        };
        let identities = identities(self.identity.as_ref(), &world, sink);
        let store = store(self.store.as_ref(), sink);
        let world = limits::World {
            names: &names.identities,
            declared: &identities,
            shared: store.is_shared(),
        };
        let limits = limits::limits(self.limits.as_ref(), &world, sink);
        let upstreams = upstreams(self.upstreams.as_ref(), sink);
        let gateway = gateway(self.gateway.as_ref(), sink);
        let route_world = self.route_world(&names, trusts_proxies, &gateway);
        let routes = routes(self.routes.as_ref(), &route_world, sink);
        let listeners = listeners::listeners(self, sink);
        let settings = Settings {
            admin: self.admin(&listeners, sink),
            listeners,
            store,
            upstreams,
            client_address,
            tables,
            identities,
            limits,
            routes,
            default: self.default.as_ref().map_or(DefaultRoute::default(), |said| said.value),
            mode: self.mode.as_ref().map_or(Mode::default(), |said| said.value),
            answers: answers(
                self.headers.as_ref(),
                self.reset.as_ref(),
                self.retry_jitter.as_ref(),
                sink,
            ),
            gateway,
            access_log: access_log(self.access_log.as_ref(), sink),
            trace_context: self
                .trace_context
                .as_ref()
                .map_or(TraceContext::default(), |said| said.value),
            request_id: self.request_id.as_ref().is_none_or(|said| said.value),
        };
        (settings, tests(self.tests.as_ref(), &names.limits, sink))
    }

    fn route_world<'f>(
        &self,
        names: &'f Names,
        trusts_proxies: bool,
        defaults: &'f GatewaySettings,
    ) -> RouteWorld<'f> {
        RouteWorld {
            limits: &names.limits,
            upstreams: &names.upstreams,
            upstream_count: self.upstreams.as_ref().map_or(0, |pools| pools.value.len()),
            listeners: &names.listeners,
            gateway: !self.written.among(&["listen", "listeners"]).is_empty(),
            trusts_proxies,
            count_preflight: self.count_preflight.as_ref().is_none_or(|count| count.value),
            defaults,
        }
    }

    fn admin(&self, listeners: &[Listener], sink: &mut Sink<'_>) -> Option<std::net::SocketAddr> {
        const DEFAULT: &str = "127.0.0.1:8090";
        let Some(admin) = &self.admin else { return DEFAULT.parse().ok() };
        if admin.value == "off" {
            return None;
        }
        let address = socket(&admin.value, admin.span, sink);
        if address.is_some_and(|address| listeners::taken(listeners, address)) {
            let help = "give it a port of its own, or `off`";
            let message = "the gateway listens there already".to_owned();
            sink.error(admin.span, message, help.to_owned());
        }
        address
    }
}

/// The names that sections declare.
struct Names {
    listeners: Known,
    upstreams: Known,
    tables: Known,
    identities: Known,
    limits: Known,
}

impl Names {
    fn of(file: &PolicyFile, sink: &mut Sink<'_>) -> Names {
        Names {
            listeners: listeners::names(file, sink),
            upstreams: Known::of("upstream", "upstreams", file.upstreams.as_ref(), sink),
            tables: Known::of("table", "tables", file.tables.as_ref(), sink),
            identities: Known::of("identity", "identity", file.identity.as_ref(), sink),
            limits: Known::of("limit", "limits", file.limits.as_ref(), sink),
        }
    }
}
