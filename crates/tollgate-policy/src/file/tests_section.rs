//! `tests:`, the policy's own tests. [`TestCase`] is what they become.

use tollgate_core::{Micros, Timestamp};

use super::collections::{Maybe, Named, Short};
use super::diagnostic::Span;
use super::names::Known;
use super::shape::At;
use super::sink::Sink;
use super::test_case::{
    Expect, ExpectedDecision, ExpectedRetry, Place, RequestTemplate, TestCase, TestStep,
};
use super::test_forms::{CommonForm, ExpectForm, StepForm, TestForm};

/// 2026-01-01T00:00:00Z: a moment at which a minute, an hour, a day and a month begin.
const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// Most repetitions of one request: a test is no load test.
const MOST_REPEATS: u64 = 1_000_000;

/// The tests. `limits` are the names that `refused_by` and `remaining` may say.
pub(crate) fn tests(
    section: Option<&At<Vec<At<TestForm>>>>,
    limits: &Known,
    sink: &mut Sink<'_>,
) -> Vec<TestCase> {
    let forms = section.map_or(&[][..], |section| section.value.as_slice());
    let mut cases: Vec<TestCase> = Vec::new();
    for form in forms {
        let case = test(form, limits, sink);
        if cases.iter().any(|other| other.name == case.name && !case.name.is_empty()) {
            let message = format!("two tests are named `{}`", case.name);
            sink.error(form.span, message, "give each a name of its own".to_owned());
        }
        cases.push(case);
    }
    cases
}

fn test(form: &At<TestForm>, limits: &Known, sink: &mut Sink<'_>) -> TestCase {
    let test = &form.value;
    // A trace's times are absolute: the first says when the test begins, unless the test itself does.
    let first = test.requests.as_ref().and_then(|requests| requests.value.first());
    let first = first.and_then(|step| step.value.time.as_ref());
    let start = test.start.as_ref().or(first).map_or(START, |start| start.value.0);
    let mut steps = Vec::new();
    let mut now = start;
    for step in test.requests.iter().flat_map(|requests| &requests.value) {
        let made = self::step(step, test.defaults.as_ref(), (start, now), limits, sink);
        now = made.request(made.repeat - 1).time;
        steps.push(made);
    }
    let place = place(form.span, sink);
    let name = match &test.name {
        Some(name) => name.value.clone(),
        None => format!("line {}", place.line),
    };
    TestCase { name, place, start, steps }
}

fn place(span: Span, sink: &Sink<'_>) -> Place {
    let (line, column) = sink.line_and_column(span.start);
    Place { line, column }
}

fn step(
    form: &At<StepForm>,
    common: Option<&At<CommonForm>>,
    (start, now): (Timestamp, Timestamp),
    limits: &Known,
    sink: &mut Sink<'_>,
) -> TestStep {
    let step = &form.value;
    let repeat = match &step.repeat {
        Some(At { value: count @ 1..=MOST_REPEATS, .. }) => *count,
        Some(repeat) => {
            let message = format!("{} requests", repeat.value);
            sink.error(repeat.span, message, format!("write 1 to {MOST_REPEATS}"));
            1
        }
        None => 1,
    };
    let made = TestStep {
        place: place(form.span, sink),
        time: time(form, start, now, sink),
        repeat,
        every: step.every.as_ref().map_or(Micros::ZERO, |every| every.value.0),
        request: template(step, common.map(|common| &common.value), sink),
        expect: step
            .expect
            .as_ref()
            .map_or(Expect::default(), |form| expect(&form.value, limits, sink)),
    };
    check_addresses(&made, step.ip.as_ref().map_or(form.span, |ip| ip.span), sink);
    made
}

/// When a step begins: not before the one before it.
fn time(form: &At<StepForm>, start: Timestamp, now: Timestamp, sink: &mut Sink<'_>) -> Timestamp {
    let step = &form.value;
    let later = |from: Timestamp, by: Micros| {
        Timestamp::from_micros(from.as_micros().saturating_add(by.get()))
    };
    let said = step.written.among(&["time", "at", "after"]);
    if let [_, (_, second), ..] = said.as_slice() {
        let message = "a request comes at one time".to_owned();
        sink.error(*second, message, "keep one of `time`, `at` and `after`".to_owned());
        return now;
    }
    let time = match (&step.time, &step.at, &step.after) {
        (Some(time), _, _) => time.value.0,
        (_, Some(at), _) => later(start, at.value.0),
        (_, _, Some(after)) => later(now, after.value.0),
        _ => now,
    };
    if time < now {
        let at = said.first().map_or(form.span, |(_, at)| *at);
        let help = "order the requests by time";
        sink.error(at, "this is before the request above".to_owned(), help.to_owned());
        return now;
    }
    time
}

