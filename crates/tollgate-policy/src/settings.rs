//! What a policy file says, as plain checked data: names are resolved to places, numbers are exact, nothing is text that
//! still has to be understood. The file's reader makes it; [`Policy`](crate::Policy) is compiled from it. A program that
//! has no file may build it by hand.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tollgate_core::{Algorithm, Rules, Timestamp, TokenBucket};
use tollgate_store::{OnStoreFailure, SyncMode};

use crate::{ClientAddress, Mode};

mod access_log;
mod answers;
mod gateway;
mod listener;
#[cfg(feature = "redis")]
mod redis;
mod store;
mod upstream;

pub use access_log::{
    AccessLogSettings, LogField, LogFormat, LogPart, LogSample, LogTarget, Share,
};
pub use answers::{Answers, HeaderFamily, ResetForm};
pub use gateway::GatewaySettings;
pub use listener::{CertificateFiles, ClientAuthorities, ListenAt, Listener, ListenerTls};
#[cfg(feature = "redis")]
pub use redis::StoreSettingsError;
pub use store::{
    SharedStoreSettings, SnapshotSettings, StoreLogin, StoreSettings, StoreTls, StoreTopology,
    StoreUrl,
};
pub use upstream::{
    Ejection, HealthCheck, Probe, Retries, Upstream, UpstreamAddress, UpstreamServer, UpstreamTls,
};

/// A whole policy.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the gateway listens; empty where the policy serves the other doors only.
    pub listeners: Vec<Listener>,
    /// Where metrics and health are served; `None` switches it off.
    pub admin: Option<SocketAddr>,
    /// Where counts live.
    pub store: StoreSettings,
    /// Named pools of servers.
    pub upstreams: Vec<Upstream>,
    /// How the client's address is found.
    pub client_address: ClientAddress,
    /// Named tables.
    pub tables: Vec<Table>,
    /// Named identities.
    pub identities: Vec<Identity>,
    /// Named limits.
    pub limits: Vec<LimitSettings>,
    /// In the file's order; the first that matches wins.
    pub routes: Vec<Route>,
    /// What happens where no route matches.
    pub default: DefaultRoute,
    /// The mode that the file asks for; the command line and `TOLLGATE_MODE` go before it.
    pub mode: Mode,
    /// How answers describe limits.
    pub answers: Answers,
    /// Time and size limits of the gateway.
    pub gateway: GatewaySettings,
    /// What is written of each request; `None`: nothing.
    pub access_log: Option<AccessLogSettings>,
    /// What becomes of the trace context that a request carries.
    pub trace_context: TraceContext,
    /// Whether requests and their answers carry an `x-request-id`.
    pub request_id: bool,
}

impl Settings {
    /// Says when the policy was first loaded: buckets with `initial: empty` were empty then. In a replay that is the
    /// first request's time. Without it they count from the epoch, so they are full by now.
    pub fn set_loaded_at(&mut self, at: Timestamp) {
        let classes = self.limits.iter_mut().flat_map(|limit| &mut limit.classes);
        for class in classes {
            if let Some(Algorithm::TokenBucket(TokenBucket { empty_at: Some(empty), .. })) =
                &mut class.algorithm
            {
                *empty = at;
            }
        }
    }
}

/// A table: rows of named columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: Arc<str>,
    /// Where its rows are.
    pub rows: TableRows,
}

/// Where a table's rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableRows {
    /// In the policy file.
    Inline(Vec<Vec<(String, String)>>),
    /// In a CSV or YAML file; re-read when it changes. A relative path was joined to the policy file's directory.
    File(PathBuf),
}

/// A named identity.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name.
    pub name: Arc<str>,
    /// In order; the first present wins, each is its own namespace.
    pub sources: Vec<Source>,
    /// The value where no source has one.
    pub default: Option<Arc<str>>,
    /// How spellings are folded to one.
    pub fold: Fold,
}

/// How spellings of one name become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    /// Unicode NFKC and lower case.
    pub case: bool,
}

