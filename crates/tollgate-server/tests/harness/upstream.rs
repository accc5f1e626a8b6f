//! A service behind the gateway that remembers what it saw. What it answers the path says:
//!
//! | path | answer |
//! |---|---|
//! | `/status/N` | that status |
//! | `/hold/...` | 200 once the test lets go |
//! | `/chunked/N` | N chunks and a trailer |
//! | `/bytes/N` | N bytes of known length |
//! | `/upgrade` | 101, then an echo |
//! | `/hops` | fields of its own connection |
//! | `/grpc/...` | the request's body, and the announced trailer of a gRPC call that went well |
//! | `/call/...` | the same, whose trailer is not announced: so gRPC has it |
//! | any other | 200 and the request's body |

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{oneshot, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// The service, until it is dropped.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    letting_go: watch::Sender<bool>,
    _stop: oneshot::Sender<()>,
}

/// A request that the service saw.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: usize,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) at: SystemTime,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

struct State {
    seen: Mutex<Vec<Seen>>,
    /// Targets, noted as soon as a head is read: one whose sender hangs up at once is never answered.
    begun: Mutex<Vec<String>>,
    broken_off: AtomicUsize,
    connections: AtomicUsize,
    held: watch::Receiver<bool>,
}

type Answer = BoxBody<Bytes, Infallible>;

/// How a service is spoken to.
#[derive(Clone, Default)]
pub(crate) struct Speech {
    /// HTTP/2 in place of HTTP/1.1; through TLS the one that was agreed on.
    pub(crate) http2: bool,
    /// Streams at a time of an HTTP/2 connection.
    pub(crate) most_streams: Option<u32>,
    /// It speaks through TLS.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// It listens at this path.
    pub(crate) unix: Option<PathBuf>,
}

impl Upstream {
    pub(crate) fn start() -> Upstream {
        Upstream::speaking(Speech::default())
    }

    pub(crate) fn speaking(speech: Speech) -> Upstream {
        let (letting_go, held) = watch::channel(false);
        let state = State {
            seen: Mutex::default(),
            begun: Mutex::default(),
            broken_off: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            held,
        };
        let state = Arc::new(state);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let door = Arc::new(Door { speech, state: shared });
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                tokio::select! {
                    () = accept(listener, door) => {}
                    _ = stopped => {}
                }
            });
        });
        Upstream { address, state, letting_go, _stop: stop }
    }

    /// Lets those go that wait at `/hold`.
    pub(crate) fn let_go(&self) {
        let _ = self.letting_go.send(true);
    }

    /// Whole requests, in the order of their ends.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().clone()
    }

    /// The request that was seen last.
    #[track_caller]
    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().expect("a request came through")
    }

    /// Requests whose head came.
    pub(crate) fn begun(&self) -> usize {
        self.state.begun.lock().len()
    }

    /// Requests for `target` whose head came.
    pub(crate) fn begun_for(&self, target: &str) -> usize {
        self.state.begun.lock().iter().filter(|begun| *begun == target).count()
    }

    /// Requests whose body ended before its end.
    pub(crate) fn broken_off(&self) -> usize {
        self.state.broken_off.load(Ordering::SeqCst)
    }

    /// Connections that were ever made to it.
    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }
}

/// What a service's connections share.
struct Door {
    speech: Speech,
    state: Arc<State>,
}

async fn accept(listener: std::net::TcpListener, door: Arc<Door>) {
    if let Some(path) = &door.speech.unix {
        let listener = UnixListener::bind(path).expect("a socket");
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(door_opens(stream, Arc::clone(&door)));
        }
        return;
    }
    let listener = TcpListener::from_std(listener).expect("a listener");
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(door_opens(stream, Arc::clone(&door)));
    }
}

async fn door_opens<S>(stream: S, door: Arc<Door>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    door.state.connections.fetch_add(1, Ordering::SeqCst);
    let Some(tls) = &door.speech.tls else {
        return serve(stream, door.speech.http2, &door).await;
    };
    // A client that does not trust the certificate says so and leaves.
    let Ok(stream) = TlsAcceptor::from(Arc::clone(tls)).accept(stream).await else { return };
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    serve(stream, http2, &door).await;
}

