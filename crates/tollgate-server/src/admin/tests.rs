//! Tests of the admin listener, over real sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{MOST_CONNECTIONS, Readiness, Stage, serve};
use crate::metrics::Metrics;

struct Admin {
    address: SocketAddr,
    metrics: Arc<Metrics>,
    readiness: Arc<Readiness>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn start() -> Admin {
    start_with(Readiness::default()).await
}

async fn start_with(readiness: Readiness) -> Admin {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (metrics, readiness) = (Metrics::new(Vec::new), Arc::new(readiness));
    let task = tokio::spawn(serve(listener, Arc::clone(&metrics), Arc::clone(&readiness)));
    Admin { address, metrics, readiness, task }
}

impl Admin {
    /// Sends `head` and reads until the listener closes.
    async fn exchange(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // A reset after the answer is as good as an end.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    async fn ask(&self, method: &str, path: &str) -> String {
        self.exchange(&format!("{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
            .await
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

#[tokio::test]
async fn metrics_are_served_as_prometheus_reads_them() {
    let admin = start().await;
    admin.metrics.in_flight.set(3);
    let answer = admin.ask("GET", "/metrics").await;
    assert_eq!(status(&answer), "200");
    assert!(
        answer.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{answer}"
    );
    assert!(body(&answer).contains("\ntollgate_requests_in_flight 3\n"), "{answer}");
    assert!(body(&answer).contains("tollgate_build_info{version="), "{answer}");
}

#[tokio::test]
async fn healthy_while_it_lives_and_ready_while_it_wants_traffic() {
    let admin = start().await;
    for (stage, ready) in
        [(Stage::Starting, "503"), (Stage::Ready, "200"), (Stage::Draining, "503")]
    {
        admin.readiness.enter(stage);
        assert_eq!(admin.readiness.stage(), stage);
        assert_eq!(status(&admin.ask("GET", "/readyz").await), ready, "{stage:?}");
        assert_eq!(status(&admin.ask("GET", "/healthz").await), "200", "{stage:?}");
    }
    let draining = admin.ask("GET", "/readyz").await;
    assert!(draining.contains("content-type: application/problem+json\r\n"), "{draining}");
    assert!(body(&draining).contains("shutting down"), "{draining}");
}

/// All gateways share the store: were they unready without it, a balancer would take out every one of them.
#[tokio::test]
async fn ready_and_says_what_is_the_matter() {
    let away = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&away);
    let note = move || seen.load(Ordering::Relaxed).then(|| "the store is away".to_owned());
    let admin = start_with(Readiness::with_note(note)).await;
    admin.readiness.enter(Stage::Ready);
    assert_eq!(body(&admin.ask("GET", "/readyz").await), "ready\n");
    away.store(true, Ordering::Relaxed);
    let answer = admin.ask("GET", "/readyz").await;
    assert_eq!((status(&answer), body(&answer)), ("200", "ready\nthe store is away\n"));
}

#[tokio::test]
async fn other_paths_and_methods_are_problems() {
    let admin = start().await;
    let nowhere = admin.ask("GET", "/admin?x=/metrics").await;
    assert_eq!(status(&nowhere), "404");
    assert!(body(&nowhere).contains("/metrics, /healthz and /readyz"), "{nowhere}");
    assert_eq!(status(&admin.ask("DELETE", "/nowhere").await), "404");
    let posted = admin.ask("POST", "/metrics").await;
    assert_eq!(status(&posted), "405");
    assert!(posted.contains("allow: GET, HEAD\r\n"), "{posted}");
    let head = admin.ask("HEAD", "/healthz").await;
    assert_eq!((status(&head), body(&head)), ("200", ""));
    assert!(head.contains("content-length: 6\r\n"), "{head}");
}

#[tokio::test]
async fn a_body_is_never_read_as_a_request() {
    let admin = start().await;
    let inside = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    let head = format!(
        "POST /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        inside.len()
    );
    let answer = admin.exchange(&format!("{head}{inside}")).await;
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert_eq!(status(&answer), "405");
}

#[tokio::test]
async fn a_head_too_large_is_refused() {
    let admin = start().await;
    let long = "a".repeat(64 * 1024);
    let answer = admin
        .exchange(&format!("GET /metrics HTTP/1.1\r\nhost: a\r\nx-long: {long}\r\n\r\n"))
        .await;
    assert_eq!(status(&answer), "431");
}

#[tokio::test]
async fn connections_are_few_and_one_more_waits() {
    let admin = start().await;
    let mut held = Vec::new();
    for _ in 0..MOST_CONNECTIONS {
        let mut stream = TcpStream::connect(admin.address).await.unwrap();
        // Once it is answered, the connection surely has its place.
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        held.push(stream);
    }
    let waiting = admin.ask("GET", "/healthz");
    tokio::pin!(waiting);
    let early = tokio::time::timeout(std::time::Duration::from_millis(50), waiting.as_mut()).await;
    assert!(early.is_err(), "there was no room");
    held.pop();
    assert_eq!(status(&waiting.await), "200");
}