/// Where an identity's value comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A header field.
    Header {
        /// In lower case.
        name: String,
        /// Whose word counts.
        from: From,
    },
    /// A parameter of the query.
    Query {
        /// Case-sensitive.
        name: String,
    },
    /// A cookie.
    Cookie {
        /// Case-sensitive.
        name: String,
        /// Whose word counts.
        from: From,
    },
    /// A segment of the normalised path, counted from 0.
    Path {
        /// Which.
        segment: usize,
    },
    /// A claim of a verified JWT.
    Jwt {
        /// The claim's name.
        claim: String,
        /// The header that carries `Bearer <token>` (or the bare token); `authorization` unless said otherwise.
        header: String,
        /// What the signature is checked with.
        keys: JwtKeys,
        /// Where given, the token's `iss` must be this.
        issuer: Option<String>,
        /// Where given, the token's `aud` must contain this.
        audience: Option<String>,
    },
    /// A column of the row whose `key_sha256` is the SHA-256, in hex, of the presented API key.
    ApiKey {
        /// Header or query parameter that carries the key.
        at: ApiKeyAt,
        /// Place of the table.
        table: usize,
        /// The column.
        column: String,
    },
    /// The user of HTTP basic authentication: a name only, not verified.
    BasicUser,
    /// A value in a JSON body: a name only, not verified.
    Json {
        /// Where (RFC 6901).
        pointer: String,
    },
    /// A field of a form in the body (`application/x-www-form-urlencoded`): a name only, not verified.
    Form {
        /// Case-sensitive.
        field: String,
    },
    /// What the certificate says that the client proved to have.
    ClientCertificate(CertificateField),
    /// The client address, cut to its prefix.
    Ip,
    /// A column of the row that another identity's value names.
    Table {
        /// Place of the table.
        table: usize,
        /// Which column must equal `value_of`.
        key_column: String,
        /// Place of the identity that is looked up.
        value_of: usize,
        /// The column that is the value.
        column: String,
    },
}

/// Which part of a client certificate is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateField {
    /// The whole distinguished name, as RFC 4514 writes it.
    Subject,
    /// The common name within it.
    CommonName,
    /// A DNS name among its alternative names.
    Dns,
    /// A URI among them, such as a SPIFFE ID.
    Uri,
    /// An email address among them.
    Email,
}

/// Whose word a header or cookie is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Counts only where the socket's peer is a trusted proxy.
    TrustedProxies,
    /// Counts from anyone: the policy says so.
    Anyone,
}

/// Where an API key is presented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiKeyAt {
    /// In this header, in lower case; a `Bearer ` before it is dropped.
    Header(String),
    /// In this query parameter.
    Query(String),
}

/// What a JWT's signature is checked with. The algorithm is the policy's, never the token's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwtKeys {
    /// HMAC with a secret.
    Hmac {
        /// `HS256`, `HS384` or `HS512`.
        algorithm: String,
        /// The secret; never shown.
        secret: Secret,
    },
    /// A public key in PEM.
    Pem {
        /// `RS256`, `PS256`, `ES256`, `EdDSA`, ...
        algorithm: String,
        /// The key's file.
        file: PathBuf,
    },
    /// A JWKS file; re-read when it changes.
    Jwks {
        /// The file.
        file: PathBuf,
    },
}

/// Bytes that `Debug` never shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Which identity a key or class is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdentityRef {
    /// The client address, cut to its prefix: there without being declared.
    Ip,
    /// A declared one, by its place.
    Declared(usize),
}

/// A named limit.
#[derive(Clone, Debug)]
pub struct LimitSettings {
    /// Its name.
    pub name: Arc<str>,
    /// Who is counted; empty is one bucket for everybody.
    pub key: Vec<IdentityRef>,
    /// The identity whose value chooses the class.
    pub by: Option<IdentityRef>,
    /// One nameless class without `by`.
    pub classes: Vec<Class>,
    /// Charged when refused, overdraw, shadow.
    pub rules: Rules,
    /// Statuses that count; others give the charge back. `None`: all count.
    pub charge_when: Option<Vec<u16>>,
    /// What stands in for a missing identity.
    pub missing: Missing,
    /// The answer's shape.
    pub refusal: Refusal,
    /// Most keys that are remembered.
    pub max_keys: usize,
    /// How nodes count it together; without effect on a memory store.
    pub sync: SyncMode,
    /// What holds while the shared store is away.
    pub on_store_failure: OnStoreFailure,
}