fn template(step: &StepForm, common: Option<&CommonForm>, sink: &mut Sink<'_>) -> RequestTemplate {
    let text = |own: &Option<At<String>>, common: Option<&Option<At<String>>>| {
        own.as_ref().or(common.and_then(Option::as_ref)).map(|text| text.value.clone())
    };
    let status = step.status.as_ref().or(common.and_then(|common| common.status.as_ref()));
    let duration = step.duration.as_ref().or(common.and_then(|common| common.duration.as_ref()));
    RequestTemplate {
        ip: text(&step.ip, common.map(|common| &common.ip)),
        method: text(&step.method, common.map(|common| &common.method)),
        path: text(&step.path, common.map(|common| &common.path)),
        headers: headers(step, common),
        basic: text(&step.basic, common.map(|common| &common.basic)),
        body: text(&step.body, common.map(|common| &common.body)),
        cost: step.cost.as_ref().map(|cost| cost.value),
        status: status.and_then(|status| answer(status, sink)),
        duration: duration.map(|duration| duration.value.0),
    }
}

fn answer(status: &At<u64>, sink: &mut Sink<'_>) -> Option<u16> {
    let fitting = u16::try_from(status.value).ok().filter(|code| (100..=599).contains(code));
    if fitting.is_none() {
        let message = format!("{} is no status", status.value);
        sink.error(status.span, message, "write 100 to 599".to_owned());
    }
    fitting
}

/// The common fields, each replaced by an own one of the same name.
fn headers(step: &StepForm, common: Option<&CommonForm>) -> Vec<(String, String)> {
    let pairs = |form: Option<&At<Vec<Named<String>>>>| -> Vec<(String, String)> {
        let named = form.map_or(&[][..], |form| form.value.as_slice());
        let pair = |one: &Named<String>| {
            let value = one.value.as_ref()?.value.clone();
            Some((one.name.to_ascii_lowercase(), value))
        };
        named.iter().filter_map(pair).collect()
    };
    let own = pairs(step.headers.as_ref());
    let mut all = pairs(common.and_then(|common| common.headers.as_ref()));
    all.retain(|(name, _)| own.iter().all(|(other, _)| other != name));
    all.extend(own);
    all
}

/// Every address that the step's numbers make must be one.
fn check_addresses(step: &TestStep, at: Span, sink: &mut Sink<'_>) {
    let Some(ip) = &step.request.ip else { return };
    let wrong = [0, step.repeat - 1].into_iter().find(|n| step.request(*n).ip.is_none());
    if let Some(n) = wrong {
        let made = ip.replace("{n}", &n.to_string());
        let help = "write an address; `{n}` counts from 0 to one less than `repeat`";
        sink.error(at, format!("`{made}` is no address"), help.to_owned());
    }
}

fn expect(
    form: &Short<ExpectedDecision, ExpectForm>,
    limits: &Known,
    sink: &mut Sink<'_>,
) -> Expect {
    let form = match form {
        Short::Short(decision) => {
            return Expect { decision: Some(*decision), ..Expect::default() };
        }
        Short::Long(form) => form,
    };
    for pair in [["refused_by", "limit"], ["retry_after", "retry_after_us"], ["delay", "delay_us"]]
    {
        if let [(one, _), (other, at), ..] = form.written.among(&pair).as_slice() {
            let message = format!("`{other}` says the same as `{one}`");
            sink.error(*at, message, "keep one of them".to_owned());
        }
    }
    let refused_by = form.refused_by.as_ref().or(form.limit.as_ref());
    for name in refused_by.iter().flat_map(|names| &names.value.0) {
        limits.place(&name.value, name.span, sink);
    }
    let remaining = form.remaining.as_ref().map_or(&[][..], |named| named.value.as_slice());
    for named in remaining {
        limits.place(&named.name, named.name_span, sink);
    }
    let number = |field: &Option<At<u64>>| field.as_ref().map(|field| field.value);
    let left = |one: &Named<u64>| Some((one.name.clone(), one.value.as_ref()?.value));
    Expect {
        decision: form.decision.as_ref().map(|decision| decision.value),
        refused_by: refused_by
            .map(|names| names.value.0.iter().map(|name| name.value.clone()).collect()),
        retry_after: retry_after(form),
        delay: match (&form.delay, &form.delay_us) {
            (Some(delay), _) => Some(delay.value.0),
            (None, micros) => number(micros).map(Micros::new),
        },
        remaining: remaining.iter().filter_map(left).collect(),
        route: form.route.as_ref().map(|route| route.value.0.and_then(|at| at.try_into().ok())),
        admitted: number(&form.admitted),
        delayed: number(&form.delayed),
        refused: number(&form.refused),
    }
}

fn retry_after(form: &ExpectForm) -> Option<ExpectedRetry> {
    let in_micros = |micros: &At<Maybe<u64>>| match micros.value.0 {
        Some(micros) => ExpectedRetry::After(Micros::new(micros)),
        None => ExpectedRetry::Never,
    };
    let said = form.retry_after.as_ref().map(|retry| retry.value);
    said.or_else(|| form.retry_after_us.as_ref().map(in_micros))
}
