//! What is noted of one request until it ends. Nothing is copied that can be shared, and nothing is written before the end.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{HOST, HeaderValue, USER_AGENT};
use http::request::Parts;
use http::{Method, StatusCode, Uri, Version};
use tollgate_core::Retry;
use tollgate_policy::settings::{LogField, Settings};
use tollgate_policy::{Charges, Decision, Name, Verdict};

use super::AccessLog;
use super::line::Value;

/// A request's note, or none where no log is kept. Dropped, it is written, where its outcome has lines.
#[derive(Debug, Default)]
pub(crate) struct Note(Option<Box<Noted>>);

/// What is noted of one request.
#[derive(Debug)]
pub(crate) struct Noted {
    log: Arc<AccessLog>,
    worker: usize,
    begun: u64,
    method: Method,
    uri: Uri,
    version: Version,
    host: Option<HeaderValue>,
    agent: Option<HeaderValue>,
    peer: Option<IpAddr>,
    /// The client's address, by the policy's rules.
    pub(crate) client: Option<IpAddr>,
    pub(crate) request_id: Option<HeaderValue>,
    pub(crate) traceparent: Option<HeaderValue>,
    /// The name of the pool that it goes to.
    pub(crate) upstream: Option<Arc<str>>,
    /// The server of it that was asked last.
    server: Option<Arc<str>>,
    tries: u64,
    decided: Option<Decided>,
    status: Option<StatusCode>,
    /// Answered by this gateway itself.
    own: bool,
    departed: u64,
    answered: u64,
    sent: u64,
}

#[derive(Debug)]
struct Decided {
    verdict: Verdict,
    judged: Verdict,
    route: Option<usize>,
    limit: Option<Deciding>,
}

/// How the limit that decides stood.
#[derive(Debug)]
struct Deciding {
    name: Name,
    class: Option<Arc<str>>,
    /// As the policy spells it; hashed only where it is written.
    key: Vec<u8>,
    remaining: u64,
}

impl Note {
    /// A note of the request of `parts`, which came from `peer` to the thread `worker`.
    pub(crate) fn begin(
        log: Option<&Arc<AccessLog>>,
        parts: &Parts,
        (peer, worker): (Option<IpAddr>, usize),
    ) -> Note {
        let Some(log) = log.filter(|log| !log.is_idle()) else { return Note(None) };
        Note(Some(Box::new(Noted {
            begun: log.now(),
            log: Arc::clone(log),
            worker,
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            version: parts.version,
            host: parts.headers.get(HOST).cloned(),
            agent: parts.headers.get(USER_AGENT).cloned(),
            peer,
            client: None,
            request_id: None,
            traceparent: None,
            upstream: None,
            server: None,
            tries: 0,
            decided: None,
            status: None,
            own: true,
            departed: 0,
            answered: 0,
            sent: 0,
        })))
    }

    /// Notes more, where a note is kept.
    #[inline]
    pub(crate) fn with(&mut self, more: impl FnOnce(&mut Noted)) {
        if let Some(noted) = &mut self.0 {
            more(noted);
        }
    }

    /// So many bytes of the answer's body were handed over.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.with(|noted| noted.sent += bytes as u64);
    }
}

impl Noted {
    /// What was decided under `settings`; `charges` are what was asked.
    pub(crate) fn decided(&mut self, decision: &Decision, settings: &Settings, charges: &Charges) {
        let limit = decision.deciding().map(|report| {
            let class = settings.limits.get(report.limit).and_then(|limit| {
                limit.classes.get(report.class?).and_then(|class| class.name.clone())
            });
            let mut planned = charges.iter();
            let key = planned.find(|(planned, _)| planned.limit == report.limit);
            Deciding {
                name: report.name,
                class,
                key: key.map_or_else(Vec::new, |(_, key)| key.to_vec()),
                remaining: report.standing.remaining,
            }
        });
        let Decision { verdict, judged, route, .. } = *decision;
        self.decided = Some(Decided { verdict, judged, route, limit });
    }

    /// The request goes to its upstream.
    pub(crate) fn departs(&mut self) {
        self.departed = self.log.now();
    }

    /// One more server is asked: `server`.
    pub(crate) fn tries(&mut self, server: &Arc<str>) {
        self.server = Some(Arc::clone(server));
        self.tries += 1;
    }

    /// The upstream's answer has begun.
    pub(crate) fn is_answered(&mut self) {
        self.answered = self.log.now();
        self.own = false;
    }

