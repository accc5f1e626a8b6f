//! A policy's own tests as plain data: requests on virtual time, and what is expected of each.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tollgate_core::{Micros, Timestamp};

/// One case: requests against a policy that counted nothing yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// The first request's time unless that says otherwise.
    pub start: Timestamp,
    /// In order; times never step back.
    pub steps: Vec<TestStep>,
}

/// A line and column of the file, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// One or many equal requests, and what is expected of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestStep {
    /// Where it stands.
    pub place: Place,
    /// The time of its first request.
    pub time: Timestamp,
    /// How many requests: at least 1.
    pub repeat: u64,
    /// The time between two of them.
    pub every: Micros,
    /// The request, in which `{n}` stands for its number in the step, from 0.
    pub request: RequestTemplate,
    /// What is expected.
    pub expect: Expect,
}

/// A request as a test writes it. `{n}` in its texts is the number of the repetition, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestTemplate {
    /// The socket's peer.
    pub ip: Option<String>,
    /// `GET` unless said otherwise.
    pub method: Option<String>,
    /// Path and query; `/` unless said otherwise.
    pub path: Option<String>,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The user of HTTP basic authentication, sent with some password.
    pub basic: Option<String>,
    /// The body.
    pub body: Option<String>,
    /// A cost that overrides the policy's.
    pub cost: Option<u64>,
    /// What the upstream answers; 200 unless said otherwise.
    pub status: Option<u16>,
    /// How long the upstream takes; no time unless said otherwise.
    pub duration: Option<Micros>,
}

/// One request of a step, with everything filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRequest {
    /// When it comes.
    pub time: Timestamp,
    /// The socket's peer.
    pub ip: Option<IpAddr>,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
    /// A cost that overrides the policy's.
    pub cost: Option<u64>,
    /// What the upstream answers.
    pub status: u16,
    /// How long the upstream takes.
    pub duration: Micros,
}

/// What is expected. What is `None` or empty is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Of every request of the step.
    pub decision: Option<ExpectedDecision>,
    /// Exactly these limits refused every request, in the route's order.
    pub refused_by: Option<Vec<String>>,
    /// The retry time, exact to the microsecond; of every request of the step.
    pub retry_after: Option<ExpectedRetry>,
    /// How long it waits; of every request of the step.
    pub delay: Option<Micros>,
    /// `remaining` of limits by name, after the step's last request.
    pub remaining: Vec<(String, u64)>,
    /// The route's place in `routes`; `Some(None)`: none matches.
    pub route: Option<Option<usize>>,
    /// How many of the step's requests pass, now or after a delay.
    pub admitted: Option<u64>,
    /// How many of the step's requests pass after a delay.
    pub delayed: Option<u64>,
    /// How many of the step's requests are refused.
    pub refused: Option<u64>,
}

/// A decision's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedDecision {
    /// It passes now.
    Admit,
    /// It passes after a wait.
    Delay,
    /// It does not pass.
    Refuse,
}

/// A retry time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedRetry {
    /// After exactly this.
    After(Micros),
    /// Never.
    Never,
}

impl TestStep {
    /// The step's requests, one after the other.
    pub fn requests(&self) -> impl Iterator<Item = TestRequest> + '_ {
        (0..self.repeat).map(|n| self.request(n))
    }

    /// The `n`-th request of the step, from 0.
    #[must_use]
    pub fn request(&self, n: u64) -> TestRequest {
        let fill = |text: &String| text.replace("{n}", &n.to_string());
        let RequestTemplate { ip, method, path, headers, basic, body, cost, status, duration } =
            &self.request;
        let mut headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
        if let Some(user) = basic {
            let credentials = STANDARD.encode(format!("{}:tollgate", fill(user)));
            headers.push(("authorization".to_owned(), format!("Basic {credentials}")));
        }
        let since = self.every.get().saturating_mul(n);
        TestRequest {
            time: Timestamp::from_micros(self.time.as_micros().saturating_add(since)),
            ip: ip.as_ref().and_then(|ip| fill(ip).parse().ok()),
            method: method.clone().unwrap_or_else(|| "GET".to_owned()),
            path: path.as_ref().map_or_else(|| "/".to_owned(), fill),
            headers,
            body: body.as_ref().map(fill),
            cost: *cost,
            status: status.unwrap_or(200),
            duration: duration.unwrap_or(Micros::ZERO),
        }
    }
}
