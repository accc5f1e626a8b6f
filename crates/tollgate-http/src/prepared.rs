//! The parts of a limit's answers that are the same every time, made ready when a policy is loaded.

use std::ops::Deref;

use http::StatusCode;
use tollgate_core::Algorithm;
use tollgate_policy::settings::{Class, LimitSettings, Refusal};
use tollgate_policy::{LimitReport, Name};

use crate::fields;
use crate::problem::{self, Kind};
use crate::rule;
use crate::stated::Wait;
use crate::text::Text;

/// The parts of a limit that are the same in every answer.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) name: Name,
    /// As a structured field's String.
    pub(crate) field_name: String,
    /// As a JSON string.
    pub(crate) json_name: String,
    /// It counts slots.
    pub(crate) concurrent: bool,
    pub(crate) status: StatusCode,
    /// Begins the body of a refusal, up to the detail's own words.
    opening: String,
    /// The policy's own words, escaped for JSON.
    detail: Option<String>,
    /// What each class allows, as a sentence, escaped for JSON.
    rules: Vec<String>,
}

impl Prepared {
    pub(crate) fn new(limit: &LimitSettings) -> Prepared {
        let escaped = |text: &Option<String>| text.as_deref().map(problem::json_escaped);
        let slots = |class: &Class| matches!(class.algorithm, Some(Algorithm::Concurrency(_)));
        let Refusal { status, title, detail } = &limit.refusal;
        let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::TOO_MANY_REQUESTS);
        let unknown = Prepared::unknown((&*limit.name).into());
        let name = &unknown.json_name[1..unknown.json_name.len() - 1];
        let rule = |class| {
            format!("The limit {name} allows {}.", problem::json_escaped(&rule::in_words(class)))
        };
        Prepared {
            concurrent: limit.classes.iter().any(slots),
            status,
            opening: opening(status, escaped(title).as_deref()),
            detail: escaped(detail),
            rules: limit.classes.iter().map(rule).collect(),
            ..unknown
        }
    }

    /// A limit of which nothing but the name is known.
    pub(crate) fn unknown(name: Name) -> Prepared {
        Prepared {
            name,
            field_name: fields::sf_string(&name),
            json_name: problem::json_string(&name),
            concurrent: false,
            status: StatusCode::TOO_MANY_REQUESTS,
            opening: opening(StatusCode::TOO_MANY_REQUESTS, None),
            detail: None,
            rules: Vec::new(),
        }
    }

    /// Begins the body of a refusal that this limit decides.
    pub(crate) fn open_body(&self, text: &mut Text, report: &LimitReport, wait: Wait) {
        text.push(&self.opening);
        match &self.detail {
            Some(own) => text.push(own),
            None => self.explain(text, report, wait),
        }
        text.push("\"");
    }

    /// What happened, in plain words with numbers; whom the limit counts is not among them.
    fn explain(&self, text: &mut Text, report: &LimitReport, wait: Wait) {
        let name = &self.json_name[1..self.json_name.len() - 1];
        if report.quota == 0 {
            text.push("The limit ");
            text.push(name);
            return text.push(" allows nothing. Trying again does not help.");
        }
        match self.rules.get(report.class.unwrap_or(0)) {
            Some(rule) => text.push(rule),
            None => {
                text.push("The limit ");
                text.push(name);
                text.push(" allows ");
                text.number(report.quota);
                text.push(".");
            }
        }
        text.push(" This request costs ");
        text.number(report.cost);
        let Some(seconds) = wait.seconds() else {
            text.push(", which exceeds the ");
            text.number(report.quota);
            return text.push(" that it can ever admit at once; trying it again does not help.");
        };
        text.push(", and ");
        text.number(report.standing.remaining);
        text.push(" can be had now. Try again in ");
        text.number(seconds);
        text.push(if seconds == 1 { " second." } else { " seconds." });
    }
}

/// The prepared parts of a limit; small, unlike they themselves.
pub(crate) enum Found<'a> {
    Known(&'a Prepared),
    Unknown(Box<Prepared>),
}

impl Deref for Found<'_> {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        match self {
            Found::Known(limit) => limit,
            Found::Unknown(limit) => limit,
        }
    }
}

/// The beginning of a refusal's body. `title` is the policy's own, escaped.
fn opening(status: StatusCode, title: Option<&str>) -> String {
    let kind = kind_of(status);
    let mut body = String::new();
    problem::open(&mut body, kind, status, title.unwrap_or_else(|| kind.title(status)));
    body.push_str(",\"detail\":\"");
    body
}

/// 503 is for overload that is nobody's own fault; whatever else a policy answers, it is the client's quota.
fn kind_of(status: StatusCode) -> Kind {
    if status == StatusCode::SERVICE_UNAVAILABLE {
        Kind::ReducedCapacity
    } else {
        Kind::QuotaExceeded
    }
}