    /// The answer's status.
    pub(crate) fn status(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    fn has_a_line(&self) -> bool {
        let sample = self.log.settings.sample;
        let refused = |status: StatusCode| self.own && status.is_client_error();
        self.log.draws(match self.status {
            Some(status) if status.is_server_error() => sample.errors,
            None => sample.errors,
            Some(_)
                if matches!(self.decided, Some(Decided { verdict: Verdict::Refuse(_), .. })) =>
            {
                sample.refused
            }
            Some(status) if refused(status) => sample.refused,
            Some(_) => sample.admitted,
        })
    }

    fn value(&self, field: LogField, now: u64) -> Value<'_> {
        match field {
            LogField::Time => Value::Time(self.begun),
            LogField::RequestId => of_header(self.request_id.as_ref()),
            LogField::TraceId => trace_id(self.traceparent.as_ref()),
            LogField::Client => address(self.client.or(self.peer)),
            LogField::Peer => address(self.peer),
            LogField::Method => Value::Text(self.method.as_str().as_bytes()),
            LogField::Host => match self.uri.authority() {
                Some(authority) => Value::Text(authority.as_str().as_bytes()),
                None => of_header(self.host.as_ref()),
            },
            LogField::Path => Value::Text(self.path().as_bytes()),
            LogField::Protocol => Value::Word(protocol(self.version)),
            LogField::UserAgent => of_header(self.agent.as_ref()),
            LogField::Status => number(self.status.map(|status| status.as_u16().into())),
            LogField::BytesSent => Value::Number(self.sent),
            LogField::Upstream => word(self.upstream.as_deref()),
            LogField::Server => word(self.server.as_deref()),
            LogField::Tries => Value::Number(self.tries),
            LogField::FirstByte => {
                number(self.answered.checked_sub(self.departed).filter(|_| self.answered > 0))
            }
            LogField::Duration => Value::Number(now.saturating_sub(self.begun)),
            of_decision => self
                .decided
                .as_ref()
                .map_or(Value::Nothing, |decided| decided.value(of_decision, &self.log)),
        }
    }

    fn path(&self) -> &str {
        match self.uri.path_and_query() {
            Some(whole) if self.log.settings.query => whole.as_str(),
            _ => self.uri.path(),
        }
    }
}

impl Decided {
    fn value(&self, field: LogField, log: &AccessLog) -> Value<'_> {
        let limit = self.limit.as_ref();
        match field {
            LogField::Decision => Value::Word(name_of(self.verdict)),
            LogField::Judged => Value::Word(name_of(self.judged)),
            LogField::Route => number(self.route.map(|route| route as u64)),
            LogField::Limit => word(limit.map(|limit| limit.name.as_str())),
            LogField::Class => word(limit.and_then(|limit| limit.class.as_deref())),
            LogField::Key => {
                limit.map_or(Value::Nothing, |limit| Value::Hash(log.hash(&limit.key)))
            }
            LogField::Remaining => number(limit.map(|limit| limit.remaining)),
            LogField::RetryAfter => match self.judged {
                Verdict::Refuse(Retry::After(span)) => Value::Number(span.get()),
                _ => Value::Nothing,
            },
            LogField::Wait => match self.verdict {
                Verdict::Delay(span) => Value::Number(span.get()),
                _ => Value::Number(0),
            },
            _ => Value::Nothing,
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let Some(noted) = self.0.take() else { return };
        if noted.has_a_line() {
            let log = &noted.log;
            let now = log.now();
            log.lines.add(noted.worker, |line| {
                log.layout.write(line, |field| noted.value(field, now));
            });
        }
    }
}

fn address(address: Option<IpAddr>) -> Value<'static> {
    address.map_or(Value::Nothing, |address| Value::Address(address.to_canonical()))
}

fn number<'a>(number: Option<u64>) -> Value<'a> {
    number.map_or(Value::Nothing, Value::Number)
}

/// A name that the policy gives.
fn word(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Nothing, |text| Value::Text(text.as_bytes()))
}

fn of_header(value: Option<&HeaderValue>) -> Value<'_> {
    value.map_or(Value::Nothing, |value| Value::Text(value.as_bytes()))
}

/// The second part of a `traceparent`.
fn trace_id(traceparent: Option<&HeaderValue>) -> Value<'_> {
    let id = traceparent.and_then(|value| value.as_bytes().get(3..35));
    id.map_or(Value::Nothing, Value::Text)
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    }
}

fn name_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Admit => "admit",
        Verdict::Delay(_) => "delay",
        Verdict::Refuse(_) => "refuse",
    }
}