async fn serve<S>(stream: S, http2: bool, door: &Door)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let state = Arc::clone(&door.state);
    let service = service_fn(move |request: Request<Incoming>| {
        state.begun.lock().push(request.uri().to_string());
        answer(request, Arc::clone(&state))
    });
    if http2 {
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(door.speech.most_streams)
            .serve_connection(TokioIo::new(stream), service);
        let _ = connection.await;
        return;
    }
    let connection = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let _ = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<State>,
) -> Result<Response<Answer>, Infallible> {
    let path = request.uri().path().to_owned();
    let (word, number) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    let number: usize = number.parse().unwrap_or(0);
    if word == "upgrade" {
        return Ok(upgrade(request, &state));
    }
    if word == "hold" {
        let mut held = state.held.clone();
        let _ = held.wait_for(|let_go| *let_go).await;
    }
    let large = word == "sink";
    let body = read(request, &state, large).await;
    let mut response = match word {
        "status" => Response::new(Full::from("said so").boxed()),
        "chunked" => Response::new(chunks(number)),
        "bytes" => Response::new(bytes(number)),
        "grpc" | "call" => Response::new(called(body)),
        _ => Response::new(Full::from(body).boxed()),
    };
    if word == "status" {
        *response.status_mut() = StatusCode::from_u16(number as u16).expect("a status");
    }
    if word == "hops" {
        for (name, value) in
            [("connection", "x-own"), ("x-own", "1"), ("keep-alive", "timeout=9"), ("x-kept", "1")]
        {
            response
                .headers_mut()
                .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
    }
    if word == "grpc" {
        // HTTP/1.1 passes on the trailers that are announced.
        response.headers_mut().insert("trailer", HeaderValue::from_static("grpc-status"));
    }
    if word == "chunked" {
        response.headers_mut().insert("trailer", HeaderValue::from_static("x-sum"));
    }
    Ok(response)
}

/// Reads a request to its end and remembers it, where it has one; `large`: without keeping its body.
async fn read(request: Request<Incoming>, state: &State, large: bool) -> Bytes {
    let (parts, mut body) = request.into_parts();
    let (mut kept, mut length, mut trailers) = (Vec::new(), 0, None);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            state.broken_off.fetch_add(1, Ordering::SeqCst);
            return Bytes::from(kept);
        };
        match frame.into_data() {
            Ok(data) => {
                length += data.len();
                if !large {
                    kept.extend_from_slice(&data);
                }
            }
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    remember(state, &parts, length, trailers);
    Bytes::from(kept)
}

fn remember(state: &State, parts: &http::request::Parts, body: usize, trailers: Option<HeaderMap>) {
    state.seen.lock().push(Seen {
        method: parts.method.to_string(),
        target: parts.uri.to_string(),
        headers: parts.headers.clone(),
        body,
        trailers,
        at: SystemTime::now(),
    });
}

fn chunks(count: usize) -> Answer {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from(count));
    let frames = (0..count).map(|number| Frame::data(Bytes::from(format!("chunk {number};"))));
    Listed(frames.chain([Frame::trailers(trailers)]).collect()).boxed()
}

/// What a gRPC call that went well answers.
fn called(body: Bytes) -> Answer {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    Listed([Frame::data(body), Frame::trailers(trailers)].into()).boxed()
}

/// A body of certain frames.
struct Listed(VecDeque<Frame<Bytes>>);

impl Body for Listed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(self.0.pop_front().map(Ok))
    }
}

/// A body of so many bytes, made as it is read.
struct Filled(usize);

impl Body for Filled {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        static BLOCK: [u8; 64 * 1024] = [b'x'; 64 * 1024];
        let length = self.0.min(BLOCK.len());
        self.0 -= length;
        let frame = (length > 0).then(|| Ok(Frame::data(Bytes::from_static(&BLOCK[..length]))));
        std::task::Poll::Ready(frame)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0 as u64)
    }
}

fn bytes(count: usize) -> Answer {
    Filled(count).boxed()
}

fn upgrade(request: Request<Incoming>, state: &State) -> Response<Answer> {
    let (parts, body) = request.into_parts();
    remember(state, &parts, 0, None);
    let request = Request::from_parts(parts, body);
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            let (mut from, mut to) = tokio::io::split(TokioIo::new(upgraded));
            let _ = tokio::io::copy(&mut from, &mut to).await;
        }
    });
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert("connection", HeaderValue::from_static("upgrade"));
    response.headers_mut().insert("upgrade", HeaderValue::from_static("echo"));
    response
}
