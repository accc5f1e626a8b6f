//! The parts of a limit's answers that are the same every time, made ready when a policy is loaded.

use std::io::Write;

use http::StatusCode;
use tollgate_core::Algorithm;
use tollgate_policy::settings::{Class, LimitSettings, Refusal};
use tollgate_policy::{LimitReport, Name};

use crate::fields::{self, Described};
use crate::problem::{self, Kind};
use crate::rule;
use crate::stated::Wait;

/// The parts of a limit that are the same in every answer.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) name: Name,
    /// As a structured field's String.
    field_name: String,
    /// As a JSON string.
    pub(crate) json_name: String,
    concurrent: bool,
    kind: Kind,
    pub(crate) status: StatusCode,
    /// The policy's own words, escaped for JSON.
    title: Option<String>,
    detail: Option<String>,
    /// What each class allows, escaped for JSON.
    rules: Vec<String>,
}

impl Prepared {
    pub(crate) fn new(limit: &LimitSettings) -> Prepared {
        let escaped = |text: &Option<String>| text.as_deref().map(problem::json_escaped);
        let rule = |class| problem::json_escaped(&rule::in_words(class));
        let slots = |class: &Class| matches!(class.algorithm, Some(Algorithm::Concurrency(_)));
        let Refusal { status, title, detail } = &limit.refusal;
        let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::TOO_MANY_REQUESTS);
        Prepared {
            concurrent: limit.classes.iter().any(slots),
            kind: kind_of(status),
            status,
            title: escaped(title),
            detail: escaped(detail),
            rules: limit.classes.iter().map(rule).collect(),
            ..Prepared::unknown((&*limit.name).into())
        }
    }

    /// A limit of which nothing but the name is known.
    pub(crate) fn unknown(name: Name) -> Prepared {
        Prepared {
            name,
            field_name: fields::sf_string(&name),
            json_name: problem::json_string(&name),
            concurrent: false,
            kind: Kind::QuotaExceeded,
            status: StatusCode::TOO_MANY_REQUESTS,
            title: None,
            detail: None,
            rules: Vec::new(),
        }
    }

    /// The limit as the header fields describe it.
    pub(crate) fn describe<'a>(&'a self, report: &'a LimitReport) -> Described<'a> {
        Described { name: &self.field_name, concurrent: self.concurrent, report }
    }

    /// Begins the body of a refusal that this limit decides.
    pub(crate) fn open_body(&self, report: &LimitReport, wait: Wait) -> Vec<u8> {
        let mut body = Vec::with_capacity(512);
        let title = self.title.as_deref().unwrap_or_else(|| self.kind.title(self.status));
        problem::open(&mut body, self.kind, self.status, title);
        body.extend_from_slice(b",\"detail\":\"");
        match &self.detail {
            Some(own) => body.extend_from_slice(own.as_bytes()),
            None => self.explain(&mut body, report, wait),
        }
        body.push(b'"');
        body
    }

    /// What happened, in plain words with numbers; whom the limit counts is not among them.
    fn explain(&self, body: &mut Vec<u8>, report: &LimitReport, wait: Wait) {
        let name = &self.json_name[1..self.json_name.len() - 1];
        let LimitReport { cost, quota, .. } = *report;
        let mut say = |sentence: std::fmt::Arguments<'_>| {
            // A vector takes every byte.
            let _ = body.write_fmt(sentence);
        };
        if quota == 0 {
            return say(format_args!(
                "The limit {name} allows nothing. Trying again does not help."
            ));
        }
        match self.rules.get(report.class.unwrap_or(0)) {
            Some(rule) => say(format_args!("The limit {name} allows {rule}.")),
            None => say(format_args!("The limit {name} allows {quota}.")),
        }
        match wait.seconds() {
            None => say(format_args!(
                " This request costs {cost}, which exceeds the {quota} that it can ever admit at once; trying it again does \
                 not help."
            )),
            Some(seconds) => {
                let left = report.standing.remaining;
                let plural = if seconds == 1 { "" } else { "s" };
                say(format_args!(
                    " This request costs {cost}, and {left} can be had now. Try again in {seconds} second{plural}."
                ));
            }
        }
    }
}

/// 503 is for overload that is nobody's own fault; whatever else a policy answers, it is the client's quota.
fn kind_of(status: StatusCode) -> Kind {
    if status == StatusCode::SERVICE_UNAVAILABLE {
        Kind::ReducedCapacity
    } else {
        Kind::QuotaExceeded
    }
}
