//! Bodies that no memory would hold, both ways and in both versions: the gateway's own stays flat. Nothing is written down;
//! the bytes are made as they are sent.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::process::Command;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::{http1, http2};
use hyper::server::conn::{http1 as server1, http2 as server2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};

use crate::footprint::Footprint;
use crate::process::Running;

const MIB: u64 = 1 << 20;

/// How long a body is.
const ALL: u64 = 1024 * MIB;

/// What the gateway may grow by, whatever it passes on: windows, buffers, and what the allocator keeps.
const GROWTH: u64 = 8 * MIB;

/// A body repeats a block of so many bytes.
const BLOCK: usize = 64 * 1024;

/// Byte `n` is the lowest byte of `n / 8`: pieces that are lost or doubled are seen.
fn block() -> Bytes {
    Bytes::from((0..BLOCK).map(|at| (at >> 3) as u8).collect::<Vec<_>>())
}

/// A body of so many bytes, made as it is read.
struct Made {
    block: Bytes,
    left: u64,
}

impl Made {
    fn new(length: u64) -> Made {
        Made { block: block(), left: length }
    }
}

impl Body for Made {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.left.min(BLOCK as u64);
        self.left -= length;
        let piece = self.block.slice(..length as usize);
        Poll::Ready((length > 0).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Reads `body` to its end, whose bytes must be the right ones; how many they were.
async fn read(mut body: Incoming) -> u64 {
    let expected = block();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.expect("it does not break off").into_data() else { continue };
        let mut rest = &data[..];
        while !rest.is_empty() {
            let at = (length % BLOCK as u64) as usize;
            let part = rest.len().min(BLOCK - at);
            assert!(rest[..part] == expected[at..at + part], "wrong bytes at {length}");
            rest = &rest[part..];
            length += part as u64;
        }
    }
    length
}

/// `GET /N` is N bytes; of anything else, how long its body was.
async fn answer(
    request: Request<Incoming>,
) -> Result<Response<Either<Made, Full<Bytes>>>, Infallible> {
    let body = if request.method() == Method::GET {
        let length = request.uri().path()[1..].parse().expect("a length");
        Either::Left(Made::new(length))
    } else {
        let length = read(request.into_body()).await;
        Either::Right(Full::from(length.to_string()))
    };
    Ok(Response::new(body))
}

/// A service on a thread of its own, for as long as the tests run.
fn service(version: Version) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let (stream, service) = (TokioIo::new(stream), service_fn(answer));
                if version == Version::HTTP_2 {
                    let serving = server2::Builder::new(TokioExecutor::new());
                    tokio::spawn(serving.serve_connection(stream, service));
                } else {
                    tokio::spawn(server1::Builder::new().serve_connection(stream, service));
                }
            }
        });
    });
    address
}

/// The built command in front of a service, both of which speak `version`.
fn gateway(version: Version) -> Running {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("policy.yaml");
    let http2 = version == Version::HTTP_2;
    let yaml = format!(
        "listen: 127.0.0.1:0\ngateway: {{ max_body_bytes: unlimited }}\nupstreams: {{ app: {{ servers: [\"{}\"], http2: {http2} }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        service(version)
    );
    std::fs::write(&path, yaml).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.arg("serve").arg(&path).args(["--admin", "127.0.0.1:0", "--workers", "1"]);
    let running = Running::start(&mut command);
    running.gateway();
    running
}

type Sent = Either<Made, Full<Bytes>>;

/// Sends `request` over a connection of its own, in `version`.
async fn ask(address: SocketAddr, version: Version, request: Request<Sent>) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let stream = TokioIo::new(stream);
    if version == Version::HTTP_2 {
        let shaken = http2::handshake(TokioExecutor::new(), stream).await;
        let (mut sender, connection) = shaken.expect("HTTP/2");
        tokio::spawn(connection);
        return sender.send_request(request).await.expect("an answer");
    }
    let (mut sender, connection) = http1::handshake(stream).await.expect("HTTP/1.1");
    tokio::spawn(connection);
    sender.send_request(request).await.expect("an answer")
}

fn request(method: Method, path: &str, body: Sent, version: Version) -> Request<Sent> {
    let uri =
        if version == Version::HTTP_2 { format!("http://test{path}") } else { path.to_owned() };
    let builder = Request::builder().method(method).uri(uri).header("host", "test");
    builder.body(body).expect("a request")
}

/// The most memory that the process `id` has, from when it is asked to when `work` is done.
async fn peak<T>(id: u32, work: impl Future<Output = T>) -> (T, u64) {
    let mut work = pin!(work);
    let mut most = Footprint::of(id).memory;
    let done = loop {
        let step =
            tokio::time::timeout(Duration::from_millis(20), poll_fn(|cx| work.as_mut().poll(cx)));
        let done = step.await;
        most = most.max(Footprint::of(id).memory);
        if let Ok(done) = done {
            break done;
        }
    };
    (done, most)
}

fn passes_in_little_memory(version: Version) {
    let running = gateway(version);
    let (address, id) = (running.gateway(), running.id());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let nothing = || Either::Right(Full::default());
        // The first request has connections and buffers made.
        let first = request(Method::GET, "/1000000", nothing(), version);
        assert_eq!(read(ask(address, version, first).await.into_body()).await, 1_000_000);
        let before = Footprint::of(id).memory;

        let upload = request(Method::POST, "/", Either::Left(Made::new(ALL)), version);
        let (response, most) = peak(id, ask(address, version, upload)).await;
        assert_eq!(response.status(), StatusCode::OK);
        let counted = response.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(counted, ALL.to_string(), "all of it, and once");
        println!("{version:?}: {before} bytes before, at most {most} while a body goes up");
        assert!(most < before + GROWTH);

        let download = request(Method::GET, &format!("/{ALL}"), nothing(), version);
        let (read, most) =
            peak(id, async { read(ask(address, version, download).await.into_body()).await }).await;
        assert_eq!(read, ALL);
        println!("{version:?}: {before} bytes before, at most {most} while a body comes down");
        assert!(most < before + GROWTH);
    });
}

#[test]
fn over_http1_large_bodies_pass_in_little_memory() {
    passes_in_little_memory(Version::HTTP_11);
}

#[test]
fn over_http2_large_bodies_pass_in_little_memory() {
    passes_in_little_memory(Version::HTTP_2);
}
