//! What the admin listener answers.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use tollgate_http::{Answer, Problem};

use super::{Readiness, Stage};
use crate::metrics::Metrics;

/// The answer to `method` on `path`.
pub(super) fn answer(
    method: &Method,
    path: &str,
    metrics: &Metrics,
    readiness: &Readiness,
) -> Response<Bytes> {
    let known = matches!(path, "/metrics" | "/healthz" | "/readyz");
    let answer = match path {
        _ if known && method != Method::GET && method != Method::HEAD => wrong_method(),
        "/metrics" => scrape(metrics),
        "/healthz" => text("text/plain; charset=utf-8", "alive\n".into()),
        "/readyz" => ready(readiness),
        _ => Problem::new(
            StatusCode::NOT_FOUND,
            "The admin listener serves /metrics, /healthz and /readyz.",
        )
        .answer(),
    };
    answer.into_response(method)
}

fn scrape(metrics: &Metrics) -> Answer {
    match metrics.render() {
        Ok(page) => text(Metrics::CONTENT_TYPE, page.into()),
        Err(error) => {
            tracing::error!(%error, "the metrics page cannot be written");
            let detail = "The metrics page cannot be written; the log says why.";
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).answer()
        }
    }
}

fn ready(readiness: &Readiness) -> Answer {
    let detail = match readiness.stage() {
        Stage::Ready => {
            let note = readiness.note().map(|note| format!("{note}\n")).unwrap_or_default();
            return text("text/plain; charset=utf-8", format!("ready\n{note}").into());
        }
        Stage::Starting => "The gateway does not listen yet.",
        Stage::Draining => "The gateway is shutting down and takes no new requests.",
    };
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).answer()
}

fn wrong_method() -> Answer {
    let detail = "Only GET and HEAD are served here.";
    let mut answer = Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail).answer();
    answer.headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    answer
}

fn text(media_type: &'static str, body: Bytes) -> Answer {
    let mut headers = http::HeaderMap::with_capacity(4);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Answer { status: StatusCode::OK, headers, body }
}