/// One class of a limit.
#[derive(Clone, Debug)]
pub struct Class {
    /// The value of `by`; `None` without `by`.
    pub name: Option<Arc<str>>,
    /// Its parameters; `None` is `unlimited`.
    pub algorithm: Option<Algorithm>,
    /// The calendar, where `algorithm` is a quota: one plan's may be a day and another's a month.
    pub calendar: Option<Calendar>,
}

/// What happens where a key's identity is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// The client address stands in; with no address either, `Share`.
    #[default]
    Ip,
    /// One bucket for all of them.
    Share,
    /// The limit is not asked.
    Skip,
    /// 400.
    Reject,
}

/// A quota's calendar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Calendar {
    /// How long a period is.
    pub every: Every,
    /// An IANA zone's name.
    pub time_zone: String,
    /// For months: the local day on which a period begins, 1 to 31, or the month's last where it has none.
    pub starts: u8,
}

/// A calendar period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Every {
    /// Aligned to UTC.
    Hour,
    /// From local midnight, or the day's first instant.
    Day,
    /// From Monday.
    Week,
    /// From day `starts`.
    Month,
}

/// How a refusal looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// 429 unless said otherwise.
    pub status: u16,
    /// Of the problem; `None`: the type's own.
    pub title: Option<String>,
    /// Of the problem; `None`: made from the decision.
    pub detail: Option<String>,
}

/// A route.
#[derive(Clone, Debug)]
pub struct Route {
    /// What it matches.
    pub matcher: Match,
    /// Places of its limits, narrow to wide.
    pub limits: Vec<usize>,
    /// What a request costs.
    pub cost: Cost,
    /// Place of its pool; `None` at the doors.
    pub upstream: Option<usize>,
    /// Whether a CORS preflight (OPTIONS with Origin and Access-Control-Request-Method) is charged.
    pub count_preflight: bool,
    /// Largest request body, in bytes: the route's own, or else the gateway's; `None` is unlimited.
    pub max_body_bytes: Option<u64>,
    /// Largest body of an answer, in bytes: the route's own, or else the gateway's; `None` is unlimited.
    pub max_response_bytes: Option<u64>,
}

/// What a route matches: all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Globs on the normalised path, one of which must match: `*` within a segment, `**` any segments; empty is any. `/v1/**`
    /// matches `/v1`.
    pub paths: Vec<String>,
    /// Case is ignored in `paths`.
    pub ignore_case: bool,
    /// Methods, in upper case; empty is any.
    pub methods: Vec<String>,
    /// Hosts, in lower case, without port; `*.example.com` is any depth below it; empty is any.
    pub hosts: Vec<String>,
    /// Header fields that must be there, with that value where given.
    pub headers: Vec<HeaderMatch>,
    /// Names of listeners; empty is any. A request that came by none, as in a replay, matches none.
    pub listeners: Vec<Arc<str>>,
}

/// A header that must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMatch {
    /// In lower case.
    pub name: String,
    /// `None`: any value.
    pub value: Option<String>,
}

/// What a request costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Always that.
    Fixed(u64),
    /// What a header says.
    Header {
        /// In lower case.
        name: String,
        /// Where it is absent.
        default: u64,
        /// Below it, it.
        min: u64,
        /// Above it, or not a number, it.
        max: u64,
        /// Whose word counts.
        from: From,
    },
}

/// What happens where no route matches, at the doors and in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultRoute {
    /// Admit with no limits.
    #[default]
    Admit,
    /// Refuse.
    Refuse,
}

/// What becomes of the trace context (`traceparent`, `tracestate`) that a request carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceContext {
    /// It is passed on where it is valid; where it is absent or malformed a trace begins here.
    #[default]
    Begin,
    /// It is passed on where it is valid; what is malformed is dropped.
    Pass,
    /// It is left as it came.
    Leave,
}
